import { describe, expect, test } from 'vitest'
import { type AnalysisOptions, analyze, analyzeText } from '../../src/analysis/analyze.ts'
import { bSimilarity, cSimilarity } from '../../src/detect/similarity.ts'
import { goldenCases } from '../golden/signatures.ts'

const literal: AnalysisOptions = { tokenizer: 'literal', siteRule: 'dots' }
const practical: AnalysisOptions = { tokenizer: 'practical', siteRule: 'public-suffix' }

const analyzeHtml = (html: string, url: string | null, options: AnalysisOptions) =>
  analyze({ url, content: { kind: 'html', characters: html } }, options)

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('analyze', () => {
  test.each(goldenCases.identity)(
    '$id: pages with one token sequence share a content hash',
    ({ input, expect: sets }) => {
      const byHash = new Map<string, string[]>()
      for (const { id, url, html } of input.pages) {
        const hash = hexOf(analyzeHtml(html, url, literal).contentHash)
        byHash.set(hash, [...(byHash.get(hash) ?? []), id])
      }
      expect([...byHash.values()]).toEqual(sets)
    },
  )

  test('gives the parts of a page, its URL, site and title', () => {
    const page = analyzeHtml(
      '<title>A title</title><p>One two</p><img src="/i/logo.gif">',
      'HTTP://www.Example.co.uk:80/dir/../page.html#top',
      practical,
    )
    expect(page).toMatchObject({
      url: 'HTTP://www.Example.co.uk:80/dir/../page.html#top',
      urlKey: 'http://www.example.co.uk/page.html',
      site: 'example.co.uk',
      title: 'A title',
      terms: ['a', 'title', 'one', 'two', 'logo.gif'],
    })
    expect(page.tokens.low).toHaveLength(5)
    expect(page.contentHash).toHaveLength(16)
    expect(page.signature).not.toBeNull()
  })

  test('a page without tokens has no signature, and one without a URL no site', () => {
    const page = analyzeHtml('<p>… — !</p>', null, practical)
    expect(page).toMatchObject({ url: null, urlKey: null, site: null, terms: [], signature: null })
  })

  test('takes bytes as it takes the characters they stand for', () => {
    const bytes = Uint8Array.from([0x63, 0x61, 0x66, 0xe9]) // "café" in windows-1252
    const content = { kind: 'text', bytes, contentType: 'text/plain; charset=windows-1252' } as const
    expect(analyze({ url: null, content }, practical).terms).toEqual(['café'])
  })

  test('one word changed in a long page leaves it a near-duplicate, another page is none', () => {
    const paragraph = (seed: number) =>
      Array.from({ length: 1000 }, (_, i) => `w${(i * seed) % 7919}`).join(' ')
    const [original, edited, other] = [
      analyzeHtml(`<p>${paragraph(31)}</p>`, null, practical).signature,
      analyzeHtml(`<div>${paragraph(31).replace('w31 ', 'changed ')}</div>`, null, practical).signature,
      analyzeHtml(`<p>${paragraph(37)}x</p>`, null, practical).signature,
    ]
    if (!original || !edited || !other) throw new Error('a page with tokens has a signature')
    expect(bSimilarity(original, edited)).toBeGreaterThanOrEqual(2)
    expect(cSimilarity(original, edited)).toBeGreaterThanOrEqual(372)
    expect(bSimilarity(original, other)).toBe(0)
    expect(cSimilarity(original, other)).toBeLessThan(355)
  })
})

describe('analyzeText', () => {
  test.each([literal, practical])(
    'gives the tokens of the page again from its text ($tokenizer)',
    (options) => {
      const page = analyzeHtml(
        '<title>T</title>a<b>b</b> c<br>http://x.org/y.html <img src="http://cdn.net/a b.png">東京 ﬁn &amp; Ⅷ',
        'http://example.com/',
        options,
      )
      const { terms, tokens } = analyzeText(page.text, options)
      expect(terms).toEqual(page.terms)
      expect(tokens).toEqual(page.tokens)
    },
  )
})
