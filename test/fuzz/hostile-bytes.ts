import { createHash } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { htmlSoup, textSoup } from '../kernel/soup.ts'
import { responseRecord, urlOf, warcRecord } from '../warc/archive.ts'
import { encodingLabels } from './encoding-labels.ts'

/** Markup that parsers stumble over, as in the tokenizer tests of html5lib, and beyond the depth where browsers stop. */
const knownTraps = fc.oneof(
  fc.constantFrom(
    '<title>never closed <p>words',
    '<script>never closed </scrip <p>words',
    '<!-- never closed <p>words',
    '<!--- ---!> --!-> words',
    '<table><tr><td><table><caption><table><p>words</table>after',
    '<table><table><table>a<tr>b<select><table><td>c',
    '<![CDATA[ <p>words ]] ]>',
    '<svg><![CDATA[ <p>words ]]></svg><![CDATA[',
    '<a <b <c d=<e> f="<g>" h=\'<i>\' j>words',
    '<p\u0000\u0000>a\u0000b</p\u0000>&#0;&#x110000;&#xD800;&#99999999999999999999;',
    '&notanentity;&ampamp;&lt&gt&#x;&#;&AMP&CounterClockwiseContourIntegral',
    '</p></></ ></?></!-->',
    '<textarea></title><textarea></textarea>words',
    '<plaintext></plaintext><p>words',
    '<template><template></template><p>hidden</template>words',
    '<noscript><!-- </noscript>--> words',
    '<frameset><frame><noframes></frameset>words',
    '<math><mtext><svg><desc><math><p>words',
    '<base href="javascript:a"><img src="b"><base href="//"><img src="http://[">',
    '<meta charset=utf-7>+ADw-script+AD4-words',
  ),
  fc
    .tuple(
      fc.constantFrom('div', 'b', 'table', 'svg', 'template', 'a', 'p', 'noscript'),
      fc.integer({ min: 1, max: 2000 }),
    )
    .map(([name, depth]) => `${`<${name}>`.repeat(depth)}words`),
  fc
    .tuple(fc.constantFrom('a', 'a="b"', "a='", 'a=<', '/', '='), fc.integer({ min: 1, max: 3000 }))
    .map(([attribute, count]) => `<p ${`${attribute} `.repeat(count)}>words`),
  fc.integer({ min: 1, max: 3000 }).map((count) => `${'&'.repeat(count)}${'&amp'.repeat(count)}`),
)

/** Pages as texts. */
export const hostileHtml = fc.oneof(
  { weight: 3, arbitrary: htmlSoup },
  { weight: 1, arbitrary: textSoup },
  {
    weight: 2,
    arbitrary: fc.array(fc.oneof(knownTraps, htmlSoup), { maxLength: 4 }).map((parts) => parts.join('')),
  },
)

const byteOrderMarks = [
  Buffer.of(),
  Buffer.of(0xef, 0xbb, 0xbf),
  Buffer.of(0xff, 0xfe),
  Buffer.of(0xfe, 0xff),
]

const label = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...encodingLabels) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('utf-7', 'x-unknown', '"', '" utf-8 "', 'UTF-8;', '=', "'latin1'"),
  },
)

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)),
  htmlSoup.map((text) => Buffer.from(text, 'utf16le')),
  htmlSoup.map((text) => Buffer.from(text, 'latin1')),
  // The lead and trail bytes, and the escapes, of the encodings of several bytes.
  fc
    .array(
      fc.constantFrom(0x1b, 0x24, 0x28, 0x42, 0x0e, 0x0f, 0x81, 0x8e, 0x8f, 0xa4, 0xfe, 0xff, 0x30, 0x5c),
      {
        maxLength: 400,
      },
    )
    .map((array) => Buffer.from(array)),
)

/** A page as bytes, with the Content-Type that it comes with; mark, header and meta may contradict each other. */
export const bytesInAnyCharset = fc
  .record({
    mark: fc.constantFrom(...byteOrderMarks),
    header: fc.option(label),
    meta: fc.option(label),
    inContent: fc.boolean(),
    type: fc.constantFrom('text/html', 'text/plain', 'application/xhtml+xml'),
    bytes,
  })
  .map(({ mark, header, meta, inContent, type, bytes: content }) => {
    const declared = inContent
      ? `<meta http-equiv=content-type content="text/html; charset=${meta}">`
      : `<meta charset="${meta}">`
    return {
      contentType: header === null ? type : `${type}; charset=${header}`,
      bytes: Buffer.concat([mark, Buffer.from(meta === null ? '' : declared), content]),
    }
  })

/** What is done to a body under way: `isIntact` says that what arrives can be read as it was meant. */
export const damagedCoding = fc
  .record({
    text: textSoup,
    coding: fc.constantFrom('gzip', 'deflate', 'br'),
    damage: fc.constantFrom('none', 'cut', 'flipped', 'garbage', 'false', 'empty', 'twice'),
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  })
  .map(({ text, coding, damage, at }) => {
    const plain = Buffer.from(`words ${text}`)
    const encode = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[coding]
    const encoded = encode === undefined ? plain : encode(plain)
    const place = Math.floor(at * encoded.length)
    const sent: Readonly<Record<string, Buffer>> = {
      none: encoded,
      cut: encoded.subarray(0, place),
      flipped: Buffer.concat([
        encoded.subarray(0, place),
        Buffer.of((encoded[place] ?? 0) ^ 0x10),
        encoded.subarray(place + 1),
      ]),
      garbage: Buffer.concat([encoded, Buffer.from('garbage')]),
      false: plain,
      empty: Buffer.of(),
      twice: Buffer.concat([encoded, encoded]),
    }
    return { plain, coding, damage, body: sent[damage] ?? encoded }
  })

