import { resemblance } from '../detect/resemblance.ts'
import { bSimilarity, cSimilarity } from '../detect/similarity.ts'
import { sameSite, siteOf } from '../page/site.ts'
import { hostOf } from '../page/url.ts'
import { k } from '../signature/scheme.ts'
import { shingleSet } from '../signature/shingle.ts'
import type { Signature, TokenFingerprints } from '../signature/signature.ts'
import { compareAll } from './all-pairs.ts'
import type { LabelledPair } from './labelled-pairs.ts'
import type { SketchedPair } from './pair-tally.ts'
import { tokensOf, type Vocabulary } from './vocabulary.ts'

/** A page as the service stored it. */
export type EvaluatedPage = {
  readonly id: string
  readonly url: string | null
  readonly contentHash: string
  /** null for a page without tokens. */
  readonly signature: Signature | null
  /** Its terms by their numbers in the vocabulary. */
  readonly terms: Int32Array
}

/** What counts as one site: the rules of the service, or the host. */
export const siteRules = ['public-suffix', 'dots', 'host'] as const
export type EvaluationSiteRule = (typeof siteRules)[number]

/** A labelled pair of pages that exist, by their positions. */
export type FoundPair = { readonly i: number; readonly j: number; readonly pair: LabelledPair }

/** The pages by position, with what is computed of them when it is needed. */
export class Collection {
  readonly pages: readonly EvaluatedPage[]
  readonly #vocabulary: Vocabulary
  readonly fingerprints: TokenFingerprints
  readonly #shingles = new Map<number, Float64Array>()

  constructor(pages: readonly EvaluatedPage[], vocabulary: Vocabulary) {
    this.pages = pages
    this.#vocabulary = vocabulary
    this.fingerprints = vocabulary.fingerprints()
  }

  find(labelledPairs: readonly LabelledPair[]): FoundPair[] {
    const positions = new Map(this.pages.map(({ id }, i) => [id, i]))
    return labelledPairs.flatMap((pair) => {
      const [a, b] = [positions.get(pair.a), positions.get(pair.b)]
      return a === undefined || b === undefined ? [] : [{ i: Math.min(a, b), j: Math.max(a, b), pair }]
    })
  }

  sites(rule: EvaluationSiteRule): (string | null)[] {
    return this.pages.map(({ url }) => (rule === 'host' ? hostOf(url) : siteOf(url, rule)))
  }

  /** Visits all pairs, lower position first; a page without tokens resembles nothing: similarities 0. */
  compareAll(visit: (i: number, j: number, bSimilarity: number, cSimilarity: number) => void): void {
    const signed: number[] = []
    const signatures: Signature[] = []
    this.pages.forEach(({ signature }, i) => {
      if (signature === null) return
      signed.push(i)
      signatures.push(signature)
    })
    compareAll(signatures, (i, j, b, c) => visit(signed[i] as number, signed[j] as number, b, c))
    this.pages.forEach((page, i) => {
      this.pages.forEach((other, j) => {
        if (i < j && (page.signature === null || other.signature === null)) visit(i, j, 0, 0)
      })
    })
  }

  terms(i: number): string[] {
    return this.#vocabulary.decode(this.#numbers(i))
  }

  tokens(i: number, fingerprints: TokenFingerprints): TokenFingerprints {
    return tokensOf(this.#numbers(i), fingerprints)
  }

  length(i: number): number {
    return this.#numbers(i).length
  }

  shingles(i: number): Float64Array {
    const known = this.#shingles.get(i) ?? shingleSet(this.tokens(i, this.fingerprints), k)
    this.#shingles.set(i, known)
    return known
  }

  commonShingles(i: number, j: number): number {
    return resemblance(this.shingles(i), this.shingles(j)).intersection
  }

  describe() {
    const { pages } = this
    const lengths = pages.map((_, i) => this.length(i)).sort((x, y) => x - y)
    return {
      pages: pages.length,
      pagesWithoutTokens: pages.filter(({ signature }) => signature === null).length,
      identitySets: new Set(pages.map(({ contentHash }) => contentHash)).size,
      medianTokens: lengths[Math.floor(lengths.length / 2)] ?? 0,
      pairsCompared: (pages.length * (pages.length - 1)) / 2,
    }
  }

  #numbers(i: number): Int32Array {
    return this.pages[i]?.terms ?? new Int32Array(0)
  }
}

/** What the sketches say of a pair; a page without tokens resembles nothing: similarities 0. */
export const sketchPair = (
  { i, j }: FoundPair,
  signatures: readonly (Signature | null)[],
  sites: readonly (string | null)[],
): SketchedPair => {
  const [a, b] = [signatures[i] ?? null, signatures[j] ?? null]
  const signed = a !== null && b !== null
  return {
    bSimilarity: signed ? bSimilarity(a, b) : 0,
    cSimilarity: signed ? cSimilarity(a, b) : 0,
    sameSite: sameSite(sites[i] ?? null, sites[j] ?? null),
  }
}
