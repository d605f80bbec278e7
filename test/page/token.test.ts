import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractHtml } from '../../src/page/html.ts'
import { tokenize } from '../../src/page/token.ts'
import { kindOf, UNASSIGNED } from '../../src/page/unicode.ts'

const literal = (text: string): string[] => tokenize(text, 'literal')
const practical = (text: string): string[] => tokenize(text, 'practical')

describe('literal', () => {
  test.each([
    ['a_b-c d1e2 (f),g;h', ['a', 'b', 'c', 'd1e2', 'f', 'g', 'h']],
    ["don't STOP Stop", ['don', 't', 'STOP', 'Stop']],
    ['3.14 1,000', ['3', '14', '1', '000']],
    ['東京都に行く。終', ['東京都に行く', '終']],
    ['हिन्दी ภาษาไทย', ['हिन्दी', 'ภาษาไทย']],
    ['𠀀𠀁 𝐀x', ['𠀀𠀁', '𝐀x']],
    ['½ ② Ⅷ', ['½', '②', 'Ⅷ']],
    ['ﬁ ℡', ['ﬁ']],
    ['', []],
    [' \n—…\uE000😀', []],
  ])('%j has the terms %j', (text, terms) => {
    expect(literal(text)).toEqual(terms)
  })
})

describe('practical', () => {
  test.each([
    ["Don't STOP", ['don', 't', 'stop']],
    ['Straße STRASSE', ['strasse', 'strasse']],
    ['ΣΊΣΥΦΟΣ Σίσυφος', ['σίσυφοσ', 'σίσυφοσ']],
    ['ﬁ ² ½ Ⅷ', ['fi', '2', '1', '2', 'viii']],
    ['Ａｂｃ１２３', ['abc123']],
    ['İI', ['i\u0307i']],
    ['東京都に行く。終', ['東', '京', '都', 'に', '行', 'く', '終']],
    ['第3章abcデータ-', ['第', '3', '章', 'abc', 'デ', 'ー', 'タ']],
    ['ｶﾞｷﾞ', ['ガ', 'ギ']],
    ['々〇ゝ', ['々', '〇', 'ゝ']],
    ['กี่น้ำ ๑๒', ['กี่', 'น้ํ', 'า', '๑๒']],
    ['ລາວ', ['ລ', 'າ', 'ວ']],
    ['ខ្មែរ', ['ខ្', 'មែ', 'រ']],
    ['မြန်မာ', ['မြ', 'န်', 'မာ']],
    ['한국어 русский', ['한국어', 'русский']],
    ['㍿ ㎧', ['株', '式', '会', '社', 'm', 's']],
  ])('%j has the terms %j', (text, terms) => {
    expect(practical(text)).toEqual(terms)
  })
})

describe.each([
  ['literal', literal],
  ['practical', practical],
] as const)('under both rules (%s)', (_, termsOf) => {
  test('composed and decomposed letters are the same, and a mark neither splits nor ends a word', () => {
    expect(termsOf('cafe\u0301s ole')).toEqual(['cafés', 'ole'])
    expect(termsOf('\u1112\u1161\u11AB')).toEqual(['한'])
  })

  test('a mark without a letter before it is no term', () => {
    expect(termsOf('\u0301 a \u0301- b')).toEqual(['a', 'b'])
  })

  test('invisible characters leave no trace', () => {
    expect(termsOf('so\u00ADft \uFEFFze\u200Bro\u200D\u2060-width\u200E')).toEqual(['soft', 'zero', 'width'])
    expect(termsOf('ht\u00ADtp:\u200B//a.example/b-\u00ADc')).toEqual(['http', 'a', 'example', 'b-c'])
  })

  test('code points that Unicode 16.0 does not assign, and half pairs, separate', () => {
    expect(termsOf('a\u0378b\uD800c\u{1FFFE}d')).toEqual(['a', 'b', 'c', 'd'])
    // Assigned in Unicode 17.0, which newer versions of Node know.
    expect(termsOf('a\u1ACFb')).toEqual(['a', 'b'])
  })

  test('an image is one term as it stands', () => {
    expect(termsOf('a\n\uFFFChttp://cdn.Example.net/X.gif?a=b\nb \uFFFCY.gif')).toEqual([
      'a',
      'http://cdn.Example.net/X.gif?a=b',
      'b',
      'Y.gif',
    ])
    expect(termsOf('a\uFFFC \uFFFC')).toEqual(['a'])
  })
})

