/** Pages that are made to be dear, of about so many bytes each. */
export type AdversarialPage = {
  readonly name: string
  readonly contentType?: string
  readonly make: (bytes: number) => Buffer
}

const fill = (piece: string, bytes: number, start = '', end = ''): Buffer => {
  const one = Buffer.from(piece)
  const count = Math.max(1, Math.floor(bytes / one.length))
  return Buffer.concat([Buffer.from(start), Buffer.alloc(count * one.length, one), Buffer.from(end)])
}

const repeated = (name: string, piece: string, start = '', end = ''): AdversarialPage => ({
  name,
  make: (bytes) => fill(piece, bytes, start, end),
})

/** Numbers that differ, so that nothing is known from before. */
const differing =
  (piece: (i: number) => string) =>
  (bytes: number): Buffer => {
    const parts: Buffer[] = []
    let length = 0
    for (let i = 0; length < bytes; i++) {
      const part = Buffer.from(piece(i))
      parts.push(part)
      length += part.length
    }
    return Buffer.concat(parts)
  }

const plain = 'text/plain; charset=utf-8'

export const adversarialPages: readonly AdversarialPage[] = [
  repeated('ordinary words, for comparison', 'A kettle of steel that holds two litres. '),
  repeated('unclosed <div>', '<div>'),
  repeated('unclosed <b>', '<b>a'),
  repeated('unclosed <table>', '<table><tr><td>'),
  repeated('unclosed <template>', '<template>'),
  repeated('unclosed <title>', '<title>'),
  repeated('unclosed <script>', '<script>'),
  repeated('scripts that begin comments', '<!--<script>', '<script>'),
  repeated('unclosed comments', '<!--'),
  repeated('comments that nearly end', '--!', '<!--'),
  repeated('unclosed <svg>', '<svg>'),
  repeated('unclosed CDATA', '<![CDATA['),
  repeated('unclosed CDATA in svg', '<svg><![CDATA[]]'),
  repeated('less-than signs', '<'),
  repeated('tags without an end', '<a '),
  repeated('one tag of many attributes', 'a=b ', '<p '),
  { name: 'one tag of different attributes', make: differing((i) => (i === 0 ? '<p ' : `a${i}=b `)) },
  repeated('one attribute', 'a ', '<p title="'),
  repeated('quotes that do not close', '<a b="'),
  repeated('ampersands', '&'),
  repeated('references', '&amp;'),
  repeated('references that are none', '&notanentity'),
  repeated('the longest reference', '&CounterClockwiseContourIntegral;'),
  repeated('references that become two characters', '&nGt;'),
  repeated('numeric references', '&#x10FFFF;'),
  repeated('a numeric reference of many digits', '9', '&#'),
  repeated('NULs', '\0'),
  repeated('images', '<img src=a>'),
  { name: 'different images', make: differing((i) => `<img src=/${i}/a%20b.png?${i}>`) },
  repeated('images by reference to a base', '<img src="http://[">'),
  repeated('bases', '<base href="http://b.example/">'),
  { name: 'images of elsewhere', make: differing((i) => `<img src=//h${i}.example/a>`) },
  repeated('an image of one address', 'a', '<img src="'),
  repeated('an address of images', 'é/../', '<img src="', '">'),
  repeated('one token', 'a'),
  repeated('one token beyond ASCII', 'é'),
  repeated('equal tokens', 'a '),
  { name: 'different tokens', make: differing((i) => `${i} `) },
  repeated('combining marks', '\u0301', 'a'),
  repeated('marks of different classes', '\u0301\u0327\u0345', 'a'),
  repeated('marks out of order', 'a\u0301\u0327'),
  repeated('rows of thirty marks', `a${'\u0301\u0327'.repeat(15)}`),
  repeated('format characters', '\u200b'),
  repeated('format characters in words', 'a\u00ad'),
  repeated('U+FDFA, of four words and 18 characters', '\ufdfa'),
  repeated('U+FDFA and blanks', '\ufdfa '),
  repeated('U+FDFA and marks', '\ufdfa\u0327\u0301'),
  repeated('U+FDFA in plain addresses', '\ufdfa/', 'http://'),
  repeated('U+3300, of four characters', '\u3300'),
  repeated('ligatures', '\ufb03'),
  repeated('U+0390, which folds to three characters', '\u0390'),
  repeated('U+1F82, which folds', '\u1f82 '),
  repeated('composed marks in excluded letters', '\u0958\u09dc'),
  repeated('Han', '東京'),
  repeated('Han and spaces', '東 '),
  repeated('compatibility ideographs', '\u{2f800}'),
  repeated('half-width Kana with marks', 'ｶﾞ'),
  repeated('Hangul', '한국어'),
  repeated('Hangul by letters', '\u1112\u1161\u11ab'),
  repeated('Hangul letters without end', '\u1100'),
  repeated('Thai', 'กุ้'),
  repeated('unassigned characters', '\u0378'),
  repeated('addresses', 'http://'),
  repeated('one address of many parts', 'a.', 'http://'),
  repeated('addresses beyond ASCII', 'www.é'),
  repeated('addresses in one word', 'www.a-'),
  repeated('schemes of many letters', 'a', '', '://'),
  repeated('letters before schemes', `${'a'.repeat(33)}://`),
  repeated('lines', '\n'),
  { ...repeated('plain text of line ends', 'a\r\n'), contentType: plain },
  { ...repeated('plain text of carriage returns', '\r'), contentType: plain },
  { ...repeated('UTF-16', 'a\0'), contentType: 'text/html; charset=utf-16le' },
  { ...repeated('half pairs of UTF-16', 'a\xd8'), contentType: 'text/html; charset=utf-16le' },
  { ...repeated('escapes of ISO-2022-JP', '\x1b$B\x1b(B'), contentType: 'text/html; charset=iso-2022-jp' },
  { ...repeated('GB 18030 of four bytes', '\x810\x810'), contentType: 'text/html; charset=gb18030' },
  { name: 'bytes that are no UTF-8', contentType: 'text/html', make: (bytes) => Buffer.alloc(bytes, 0xff) },
  {
    name: 'declarations of a charset that are none',
    contentType: 'text/html',
    make: (bytes) => Buffer.concat([Buffer.of(0xff), fill('<meta content="charset">', bytes)]),
  },
  {
    name: 'declarations of a charset, unclosed',
    contentType: 'text/html',
    make: (bytes) => Buffer.concat([Buffer.of(0xff), fill('<meta content=charset ', bytes)]),
  },
  {
    name: 'declarations that begin only',
    contentType: 'text/html',
    make: (bytes) => Buffer.concat([Buffer.of(0xff), fill('<meta ', bytes)]),
  },
]
