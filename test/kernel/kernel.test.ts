import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_KERNEL_BYTES } from '../../src/kernel/kernel.ts'
import { MAX_TERMS } from '../../src/page/token.ts'
import { fingerprintTerms } from '../../src/signature/fingerprint.ts'
import { k } from '../../src/signature/scheme.ts'
import { shingles } from '../../src/signature/shingle.ts'
import { htmlPage, randomWords, seededRandom } from '../fixture/pages.ts'
import { expandTerms, goldenCases, goldenSignatures } from '../golden/signatures.ts'
import tokenCases from '../golden/tokens.json' with { type: 'json' }
import {
  expectSame,
  expectSameByBoth,
  kernelOutcome,
  newKernel,
  type Page,
  referenceOutcome,
} from './outcome.ts'
import { htmlSoup, pageUrl, textSoup } from './soup.ts'

const kernel = newKernel()
const seed = 20260
const url = 'http://page.example/dir/index.html'
const tokenizer = fc.constantFrom<Page['tokenizer']>('literal', 'practical')

const html = (characters: string, pageUrl: string | null = url): void =>
  expectSameByBoth(kernel, { characters, kind: 'html', url: pageUrl })
const text = (characters: string): void => expectSameByBoth(kernel, { characters, kind: 'text', url: null })

