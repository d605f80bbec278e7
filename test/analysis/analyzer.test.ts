import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AnalysisOptions, analyze, type PageInput } from '../../src/analysis/analyze.ts'
import { Analyzer, type Sketch } from '../../src/analysis/analyzer.ts'
import { createKernel } from '../../src/kernel/kernel.ts'
import { htmlPage, randomWords, seededRandom } from '../fixture/pages.ts'

const options: AnalysisOptions = { tokenizer: 'practical', siteRule: 'public-suffix' }
const kernel = createKernel()
if (kernel === null) throw new Error('These tests need WebAssembly SIMD')
const analyzers = {
  'with the kernel': new Analyzer(options, kernel),
  'without it': new Analyzer(options, null),
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const german = '<meta charset="iso-8859-1"><title>Käse</title><p>Größe und Straße, „Übermut“ tut selten gut'
const bytes = (content: Uint8Array, contentType: string | null): PageInput['content'] => ({
  kind: 'html',
  bytes: content,
  contentType,
})
const jsonOf = (characters: string): PageInput['content'] => ({
  kind: 'html',
  bytes: Buffer.from(JSON.stringify(characters)).subarray(1, -1),
  form: 'json',
})
const long = htmlPage('Long', randomWords(seededRandom(3), 3000))

/** With bytes as hexadecimal digits, whatever kind of array holds them. */
const plain = ({ url, urlKey, site, title, text, tokenCount, contentHash, signature }: Sketch) => {
  const hex = (array: Uint8Array) => Buffer.from(array).toString('hex')
  const digits = signature && {
    ...signature,
    supershingles: hex(signature.supershingles),
    simhash: hex(signature.simhash),
  }
  return {
    url,
    urlKey,
    site,
    title,
    text: Buffer.from(text).toString(),
    tokenCount,
    contentHash: hex(contentHash),
    signature: digits,
  }
}

const contents: [string, PageInput['content']][] = [
  ['characters', { kind: 'html', characters: long }],
  ['characters with half a surrogate pair', { kind: 'html', characters: 'a\ud800b c\udc00' }],
  ['plain text', { kind: 'text', characters: 'One\r\ntwo <b>three</b> ￼four' }],
  ['no page at all', { kind: 'html', characters: '' }],
  ['UTF-8', bytes(Buffer.from(long), 'text/html; charset=utf-8')],
  ['UTF-8 that nobody declares', bytes(Buffer.from('<p>Größe 東京'), null)],
  ['UTF-8 with a byte order mark', bytes(Buffer.from('\ufeffKettle'), 'text/html; charset=windows-1251')],
  [
    'UTF-8 with a wrong byte',
    bytes(Buffer.concat([Buffer.from('Größe '), latin1('Größe')]), 'text/html; charset=utf-8'),
  ],
  ['Latin-1 by its meta element', bytes(latin1(german), 'text/html')],
  ['Latin-1 that nobody declares', bytes(latin1('<p>Größe und Straße'), 'text/html')],
  ['Latin-1 by its header', bytes(latin1('<p>Größe'), 'text/html; charset=latin1')],
  ['UTF-16', bytes(Buffer.from('\ufeff<p>Größe 東京', 'utf16le'), null)],
  ['a JSON string', jsonOf(long)],
  ['a JSON string with every kind of escape', jsonOf('"\\/\b\f\n\r\t\u0001 \ud83d\ude00 \ud800 <p>東京')],
  ['bytes in shared memory', bytes(new Uint8Array(new SharedArrayBuffer(2000)).fill(0xe4), null)],
]

describe.each(Object.entries(analyzers))('the analyzer %s', (_name, analyzer) => {
  test.each(contents)('gives what the readable chain gives, for %s', (_content, content) => {
    for (const url of ['https://www.Example.co.uk/a?b#c', 'nonsense', null]) {
      const { terms, tokens, ...expected } = analyze({ url, content }, options)
      const text = Buffer.from(expected.text)
      const sketch = plain({ ...expected, text, tokenCount: terms.length })
      expect(plain(analyzer.sketch({ url, content }))).toEqual(sketch)
      const withTokens = analyzer.sketchWithTokens({ url, content })
      expect(plain(withTokens)).toEqual(sketch)
      expect(withTokens.tokens).toEqual(tokens)
      expect(analyzer.tokensOfText(text)).toEqual(tokens)
      const { title } = expected
      expect(plain({ url, title, text, ...analyzer.sketchOfText(url, text) })).toEqual(sketch)
    }
  })

  test('refuses what is said to be the inside of a JSON string and is not', () => {
    const insides = ['a"b', 'a\\', '\\x41', '\\u12', 'line\nbreak', '" + "', '\\ud83'].map((text) =>
      Buffer.from(text),
    )
    for (const inside of [...insides, latin1('Größe')]) {
      const content = { kind: 'html', bytes: inside, form: 'json' } as const
      expect(() => analyzer.sketch({ url: null, content })).toThrow(
        expect.objectContaining({ code: 'invalid_body' }),
      )
    }
  })

  test('reads any bytes under any declaration as the readable chain does', () => {
    const declarations = fc.constantFrom(
      null,
      'text/html',
      'text/html; charset=utf-8',
      'text/html;charset=gbk',
      'x',
    )
    const content = fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), declarations)
    fc.assert(
      fc.property(content, ([noise, around, contentType]) => {
        const page = bytes(Buffer.concat([Buffer.from(around), noise, Buffer.from(around)]), contentType)
        const { terms, ...expected } = analyze({ url: null, content: page }, options)
        const text = Buffer.from(expected.text)
        const sketch = plain({ ...expected, text, tokenCount: terms.length })
        expect(plain(analyzer.sketch({ url: null, content: page }))).toEqual(sketch)
      }),
      { seed: 4, numRuns: 500 },
    )
  })
})