describe('URLs in the text', () => {
  test.each([
    [
      'see http://www.example.org/docs/intro.html now',
      ['see', 'http', 'www', 'example', 'org', 'docs', 'intro', 'html', 'now'],
    ],
    ['http://h.example/a-b/c_d?e=f&g#h', ['http', 'h', 'example', 'a-b', 'c_d?e=f&g#h']],
    ['(http://h.example/a-/-b).', ['http', 'h', 'example', 'a', 'b']],
    ['WWW.h.example/a-b', ['WWW', 'h', 'example', 'a-b']],
    ['+http://h.example/a-b', ['http', 'h', 'example', 'a-b']],
    ['mailto:a-b', ['mailto', 'a', 'b']],
    ['http://h/a-b"c-d <http://h/e-f>g-h', ['http', 'h', 'a-b', 'c', 'd', 'http', 'h', 'e-f', 'g', 'h']],
    ['“http://h/a-b”c-d', ['http', 'h', 'a-b', 'c', 'd']],
    ['http://h/a-b\u00A0c-d\u3000e-f', ['http', 'h', 'a-b', 'c', 'd', 'e', 'f']],
    ['http://h/a-b\u0378c-d', ['http', 'h', 'a-b', 'c', 'd']],
    ['http://h//../a-b', ['http', 'h', 'a-b']],
    ['http://user:pass@h:80/', ['http', 'user:pass@h:80']],
    ['http://h/a=cafe\u0301', ['http', 'h', 'a=café']],
    ['http:/h/a-b', ['http', 'h', 'a', 'b']],
    [
      'awww.a-b 1http://a-b éwww.a-b éhttp://a-b',
      ['awww', 'a', 'b', '1http', 'a', 'b', 'éwww', 'a', 'b', 'éhttp', 'a', 'b'],
    ],
    ['://a-b www', ['a', 'b', 'www']],
    [`${'x'.repeat(32)}://a-b`, ['x'.repeat(32), 'a-b']],
    [`${'x'.repeat(33)}://a-b`, ['x'.repeat(33), 'a', 'b']],
  ])('%j has the terms %j', (text, terms) => {
    expect(literal(text)).toEqual(terms)
  })

  test('are folded piece by piece under practical', () => {
    expect(practical('HTTP://H.Example/A-ẞ')).toEqual(['http', 'h', 'example', 'a-ss'])
  })

  test('end before text written without spaces, and before punctuation outside ASCII, under practical', () => {
    expect(practical('请看http://h.example/a-b。再见')).toEqual([
      '请',
      '看',
      'http',
      'h',
      'example',
      'a-b',
      '再',
      '见',
    ])
    expect(practical('http://h.example/a-b（c-d http://h/e-f、g-h')).toEqual([
      'http',
      'h',
      'example',
      'a-b',
      'c',
      'd',
      'http',
      'h',
      'e-f',
      'g',
      'h',
    ])
    expect(practical('http://h.example/é-b见 ไม่www.a-b')).toEqual([
      'http',
      'h',
      'example',
      'é-b',
      '见',
      'ไ',
      'ม่',
      'www',
      'a-b',
    ])
    expect(practical('http://h.example/א-ב')).toEqual(['http', 'h', 'example', 'א-ב'])
  })
})

describe('laws', () => {
  const seed = 20260104
  const character = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(...'aBß1 _-éÉ\u0301\u0323σΣςﬁ²½İ漢かガｶﾞーกี่ำ한ᄒ\u1161ÅÅ\u0345\u0344'),
    },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
  )
  const text = fc
    .array(character, { maxLength: 24 })
    .map((characters) => characters.join(''))
    .filter((characters) => !/\uFFFC|:\/\/|www\./i.test(characters))
  const tokenizer = fc.constantFrom('literal' as const, 'practical' as const)
  const law = (holds: (text: string, tokenizer: 'literal' | 'practical') => void) =>
    fc.assert(fc.property(text, tokenizer, holds), { seed, numRuns: 5000 })

  test('terms joined by blanks have the same terms', () => {
    law((input, rule) => {
      const terms = tokenize(input, rule)
      expect(tokenize(terms.join(' '), rule)).toEqual(terms)
    })
  })

  // Node may know characters, and normalize them, that Unicode 16.0 does not.
  const isAssigned = (input: string): boolean =>
    Array.from(input).every((unit) => kindOf(unit.codePointAt(0) ?? 0) !== UNASSIGNED)

  test('normal form NFC or NFD makes no difference', () => {
    law((input, rule) => {
      fc.pre(isAssigned(input))
      const terms = tokenize(input, rule)
      expect(tokenize(input.normalize('NFC'), rule)).toEqual(terms)
      expect(tokenize(input.normalize('NFD'), rule)).toEqual(terms)
    })
  })

  test('compatible characters make no difference under practical', () => {
    law((input) => {
      fc.pre(isAssigned(input))
      expect(practical(input.normalize('NFKC'))).toEqual(practical(input))
    })
  })

  test('soft hyphens, zero-width spaces and formatting tags between characters make no difference', () => {
    law((input, rule) => {
      const escaped = Array.from(input, (unit) => `&#${unit.codePointAt(0)};`)
      const terms = tokenize(extractHtml(escaped.join(''), null).text, rule)
      for (const between of ['&shy;', '\u200B', '<b></b>', '</i><span class=x>']) {
        expect(tokenize(extractHtml(escaped.join(between), null).text, rule)).toEqual(terms)
      }
    })
  })

  test('an image is the term that it has in the page text, whatever stands around it', () => {
    const html = '<p>Left<img src="http://cdn.example.net/A-b.gif">right http://h.example/A-b<img src=C.gif>'
    const page = extractHtml(html, 'http://www.example.com/').text
    expect(practical(page)).toEqual([
      'left',
      'http://cdn.example.net/A-b.gif',
      'right',
      'http',
      'h',
      'example',
      'a-b',
      'C.gif',
    ])
  })
})