describe('the kernel makes the same of a page as the readable version', () => {
  test('on the golden cases', () => {
    for (const { type, input } of tokenCases) {
      if (type === 'tokens' && 'html' in input) html(input.html as string, input.url as string)
    }
    for (const { input } of goldenCases.identity) for (const page of input.pages) html(page.html, page.url)
  })

  test.each([
    ['nothing', ''],
    ['one byte', 'x'],
    ['a lone bracket', '<'],
    ['a page that ends in a tag', 'a<b c="d'],
    ['names with NUL', 'a<b\0>b</b\0>c<title\0>d</title\0>e<img src\0=x.png>'],
    ['names at the limit', `a<${'x'.repeat(15)}>b<${'x'.repeat(16)}>c<${'x'.repeat(17)} d=">">e`],
    ['an attribute that begins with "="', '<a =">b'],
    ['quotes that do not quote', '<a b=c"d>e<a "f>g<a h=i/ j="k>l">m'],
    ['"=" behind a blank', '<a b = "c>d">e<a b =">f">g<a / ="h>i">j'],
    ['a slash of a value', '<svg a=b/><title>c</title></svg><svg a="b"/><title>d</title>'],
    ['scripts within comments', '<script><!-- <script> </script> --> </script>a<script><!--></script>b'],
    ['comments that end in every way', 'a<!-->b<!--->c<!-- -- > --!>d<!-- --->e<!--'],
    ['svg with titles and desc', '<svg><title>a<p>b</title>c<desc>d<svg/>e</desc>f</svg>g<title>h</title>'],
    ['templates left open', 'a<template>b<template>c</template>d<svg></template>e</svg>'],
    ['CDATA', '<svg><![CDATA[a]]b]>c]]>d<![CDATA[e</svg>'],
    ['titles', '<title> a&amp;\n<b> </title><title>b</title>'],
    ['an empty title before another', 'x<title> </title><title>b</title>'],
    ['white space of all kinds', ' a\t\f\r\n b\vc\u0085d\u00a0e\u2028f\u3000g\0h \0 i'],
    ['the mark of an image', 'a\uFFFCb \uFFFC c&#xFFFC;d'],
    ['references with two characters', '&nGt;&bne;&NotEqualTilde;&ngE;&fjlig;&nvlt;'],
    ['references without semicolon', '&ampa&amp=&copyb&notit&acirc&acir;&Aacutex&frac34&sup1'],
    ['long numbers', `&#${'9'.repeat(3000)};&#x${'0'.repeat(3000)}41;&#x110000;&#1114111;`],
    ['many marks', `a${'\u0301'.repeat(40)} b${'\u0e48'.repeat(31)} c${'\u0e48'.repeat(30)}`],
    ['marks out of order', 'a\u0301\u0323 ก\u0e48\u0e38 ก\u0e38\u0e48 ب\u0651\u064e ب\u064e\u0651'],
    [
      'URLs in every place',
      '"http://a.b/c.d" (www.e.f) www.g <a://h> 9a://i abc://j.k/l%20m 東www.x.y東 é://z',
    ],
    ['a URL made by what is invisible', 'ww\u00adw.a.b ht\u200btp://c.d www\u00ad.e:\u200b//f.g'],
    ['a scheme at the limit', `${'s'.repeat(32)}://a.b ${'s'.repeat(33)}://c.d`],
  ])('on %s', (_, characters) => {
    html(characters)
    html(characters, null)
    text(characters)
  })

  test('on addresses of images', () => {
    const addresses = [
      ...[
        'a.png',
        '/a.png',
        '../a.png',
        './a.png',
        'a/..',
        'a/.',
        'a/%2e%2E',
        'a/b/',
        '',
        ' ',
        '\v',
        '?q',
        '#f',
        'a?b#c',
      ],
      ...[
        'a b.png',
        'a%20b.png',
        "a'b",
        'a|b',
        'a\\b',
        '\\\\h\\a',
        '//h/a',
        '//page.example/a',
        'c:/a',
        'data:,x y',
      ],
      ...[
        'http://page.example/x/a.png?q',
        'http://page.example',
        'http://PAGE.example/a',
        'http://page.example./a',
      ],
      ...[
        'http://h/a',
        'https://h.example/a?',
        'https://h.example/a?#b',
        'https://h.example/a?b c',
        'https://h..x/a',
      ],
      ...[
        'http://1.2/a',
        'http://h.1/a',
        'http://h.0x1/a',
        'http://xn--a/b',
        'http://xn--e1afmkfd.x/a',
        'http://-a-.b--c/d',
      ],
      ...[
        'http://h:80/a',
        'http://u@h/a',
        'http:///a',
        'http:/a',
        'http:a',
        'HTTP://h.x/a',
        'http://h.x/./a/../b',
        'http://h_x.y/a',
      ],
      ...[
        'http://h.x/%2e/a',
        'http://h.x/a/.%2e/b',
        'http://h.x/.a',
        "http://h.x/a?b'c",
        'http://h.x/a?b&amp;c&copy=d&ampe',
      ],
      ...[
        'http://h.x/a?é',
        'http://h.x/é',
        'a\0b',
        'http://h.x/a\tb',
        ` a.png `,
        'http://h.x/[a]',
        'http://h.x/a?[b]^',
        'http://h.x/{a}',
      ],
      ...[
        `http://h.x/${'a'.repeat(1013)}`,
        `http://h.x/${'a'.repeat(1014)}`,
        'b'.repeat(1024),
        'b'.repeat(1025),
      ],
      ...[
        `data:image/png;base64,${'A'.repeat(5000)}`,
        `http://${'a'.repeat(70)}.x/b`,
        `a?${'b'.repeat(5000)}`,
        '&#47;a&#46;b',
      ],
    ]
    const bases = [
      '',
      '<base href="http://other.example/d/">',
      '<base href="/e/f">',
      '<base href="https://page.example">',
    ]
    for (const base of [
      ...bases,
      '<base href="data:,x"><base href="/e/">',
      '<base href="foo://page.example/a/b">',
    ]) {
      const page = base + addresses.map((address) => `<img src="${address}">`).join('<br>')
      for (const pageUrl of [url, null, 'https://page.example/', 'foo://page.example/x', 'mailto:x'])
        html(page, pageUrl)
    }
  })

  test('on HTML soup', () => {
    fc.assert(
      fc.property(htmlSoup, pageUrl, tokenizer, (characters, url, tokenizer) =>
        expectSame(kernel, { characters, kind: 'html', url, tokenizer }),
      ),
      { seed, numRuns: 3000 },
    )
  })

  test('on text soup, also where it was cut anywhere', () => {
    fc.assert(
      fc.property(textSoup, tokenizer, fc.nat(), (characters, tokenizer, cut) => {
        const units = cut % (characters.length + 1)
        expectSame(kernel, { characters: characters.slice(0, units), kind: 'text', url: null, tokenizer })
      }),
      { seed, numRuns: 3000 },
    )
  })

  test('on characters of every kind between letters, for all planes', () => {
    for (let start = 0; start < 0x110000; start += start < 0x34000 ? 0x400 : 0x2c00) {
      let characters = ''
      for (let codePoint = start; codePoint < start + 0x400; codePoint++) {
        if (codePoint < 0xd800 || codePoint > 0xdfff)
          characters += `${String.fromCodePoint(codePoint)}a\u0301 `
      }
      text(characters)
    }
  })

  test('on a page that ends after any of its bytes', () => {
    const page =
      '<!doctype html><title>A &amp; b</title><!-- c --><svg a="b"><title>d</title></svg><p x=\'y\'>é 東 &nGt;' +
      '<img src="http://h.example/a.png?b&amp;c"><script><!-- <script> --></script><![CDATA[x]]> www.a.b/c&notin'
    const bytes = Buffer.from(page)
    for (let end = 0; end <= bytes.length; end++) {
      const characters = bytes.subarray(0, end).toString()
      if (Buffer.byteLength(characters) === end) html(characters)
    }
  })

  test('on lines of a plain text', () => {
    text('a\nb\r\nc\r\rd  e \n f\ng\0h\n\uFFFC i\n\n')
  })

  test('wherever a page lies with regard to the blocks of 16 and 64 bytes', () => {
    for (let shift = 0; shift < 130; shift++) {
      html(
        `${'x '.repeat(shift >> 1)}${'y'.repeat(shift & 1)}<p a="b">é Word  word</p>${'z'.repeat(shift)} http://a.b/c`,
      )
    }
  })
})

