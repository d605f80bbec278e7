import { describe, expect, test } from 'vitest'
import { decodeBytes } from '../../src/page/charset.ts'

const bytes = (...parts: readonly (string | number)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part, 'utf8'))))

const BOM = [0xef, 0xbb, 0xbf]
const POLISH_L = [0xc5, 0x82] // ł in UTF-8, two other letters in windows-1252

describe('order of the sources of the encoding', () => {
  test('a byte order mark beats the Content-Type and is no part of the text', () => {
    expect(decodeBytes(bytes(...BOM, 'ż'), 'text/html; charset=windows-1251', 'html')).toBe('ż')
    expect(decodeBytes(bytes(0xff, 0xfe, 'a', 0), 'text/html; charset=utf-8', 'html')).toBe('a')
    expect(decodeBytes(bytes(0xfe, 0xff, 0, 'a'), null, 'text')).toBe('a')
  })

  test('the charset of the Content-Type beats the meta element', () => {
    const page = bytes('<meta charset=windows-1252>', ...POLISH_L)
    expect(decodeBytes(page, 'text/html;charset="UTF-8"', 'html')).toBe('<meta charset=windows-1252>ł')
  })

  test('the meta element counts in HTML and not in plain text', () => {
    const page = bytes('<meta charset=koi8-r>', 0xd4)
    expect(decodeBytes(page, 'text/html', 'html')).toBe('<meta charset=koi8-r>т')
    expect(decodeBytes(page, 'text/plain', 'text')).toBe('<meta charset=koi8-r>Ô')
  })

  test('a meta element within the first 1,024 bytes beats valid UTF-8 and one behind them does not', () => {
    const meta = '<meta charset=koi8-r>'
    const near = bytes(' '.repeat(1024 - meta.length), meta, ...POLISH_L)
    const far = bytes(' '.repeat(1024), meta, ...POLISH_L)
    expect(decodeBytes(near, null, 'html').slice(1024)).toBe('е┌')
    expect(decodeBytes(far, null, 'html').slice(1024)).toBe(`${meta}ł`)
  })

  test('a meta element behind the first 1,024 bytes beats windows-1252, in HTML alone', () => {
    const page = bytes(' '.repeat(2000), '<meta name=a><META charset=koi8-r>', 0xd4)
    expect(decodeBytes(page, null, 'html').at(-1)).toBe('т')
    expect(decodeBytes(page, null, 'text').at(-1)).toBe('Ô')
  })

  test('without a declaration, valid UTF-8 is UTF-8 and anything else is windows-1252', () => {
    expect(decodeBytes(bytes('zażółć'), null, 'html')).toBe('zażółć')
    expect(decodeBytes(bytes('na', 0xef, 've'), null, 'html')).toBe('naïve')
    expect(decodeBytes(bytes('na', 0xef, 've'), 'text/plain', 'text')).toBe('naïve')
  })
})

describe('labels', () => {
  test.each([
    ['latin1', [0x80, 0x93], '€“'],
    ['ISO-8859-1', [0x92], '’'],
    ['us-ascii', [0x9c], 'œ'],
    ['gb2312', [0x95, 0xf1], '曬'],
    ['x-sjis', [0x83, 0x5c], 'ソ'],
    ['big5', [0xa4, 0xa4], '中'],
    ['euc-kr', [0xb0, 0xa1], '가'],
    ['windows-1250', [0xb3], 'ł'],
    ['utf-16', [0x61, 0x00], 'a'],
  ])('%s in the Content-Type is read as the WHATWG table says', (label, input, expected) => {
    expect(decodeBytes(bytes(...input), `text/plain; charset=${label}`, 'text')).toBe(expected)
  })

  test('all of windows-1252 is decoded by the WHATWG index', () => {
    const high = Uint8Array.from({ length: 32 }, (_, index) => 0x80 + index)
    expect(decodeBytes(high, 'text/html; charset=windows-1252', 'html')).toBe(
      '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ',
    )
  })

  test('utf-16 in a meta element means UTF-8', () => {
    expect(decodeBytes(bytes('<meta charset=utf-16>ł'), null, 'html')).toBe('<meta charset=utf-16>ł')
  })

  test('an unknown label is passed over, in the Content-Type and in the meta element', () => {
    expect(decodeBytes(bytes(0xd4), 'text/plain; charset=none', 'text')).toBe('Ô')
    expect(decodeBytes(bytes('<meta charset=koi8-r>', 0xd4), 'text/html; charset=none', 'html')).toContain(
      'т',
    )
    expect(decodeBytes(bytes('<meta charset=none>', 0xd4), null, 'html')).toContain('Ô')
  })
})

describe('faults', () => {
  test('invalid bytes become U+FFFD and the rest survives', () => {
    expect(decodeBytes(bytes('a', 0xf1, 'bł'), 'text/html; charset=utf-8', 'html')).toBe('a\uFFFDbł')
  })

  test.each(['', 'nonsense', ';charset=koi8-r', 'text/', 'text/html; charset', '\u0000'])(
    'the malformed Content-Type %j is ignored',
    (contentType) => {
      expect(decodeBytes(bytes(0xd4), contentType, 'text')).toBe('Ô')
    },
  )

  test('characters outside ASCII in another parameter do not hide the charset', () => {
    const contentType = 'text/html; charset=utf-8; name="café"'
    expect(decodeBytes(bytes('ł', 0xff), contentType, 'html')).toBe('ł\uFFFD')
  })

  test.each(['charset', 'charset=', 'charset = '])(
    'a content attribute that ends in %j declares nothing and does no harm',
    (end) => {
      const meta = `<meta http-equiv=content-type content="text/html; ${end}">`
      expect(decodeBytes(bytes(meta, 'ł'), null, 'html')).toBe(`${meta}ł`)
      expect(decodeBytes(bytes(meta, 0xd4), null, 'html')).toBe(`${meta}Ô`)
      expect(decodeBytes(bytes(meta, '<meta charset=koi8-r>', 0xd4), null, 'html').at(-1)).toBe('т')
    },
  )

  test('no bytes are no characters', () => {
    expect(decodeBytes(new Uint8Array(), 'text/html', 'html')).toBe('')
    expect(decodeBytes(bytes(...BOM), null, 'text')).toBe('')
  })
})