describe('a long text', () => {
  test('has the same terms wherever it is cut to be folded', () => {
    const pieces = fc.constantFrom(
      ...[
        'a',
        'é',
        'e\u0301',
        '\u0327\u0301',
        '\ufdfa',
        '\u3300',
        '\u3131',
        '\u314f',
        '\u3134',
        '\u1100',
        '\u1161',
        '\u11a8',
      ],
      ...[
        '각',
        'ß',
        'İ',
        '\u0390',
        '\u{1d400}',
        '\u{2f800}',
        'ｶﾞ',
        '\uff9e',
        '東',
        '/',
        '.',
        '\u0e33',
        '\u0958',
        '\u00ad',
        '\u{1f600}',
      ],
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { minLength: 1, maxLength: 12 }),
        fc.constantFrom('', 'www.'),
        (some, start) => {
          const one = some.join('')
          const text = start + one.repeat(Math.ceil(70_000 / one.length))
          const [, ...expected] = practical(`a ${text}`)
          for (const before of [60_000, 65_530, 65_533, 65_535]) {
            const [, ...terms] = practical(`${'a'.repeat(before)} ${text}`)
            expect(terms.length).toBe(expected.length)
            expect(terms.find((term, i) => term !== expected[i])).toBeUndefined()
          }
        },
      ),
      { seed: 20_261_201, numRuns: 40 },
    )
  })

  test('of more terms than are wanted is not read to its end', () => {
    for (const piece of ['a ', '東', '\ufdfa', 'x://\ufdfa/ '])
      for (const tokenizer of ['literal', 'practical'] as const) {
        const text = piece.repeat(200_000)
        const all = tokenize(text, tokenizer).length
        expect(tokenize(text, tokenizer, all)).toHaveLength(all)
        const cut = tokenize(text, tokenizer, 1000).length
        expect(cut).toBeGreaterThan(Math.min(all - 1, 1000))
      }
  })
})

describe('text of any shape is read in one pass', () => {
  const COUNT = 400_000

  test('marks in a row: the first 30 count, and invisible characters between them do not help', () => {
    // Normalizing all of them at once would take minutes.
    const marks = '\u0323\u0301'.repeat(COUNT)
    expect(literal(`a${marks}b`)).toEqual([`a${'\u0323\u0301'.repeat(15)}b`.normalize('NFC')])
    expect(practical(`A${'\u0301\u00AD'.repeat(COUNT)}`)).toEqual([
      `a${'\u0301'.repeat(30)}`.normalize('NFC'),
    ])
    expect(literal(`a${'\u0301'.repeat(30)}`)).toEqual([`a${'\u0301'.repeat(30)}`.normalize('NFC')])
  })

  test.each([
    ['www.', 'www.', COUNT],
    ['://', '://', 0],
    ['a://', 'a://', COUNT],
    ['a:// ', 'a:// ', COUNT],
    ['1://', '1://', COUNT],
    ['http://a"', 'http://a"', 2 * COUNT],
    ['a\u0301www.', 'a\u0301www.', COUNT],
    ['\uFFFCa ', '\uFFFCa ', COUNT],
    ['\uFFFChttp://a ', '\uFFFChttp://a ', COUNT],
    ['漢', '漢', 1],
    ['\u1112\u1161', '\u1112\u1161', 1],
  ])('%j many times over', (_, unit, count) => {
    expect(literal(unit.repeat(COUNT))).toHaveLength(count)
  })

  test('one URL of punctuation', () => {
    expect(literal(`http://${'-'.repeat(COUNT)}a${'-'.repeat(COUNT)}`)).toEqual(['http', 'a'])
  })
})