describe('titles', () => {
  test.each([999, 1000, 1001])('are cut to 1,000 UTF-16 units (of %d)', (length) => {
    for (const tail of ['x', '\u{1f600}', '\ufffd', '\ufffd\u{1f600}', 'é'.repeat(3)]) {
      html(`<title>${'t'.repeat(length - 1)}${tail}</title>`)
    }
  })
})

describe('pages of great size', () => {
  test('an attribute of 5 MB, and one that is an address', () => {
    html(`a<p title="${'x>'.repeat(2_500_000)}">b<img src="${'y'.repeat(5_000_000)}">c`)
  })

  test('100,000 nested tags', () => {
    html(`${'<div><b>'.repeat(100_000)}x${'</b></div>'.repeat(100_000)}`)
    html(`${'<svg><desc>'.repeat(50_000)}x`)
  })

  test('a word of 1 MB, in letters of one byte and of more', () => {
    text(`a ${'Wörd'.repeat(250_000)} ${'WORD'.repeat(250_000)} ${'東'.repeat(300_000)}`)
  })

  test('more tokens than the text has bytes, and images far longer than their tags', () => {
    text('㌖'.repeat(20_000))
    html(`<base href="http://other.example/${'d'.repeat(400)}/">${'<img src=a>'.repeat(5000)}`)
  })

  test('a page above the limit is a fault, and the next one is read as ever', () => {
    const bytes = new Uint8Array(MAX_KERNEL_BYTES + 1)
    const input = { bytes, form: 'utf8', kind: 'html', url: null, tokenizer: 'practical' } as const
    expect(kernel.analyze(input)).toEqual({ fault: 'too-large' })
    html('<p>as ever</p>')
  })

  test('memory grows for a long page and serves short ones again', () => {
    const random = seededRandom(3)
    const own = newKernel()
    for (const words of [10, 200_000, 10, 1_000_000, 10]) {
      const characters = htmlPage('Grows', randomWords(random, words))
      expectSame(own, { characters, kind: 'html', url, tokenizer: 'practical' })
    }
  })
})

describe('bytes', () => {
  const input = { kind: 'text', url: null, tokenizer: 'literal' } as const
  const faultOf = (form: 'utf8' | 'json', bytes: Uint8Array): unknown => {
    const page = kernel.analyze({ ...input, form, bytes })
    return 'fault' in page ? page.fault : null
  }
  const isUtf8 = (bytes: Uint8Array): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      return true
    } catch {
      return false
    }
  }

  test('that are not UTF-8 are a fault, and no others', () => {
    const units = [
      0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0,
      0xf4, 0xf5, 0xff,
    ]
    fc.assert(
      fc.property(
        fc.nat({ max: 140 }),
        fc.array(fc.constantFrom(...units), { maxLength: 6 }),
        fc.nat({ max: 70 }),
        (before, middle, after) => {
          const bytes = Uint8Array.of(
            ...new Array(before).fill(0x61),
            ...middle,
            ...new Array(after).fill(0x20),
          )
          expect(faultOf('utf8', bytes)).toBe(isUtf8(bytes) ? null : 'invalid-utf8')
          const printable = middle.every((unit) => unit >= 0x20)
          if (printable) expect(faultOf('json', bytes)).toBe(isUtf8(bytes) ? null : 'invalid-utf8')
        },
      ),
      { seed, numRuns: 20_000 },
    )
  })

  test('that are no JSON string are a fault, and no others', () => {
    const parts = [
      '\\',
      '"',
      'u',
      'n',
      '\\n',
      '\\u',
      '0041',
      'd83d',
      '\\ude00',
      '\\ud83d',
      '\\u00',
      '\n',
      '\x1f',
      'x',
      'é',
      '\\/',
      '\\x',
      'G',
    ]
    fc.assert(
      fc.property(
        fc.nat({ max: 40 }),
        fc.array(fc.constantFrom(...parts), { maxLength: 8 }),
        (before, middle) => {
          const escaped = 'y'.repeat(before) + middle.join('')
          let characters: string | null = null
          try {
            characters = JSON.parse(`"${escaped}"`)
          } catch {}
          const outcome = kernelOutcome(kernel, { ...input, form: 'json', bytes: Buffer.from(escaped) })
          const expected =
            characters === null ? { fault: 'invalid-json' } : referenceOutcome({ ...input, characters })
          expect(outcome).toEqual(expected)
        },
      ),
      { seed, numRuns: 20_000 },
    )
  })
})

