import { DittographError } from '../errors.ts'
import { type PageContent, readPage } from '../page/page.ts'
import { siteOf } from '../page/site.ts'
import { MAX_TERMS, tokenize } from '../page/token.ts'
import { normalizeUrl } from '../page/url.ts'
import { fingerprintTerms, hashTokens } from '../signature/fingerprint.ts'
import { sign } from '../signature/sign.ts'
import type { Signature, TokenFingerprints } from '../signature/signature.ts'
import type { HashKey } from '../signature/siphash.ts'

/** The rules under which pages are turned into signatures. A database is filled under exactly one. */
export type AnalysisOptions = {
  readonly tokenizer: 'practical' | 'literal'
  readonly siteRule: 'public-suffix' | 'dots'
  /** Where the hash functions are secret. */
  readonly hashSeed?: HashSeed | null
}

/** A key of the fingerprints of terms, and a value by which it is recognized and which does not tell it. */
export type HashSeed = { readonly key: HashKey; readonly check: string }

export type PageInput = { readonly url: string | null; readonly content: PageContent }

export type Analysis = {
  readonly url: string | null
  readonly urlKey: string | null
  readonly site: string | null
  readonly title: string | null
  /** The page text (see page/text.ts): tokenizing it again gives the same tokens. */
  readonly text: string
  readonly terms: readonly string[]
  readonly tokens: TokenFingerprints
  readonly contentHash: Uint8Array
  readonly signature: Signature | null
}

/** Terms and tokens of a page text, as it was kept. Linear in its length. */
export const analyzeText = (
  pageText: string,
  options: AnalysisOptions,
): { readonly terms: readonly string[]; readonly tokens: TokenFingerprints } => {
  const terms = tokenize(pageText, options.tokenizer)
  return { terms, tokens: fingerprintTerms(terms, options.hashSeed?.key) }
}

/** The error about a page of more tokens than are taken. */
export const tooManyTokens = (): DittographError =>
  new DittographError('page_too_large', `A page may have at most ${MAX_TERMS} tokens`)

/** The whole chain from a page to its signature. Linear in the size of the page. Throws `page_too_large`. */
export const analyze = (input: PageInput, options: AnalysisOptions): Analysis => {
  const { url } = input
  const { text, title } = readPage(input.content, url)
  const terms = tokenize(text, options.tokenizer, MAX_TERMS)
  if (terms.length > MAX_TERMS) throw tooManyTokens()
  const tokens = fingerprintTerms(terms, options.hashSeed?.key)
  return {
    url,
    urlKey: url === null ? null : normalizeUrl(url),
    site: siteOf(url, options.siteRule),
    title,
    text,
    terms,
    tokens,
    contentHash: hashTokens(tokens),
    signature: sign(tokens),
  }
}
