import fc from 'fast-check'

const tagNames = [
  ...['p', 'b', 'a', 'i', 'div', 'span', 'h1', 'li', 'td', 'custom-element', 'B', 'DiV', 'b\0', 'x\u212A'],
  ...['title', 'textarea', 'xmp', 'script', 'style', 'noscript', 'iframe', 'noembed', 'noframes', 'template'],
  ...['svg', 'math', 'desc', 'metadata', 'foreignObject', 'SVG', 'Title', 'TEMPLATE', 'plaintext', 'scripty'],
]

const pieces = [
  ...[
    '<',
    '>',
    '</',
    '</>',
    '<!',
    '<!--',
    '-->',
    '--!>',
    '<!-->',
    '<!--->',
    '--',
    '<?',
    '<![CDATA[',
    ']]>',
    ']',
  ],
  ...[
    '"',
    "'",
    '=',
    '/',
    ' ',
    '\n',
    '\t',
    '\r\n',
    '\f',
    '\v',
    '\0',
    '\x01',
    '\x7f',
    '  ',
    ' = "',
    " ='",
    '/>',
    '=">',
  ],
  ...[
    '<img src="',
    '<img src=a.png>',
    '<img src>',
    '<IMG x SRC=/b/c%20d.gif?e#f />',
    '<base href="',
    '<image src=x>',
  ],
  ...['<img src="http://h.example/p/q.png?r=1&amp;s=2#t">', '<img src="//h.example/é.png">', '<img src=" ">'],
  ...[
    '<base href="http://other.example/dir/">',
    '<base href=/sub/>',
    "<img alt='>' src='https://page.example/own.jpg'>",
  ],
  ...[
    '&amp;',
    '&amp',
    '&lt;',
    '&#',
    '&#x',
    '&#65',
    '&#x1F600;',
    '&#0;',
    '&#128;',
    '&#xD800;',
    '&#9;',
    '&#xFFFC;',
  ],
  ...[
    '&notit;',
    '&notin;',
    '&nGt;',
    '&nbsp;',
    '&shy;',
    '&',
    '&;',
    '&CounterClockwiseContourIntegral;',
    '&frac12;',
  ],
  ...[
    'http://',
    'www.',
    'WWW.',
    '://',
    'x.html',
    'https://a.b/c.d',
    'a://',
    '1http://',
    '"www.x.y/z"',
    '.',
    '..',
    '://w',
  ],
  ...[
    'word',
    'Word',
    'WORDS',
    '42',
    'a',
    'word-word',
    "don't",
    'é',
    'É',
    'ß',
    'ẞ',
    'İ',
    'ı',
    'Å',
    'ﬁ',
    '½',
    '™',
    'Ⅷ',
    '㌖',
  ],
  ...[
    '\u0301',
    '\u0327',
    '\u0308',
    '\u0345',
    '\u0e33',
    '\u05b8',
    '\u05bc',
    '\u064e',
    '\u0651',
    '\u093c',
    '\u3099',
  ],
  ...[
    '東京',
    'カタカナ',
    'ｶﾞ',
    'ภาษาไทย',
    'กุ้',
    '한국어',
    '각',
    '\u1100\u1161\u11a8',
    'עִבְרִית',
    'العَرَبِيَّة',
    'हिन्दी',
    'Ελληνικά',
  ],
  ...[
    '\u00ad',
    '\u200b',
    '\u200d',
    '\u200e',
    '\ufeff',
    '\u2028',
    '\u00a0',
    '\u3000',
    '\u0085',
    '\ufffc',
    '\ufffd',
    '\u00b4',
  ],
  ...[
    '\u{1f600}',
    '\u{10400}',
    '\u{1d400}',
    '\u{2f800}',
    '\u{e0100}',
    '\u{10ffff}',
    '\u0378',
    '\ue000',
    'Ａ',
    '，',
    '\u2026',
  ],
  ...[
    '\ufdfa',
    '\u0390',
    '\u1fb7',
    '\ua64b',
    '\u13a0',
    '\uab70',
    '\u01c5',
    '\u212a',
    '\u2126',
    '«',
    '”',
    '\u0149',
  ],
]

const attribute = fc
  .tuple(
    fc.constantFrom('class', 'src', 'href', 'SRC', 'a', 'data-x', '=', '=b', '"', ''),
    fc.constantFrom('', '=', ' = ', '="', "='", '= "'),
    fc.constantFrom('x', 'a/b.png', 'x>y', 'x y', '', 'http://h.example/i.png', 'x/', '&amp;'),
    fc.constantFrom('', '"', "'", ' '),
  )
  .map((parts) => parts.join(''))

const tag = fc
  .tuple(
    fc.constantFrom('<', '</'),
    fc.constantFrom(...tagNames),
    fc.array(attribute, { maxLength: 3 }),
    fc.constantFrom('>', '/>', ' >', ' />', '', '\n>'),
  )
  .map(([open, name, attributes, close]) => open + [name, ...attributes].join(' ') + close)

const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((codePoint) => String.fromCodePoint(codePoint))

/** A character of a script with letters that fold, join or combine. */
const livelyCharacter = fc
  .oneof(
    fc.integer({ min: 0x20, max: 0x24f }),
    fc.integer({ min: 0x300, max: 0x6ff }),
    fc.integer({ min: 0x900, max: 0x11ff }),
    fc.integer({ min: 0x1d00, max: 0x218f }),
    fc.integer({ min: 0x2460, max: 0x24ff }),
    fc.integer({ min: 0x3000, max: 0x33ff }),
    fc.integer({ min: 0xf900, max: 0xffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint))

/** Words, blanks, URLs, marks and characters of all planes in any order. */
export const textSoup = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...pieces) },
      { weight: 3, arbitrary: fc.constantFrom(' ', ' ', '\n', 'word') },
      { weight: 2, arbitrary: livelyCharacter },
      { weight: 1, arbitrary: anyCharacter },
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

/** Tags, broken markup, references and text in any order. */
export const htmlSoup = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: tag },
      { weight: 5, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: livelyCharacter },
      { weight: 1, arbitrary: anyCharacter },
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

export const pageUrl = fc.constantFrom(
  null,
  'http://page.example/dir/index.html',
  'https://page.example:8443/?q',
  'ftp://page.example/x',
  'about:blank',
  'no url',
)