describe('under a secret key', () => {
  test('the kernel makes the same of generated pages as the readable version, whatever the key', () => {
    fc.assert(
      fc.property(
        htmlSoup,
        fc.uint32Array({ minLength: 4, maxLength: 4 }),
        tokenizer,
        (characters, key, by) => {
          expectSame(newKernel(key), { characters, kind: 'html', url, tokenizer: by }, key)
        },
      ),
      { seed, numRuns: 150 },
    )
  })

  test('terms of every length have other fingerprints than without', () => {
    const characters = Array.from({ length: 100 }, (_, i) => 'x'.repeat(i + 1)).join(' ')
    const key = Uint32Array.of(1, 2, 3, 4)
    const page = { characters, kind: 'text', url: null, tokenizer: 'practical' } as const
    const keyed = newKernel(key)
    expectSame(keyed, page, key)
    const { high } = keyed.tokens()
    kernelOutcome(kernel, { ...page, form: 'utf8', bytes: Buffer.from(characters) })
    const open = kernel.tokens().high
    expect(high.filter((half, i) => half === open[i])).toHaveLength(0)
  })
})

describe('chunks without a blank', () => {
  test.each([
    ['of ligatures of many words', '\ufdfa'],
    ['of squared words', '\u3316\u3300'],
    ['of Han', '東京'],
    ['of letters that fold to several', 'ß\u0390'],
    ['of Hangul by letters', '\u3131\u314f\u1100\u1161\u11a8\u1161'],
    ['of marks out of order', 'a\u0301\u0327'],
    ['of pairs of surrogates', '\u{1d400}\u{2f800}'],
    ['of one long address', 'é.\ufdfa/'],
  ])('%s may be long, and are read as by the readable version', (_, piece) => {
    for (const start of ['', 'a', 'www.'])
      text(`${start}${piece.repeat(Math.ceil(70_000 / piece.length))} end`)
  })
})

describe('a page of too many tokens', () => {
  const tokensOf = (characters: string) => {
    const input = { bytes: Buffer.from(characters), form: 'utf8', kind: 'text', url: null } as const
    const reading = kernel.read({ ...input, tokenizer: 'practical' })
    return 'fault' in reading ? reading.fault : reading.tokenCount
  }

  test.each([
    { name: 'words', piece: 'a ', each: 1 },
    { name: 'squared words without blanks', piece: '\u3300', each: 4 },
    { name: 'an address by the readable version', start: 'x://', piece: '/\ufdfa', each: 4, first: 1 },
  ])('is refused, and one of as many as may be is not: $name', ({ start = '', piece, each, first = 0 }) => {
    const count = Math.floor((MAX_TERMS - first) / each)
    expect(tokensOf(start + piece.repeat(count))).toBe(first + each * count)
    expect(tokensOf(start + piece.repeat(count + 1))).toBe('too-many-tokens')
  })
})

describe('tokens that come from elsewhere', () => {
  test.each(goldenSignatures.cases)('$name: get the golden sketches', ({ terms, expect: golden }) => {
    const tokens = fingerprintTerms(expandTerms(terms))
    const { contentHash, signature } = kernel.sign(tokens)
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
    expect(hex(contentHash)).toBe(golden.contentHash)
    expect(signature === null ? null : hex(signature.supershingles)).toBe(
      golden.supershingles?.join('') ?? null,
    )
    expect(signature === null ? null : hex(signature.simhash)).toBe(golden.simhash)
    expect(shingles(kernel.tokens(), k)).toEqual(shingles(tokens, k))
  })
})

describe('a kernel', () => {
  test('does not know of another one', () => {
    const [one, other] = [newKernel(), newKernel()]
    const page = {
      bytes: Buffer.from('<p>one two'),
      form: 'utf8',
      kind: 'html',
      url: null,
      tokenizer: 'practical',
    } as const
    const first = one.analyze(page)
    other.analyze({ ...page, bytes: Buffer.from('<p>three <img src=four>') })
    if ('fault' in first) throw new Error(first.fault)
    expect(Buffer.from(first.textBytes).toString()).toBe('one two')
    expect(one.tokens()).toEqual(fingerprintTerms(['one', 'two']))
    expect(other.tokens()).toEqual(fingerprintTerms(['three', 'four']))
  })

  test('finds the tokens of a page again in its text', () => {
    fc.assert(
      fc.property(htmlSoup, tokenizer, (characters, tokenizer) => {
        const bytes = Buffer.from(characters)
        const page = kernel.read({ bytes, form: 'utf8', kind: 'html', url, tokenizer })
        if ('fault' in page) throw new Error(page.fault)
        const textBytes = page.textBytes.slice()
        const tokens = kernel.tokens()
        expect(kernel.analyzeText(textBytes, tokenizer)).toEqual({ tokenCount: tokens.low.length })
        expect(kernel.tokens()).toEqual(tokens)
      }),
      { seed, numRuns: 500 },
    )
  })
})
