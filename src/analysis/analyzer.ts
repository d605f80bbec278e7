import { DittographError } from '../errors.ts'
import { createKernel, type Kernel, type KernelInput } from '../kernel/kernel.ts'
import { declaredEncoding } from '../page/charset.ts'
import { charactersOf, type PageContent } from '../page/page.ts'
import { siteOfHost } from '../page/site.ts'
import { addressOf } from '../page/url.ts'
import { hashTokens } from '../signature/fingerprint.ts'
import { sign } from '../signature/sign.ts'
import type { Signature, TokenFingerprints } from '../signature/signature.ts'
import { type AnalysisOptions, analyze, analyzeText, type PageInput, tooManyTokens } from './analyze.ts'

/** What is stored of a page. */
export type Sketch = {
  readonly url: string | null
  readonly urlKey: string | null
  readonly site: string | null
  readonly title: string | null
  /** The page text (see page/text.ts) in UTF-8; the caller's own. */
  readonly text: Uint8Array
  readonly tokenCount: number
  readonly contentHash: Uint8Array
  readonly signature: Signature | null
}

/**
 * The chain from a page to its signature at the speed of the kernel, with the results of `analyze`. Where there is
 * no kernel, or a page is too large for it, `analyze` itself does the work. One analyzer serves one thread.
 */
export class Analyzer {
  readonly options: AnalysisOptions
  readonly #kernel: Kernel | null

  constructor(options: AnalysisOptions, kernel: Kernel | null = createKernel(options.hashSeed?.key)) {
    this.options = options
    this.#kernel = kernel
  }

  /** Throws `page_too_large`, and `invalid_body` where the page is said to be the inside of a JSON string and is not. */
  sketch(input: PageInput): Sketch {
    return this.#sketch(input) ?? this.#readably(input)
  }

  /** The same, with the fingerprints of the page's tokens. */
  sketchWithTokens(input: PageInput): Sketch & { readonly tokens: TokenFingerprints } {
    const sketch = this.#sketch(input)
    return sketch && this.#kernel ? { ...sketch, tokens: this.#kernel.tokens() } : this.#readably(input)
  }

  /** Fingerprints of the tokens of a page text, as it was kept: in UTF-8. */
  tokensOfText(pageText: Uint8Array): TokenFingerprints {
    return this.#readInKernel(pageText)?.tokens() ?? this.#tokensReadably(pageText)
  }

  /** What follows from a page text as it was kept, in UTF-8, and from the URL: the same as from the page itself. */
  sketchOfText(url: string | null, pageText: Uint8Array): Omit<Sketch, 'url' | 'title' | 'text'> {
    const kernel = this.#readInKernel(pageText)
    const tokens = kernel?.tokens() ?? this.#tokensReadably(pageText)
    const sketches = kernel?.sign(tokens) ?? { contentHash: hashTokens(tokens), signature: sign(tokens) }
    const { urlKey, host } = addressOf(url)
    const site = host === null ? null : siteOfHost(host, this.options.siteRule)
    return { urlKey, site, tokenCount: tokens.low.length, ...sketches }
  }

  /** The kernel, which has read the page text; null where it cannot. */
  #readInKernel(pageText: Uint8Array): Kernel | null {
    if (this.#kernel === null) return null
    return 'fault' in this.#kernel.analyzeText(pageText, this.options.tokenizer) ? null : this.#kernel
  }

  #tokensReadably(pageText: Uint8Array): TokenFingerprints {
    return analyzeText(Buffer.from(pageText).toString(), this.options).tokens
  }

  #sketch({ url, content }: PageInput): Sketch | null {
    if (this.#kernel === null) return null
    let reading = this.#kernel.analyze(this.#kernelInput(content, url))
    if ('fault' in reading && (reading.fault === 'invalid-utf8' || reading.fault === 'invalid-json')) {
      if (!('contentType' in content)) throw notJson()
      // Not UTF-8, or not all of it: what can be read of it can be written as UTF-8.
      reading = this.#kernel.analyze(
        this.#kernelInput({ kind: content.kind, characters: charactersOf(content) }, url),
      )
    }
    if ('fault' in reading) {
      if (reading.fault === 'too-many-tokens') throw tooManyTokens()
      return null
    }
    const { textBytes, title, tokenCount, contentHash, signature } = reading
    const { urlKey, host } = addressOf(url)
    return {
      url,
      urlKey,
      site: host === null ? null : siteOfHost(host, this.options.siteRule),
      title,
      text: Buffer.from(textBytes),
      tokenCount,
      contentHash,
      signature,
    }
  }

  #kernelInput(content: PageContent, url: string | null): KernelInput {
    const { kind } = content
    const { tokenizer } = this.options
    if ('form' in content) return { bytes: content.bytes, form: 'json', kind, url, tokenizer }
    return { bytes: utf8Of(content), form: 'utf8', kind, url, tokenizer }
  }

  #readably(input: PageInput): Sketch & { readonly tokens: TokenFingerprints } {
    try {
      const { terms, text, ...analysis } = analyze(input, this.options)
      return { ...analysis, text: encoder.encode(text), tokenCount: terms.length }
    } catch (error) {
      if ('form' in input.content && (error instanceof SyntaxError || error instanceof TypeError))
        throw notJson()
      throw error
    }
  }
}

const encoder = new TextEncoder()

const notJson = (): DittographError =>
  new DittographError('invalid_body', 'The page is no valid JSON string in UTF-8')

/** The bytes themselves where they say that they are UTF-8, or do not say what they are. */
const utf8Of = (content: Exclude<PageContent, { form: 'json' }>): Uint8Array => {
  if ('characters' in content) return encoder.encode(content.characters)
  const { bytes, contentType, kind } = content
  const declared = declaredEncoding(bytes, contentType, kind)
  if (declared !== null && declared !== 'UTF-8') return encoder.encode(charactersOf(content))
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return hasMark ? bytes.subarray(3) : bytes
}