const metadataText = fc.constantFrom(
  '{"__proto__": {"polluted": true}}',
  '{"constructor": {"prototype": {"polluted": true}}}',
  '{"a": 1, "a": 2}',
  '1e999',
  '-1e-999',
  '123456789012345678901234567890',
  '"\\ud800"',
  '"\\u0000"',
  '"\ud800"',
  `${'['.repeat(70)}${']'.repeat(70)}`,
  `${'['.repeat(5000)}`,
  'NaN',
  '0x10',
  '1_000',
  '01',
  "'a'",
  'nul',
  '{"a":}',
  '{,}',
  '[1,]',
  '\ufeff1',
)

const lineText = fc.oneof(
  { weight: 3, arbitrary: htmlSoup.map((html) => JSON.stringify({ html })) },
  { weight: 2, arbitrary: textSoup.map((text) => JSON.stringify({ id: `line-${text.length}`, text })) },
  { weight: 2, arbitrary: metadataText.map((metadata) => `{"text": "words", "metadata": ${metadata}}`) },
  { weight: 1, arbitrary: metadataText },
  { weight: 1, arbitrary: fc.json() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{"__proto__": null, "text": "words"}',
      '{"__proto__": {"text": "words"}}',
      '{"text": "a", "text": "b"}',
      '{"html": "a", "text": "b"}',
      '{"id": "__proto__", "text": "words"}',
      '{"id": "", "text": "words"}',
      '{"id": null, "text": "words"}',
      '{"id": 1, "text": "words"}',
      '{"id": "\\ud800", "text": "words"}',
      '{"text": "\\ud800 words \\udc00"}',
      '{"text": "\\u00"}',
      '{"text": "words"',
      '"text"',
      'null',
      '[]',
      '{}',
      '{"text": "words", "fetchedAt": "2026-02-30T00:00:00Z"}',
      '{"text": "words", "url": "javascript:alert(1)"}',
      '{"text": "words", "url": "http://[::"}',
      '{"contentBase64": "====", "contentType": "text/html"}',
      '{"contentBase64": "YQ==", "contentType": "image/png"}',
      '{"contentBase64": "YQ==", "contentType": "text/html; charset=\\""}',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '\t', ' \t ', '\u00a0', '\u2028') },
)

/** The lines of an NDJSON body, and the body: with a mark, line ends of both kinds, and without the last one, maybe. */
export const hostileLines = fc
  .record({
    lines: fc.array(
      fc.tuple(
        lineText.map((line) => line.replaceAll(/[\r\n]/g, ' ')),
        fc.constantFrom('\n', '\r\n'),
      ),
      {
        maxLength: 20,
      },
    ),
    mark: fc.boolean(),
    endsWithLine: fc.boolean(),
    rawByte: fc.option(fc.constantFrom(0x00, 0x80, 0xc0, 0xff), { freq: 10 }),
  })
  .map(({ lines, mark, endsWithLine, rawByte }) => {
    const text = lines
      .map(([line, end], i) => line + (i < lines.length - 1 || endsWithLine ? end : ''))
      .join('')
    const end = rawByte === null ? Buffer.of() : Buffer.of(rawByte)
    return {
      lines: lines.map(([line]) => line),
      body: Buffer.concat([Buffer.from(mark ? '\ufeff' : ''), Buffer.from(text), end]),
      hasRawByte: rawByte !== null,
    }
  })

/** WARC files that are cut, packed twice, or lie about themselves. */
export const hostileArchive = fc
  .record({
    html: htmlSoup,
    type: fc.constantFrom('response', 'resource', 'revisit', 'request', 'metadata', 'x'),
    fields: fc.dictionary(
      fc.constantFrom(
        'Content-Length',
        'Content-Type',
        'WARC-Target-URI',
        'WARC-Date',
        'Content-Encoding',
        'X',
      ),
      fc.constantFrom(
        '-1',
        '0',
        '5',
        '99999999999999999999',
        'text/html',
        '',
        'gzip',
        'urn:a',
        '2026-99-99',
        '\u00e9',
      ),
      { maxKeys: 2 },
    ),
    packing: fc.constantFrom('none', 'gzip', 'twice', 'members'),
    keep: fc.double({ min: 0, max: 1, noNaN: true }),
    isCut: fc.boolean(),
  })
  .map(({ html, type, fields, packing, keep, isCut }) => {
    const good = responseRecord(urlOf(1), '<p>words of a good record', {})
    const odd = warcRecord(type, urlOf(createHash('sha1').update(html).digest()[0] ?? 0), html, fields)
    const plain = Buffer.concat([good, odd, good])
    const packed: Readonly<Record<string, Buffer>> = {
      none: plain,
      gzip: gzipSync(plain),
      twice: gzipSync(gzipSync(plain)),
      members: Buffer.concat([good, odd, good].map((record) => gzipSync(record))),
    }
    const bytes = packed[packing] ?? plain
    return isCut ? bytes.subarray(0, Math.floor(keep * bytes.length)) : bytes
  })
