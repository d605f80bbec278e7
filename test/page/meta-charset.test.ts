import fc from 'fast-check'
import sniffEncoding from 'html-encoding-sniffer'
import { describe, expect, test } from 'vitest'
import { encodingOfMeta } from '../../src/page/meta-charset.ts'

const seed = 20_261_201

const encodingOf = (html: string): string | null => encodingOfMeta(Buffer.from(html, 'latin1'))

test.each([
  ['<meta charset=koi8-r>', 'KOI8-R'],
  ['<META\nCHARSET = " Latin1 "/>', 'windows-1252'],
  ['<meta/charset=big5>', 'Big5'],
  ['<meta charset=utf-16>', 'UTF-8'],
  ['<meta charset=x-user-defined>', 'windows-1252'],
  ['<meta http-equiv=content-type content="text/html; charset=gbk">', 'GBK'],
  ['<meta content="a charset b charset = \'gbk\' c" http-equiv=Content-Type>', 'GBK'],
  ['<meta content="charset=gbk;x" http-equiv=content-type charset>', null],
  ['<meta charset=none><meta charset=gbk>', 'GBK'],
  ['<meta charset=none charset=gbk>', null],
  ['<meta content="text/html; charset=gbk">', null],
  ['<meta http-equiv=refresh content="0; charset=gbk">', null],
  ['<meta http-equiv=content-type content="charset=\'gbk">', null],
  ['<meta http-equiv=content-type content="charset">', null],
  ['<meta http-equiv=content-type content="charset=">', null],
  ['<metacharset=gbk><p title="<meta charset=gbk>"></p title="<meta charset=gbk>">', null],
  ['<!-- <meta charset=gbk> --><meta charset=big5>', 'Big5'],
  ['<!--><meta charset=gbk>', 'GBK'],
  ['<!doctype "><meta charset=gbk>', 'GBK'],
  ['<?a <meta charset=gbk>', null],
  ['<p <meta charset=gbk>', null],
  ['< <meta charset=gbk>', 'GBK'],
  ['<meta charset=gbk', null],
  ['<meta charset="gbk', null],
  ['<!-- <meta charset=gbk>', null],
  ['', null],
])('%s declares %s', (html, encoding) => {
  expect(encodingOf(html)).toBe(encoding)
})

const value = fc.constantFrom(
  'gbk',
  'utf-8',
  'utf-16',
  'none',
  'koi8-r',
  ' big5 ',
  'content-type',
  'Content-Type',
  'a',
)
const contentValue = fc.oneof(
  value,
  fc
    .tuple(fc.constantFrom('', 'text/html; ', 'charset a '), value)
    .map(([start, name]) => `${start}charset=${name}`),
)
const attribute = fc
  .tuple(
    fc.constantFrom('http-equiv', 'content', 'CONTENT', 'x', 'http-equiv'),
    fc.constantFrom('=', ' = ', '\n='),
    contentValue,
    fc.constantFrom('"', "'"),
  )
  .map(([name, sign, content, quote]) => ` ${name}${sign}${quote}${content}${quote}`)
const charset = fc.oneof(
  fc.constant(''),
  value.map((name) => ` charset="${name}"`),
)
const piece = fc.oneof(
  fc
    .tuple(fc.array(attribute, { maxLength: 3 }), charset)
    .map(([some, last]) => `<meta${some.join('')}${last}>`),
  fc.array(attribute, { maxLength: 2 }).map((some) => `<p${some.join('')}>`),
  fc.constantFrom(
    '<!-- <meta charset=gbk> -->',
    '<!doctype html>',
    '</p>',
    '<?x ?>',
    'words',
    '<',
    '<1>',
    '\0',
    '\xff',
    ' /',
  ),
)

describe('the prescan', () => {
  test('finds in whole tags what html-encoding-sniffer finds', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const bytes = Buffer.from(pieces.join(''), 'latin1').subarray(0, 1024)
        fc.pre(bytes.length < 1024)
        const expected = sniffEncoding(bytes, { defaultEncoding: '' })
        expect([bytes.toString('latin1'), encodingOfMeta(bytes)]).toEqual([
          bytes.toString('latin1'),
          expected === '' ? null : expected,
        ])
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('reads any bytes, and no more than there are', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(piece, fc.constantFrom('<meta ', '<!--', '"', "'", '=', 'charset', 'content=', '>')),
        ),
        (pieces) => {
          const whole = pieces.join('')
          const found = encodingOf(whole)
          // What stands behind the declaration changes nothing.
          if (found !== null) expect(encodingOf(`${whole}<meta charset=ibm866>`)).toBe(found)
        },
      ),
      { seed, numRuns: 1000 },
    )
  })
})
