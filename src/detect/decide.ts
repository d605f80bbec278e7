import { simhashBits, supershingleCount } from '../signature/scheme.ts'

export const algorithms = ['shingling', 'simhash', 'combined', 'site-aware', 'identical'] as const

/**
 * `shingling` is Algorithm B, `simhash` Algorithm C, `combined` the pairs of B that C confirms, `site-aware`
 * the combined algorithm on one site and C across sites, `identical` equality of the token sequences.
 */
export type Algorithm = (typeof algorithms)[number]

export type Thresholds = {
  /** B-similarity that shingling and the combined algorithm need (1 to 6). */
  readonly minSupershingles: number
  /** C-similarity that simhash needs (0 to 384). */
  readonly minAgreeingBits: number
  /** C-similarity that the combined algorithm needs of a B-similar pair (0 to 384). */
  readonly combinedMinAgreeingBits: number
}

/** Source: Henzinger 2006; all three are inclusive. */
export const defaultThresholds: Thresholds = {
  minSupershingles: 2,
  minAgreeingBits: 372,
  combinedMinAgreeingBits: 355,
}

/** What is known about a pair of pages, both of which have tokens: one without resembles nothing. */
export type Evidence = {
  readonly bSimilarity: number
  readonly cSimilarity: number
  readonly sameSite: boolean
  readonly identical: boolean
}

/** Identical pages agree in everything, also where their stored sketches were not looked at. */
const bSimilarityOf = (pair: Evidence): number => (pair.identical ? supershingleCount : pair.bSimilarity)
const cSimilarityOf = (pair: Evidence): number => (pair.identical ? simhashBits : pair.cSimilarity)

/**
 * Whether two pages are near-duplicates under an algorithm; every threshold is the least value that passes.
 *
 * Source: Henzinger 2006.
 */
export const decide = (algorithm: Algorithm, pair: Evidence, thresholds: Thresholds): boolean => {
  switch (algorithm) {
    case 'shingling':
      return bSimilarityOf(pair) >= thresholds.minSupershingles
    case 'simhash':
      return cSimilarityOf(pair) >= thresholds.minAgreeingBits
    case 'combined':
      return (
        bSimilarityOf(pair) >= thresholds.minSupershingles &&
        cSimilarityOf(pair) >= thresholds.combinedMinAgreeingBits
      )
    case 'site-aware':
      return decide(pair.sameSite ? 'combined' : 'simhash', pair, thresholds)
    case 'identical':
      return pair.identical
  }
}

/**
 * The agreeing share (0 to 1) of the sketch that decides: supershingles for shingling and the combined
 * algorithm, bits for simhash; 1 for identical pages.
 */
export const decidingSimilarity = (algorithm: Algorithm, pair: Evidence): number => {
  switch (algorithm) {
    case 'shingling':
    case 'combined':
      return bSimilarityOf(pair) / supershingleCount
    case 'simhash':
      return cSimilarityOf(pair) / simhashBits
    case 'site-aware':
      return decidingSimilarity(pair.sameSite ? 'combined' : 'simhash', pair)
    case 'identical':
      return pair.identical ? 1 : 0
  }
}

/** Which pairs count: all, or those on one site, or those on different sites. */
export type SiteRelation = 'any' | 'same' | 'different'

/** Whether pairs that share supershingles are candidates of an algorithm. */
export const usesSupershingles = (algorithm: Algorithm, site: SiteRelation): boolean =>
  algorithm === 'shingling' ||
  algorithm === 'combined' ||
  (algorithm === 'site-aware' && site !== 'different')

/** Whether pairs that share a simhash band are candidates of an algorithm. */
export const usesBands = (algorithm: string, site: SiteRelation): boolean =>
  algorithm === 'simhash' || (algorithm === 'site-aware' && site !== 'same')

/**
 * Whether a pair shows the resemblance that is asked for (null: none is, and then site-aware wants one common shingle).
 * `value` is null where no text is kept: then it shows no resemblance that was asked for.
 */
export const isResemblanceEnough = (
  value: number | null,
  { minResemblance, algorithm }: { readonly minResemblance: number | null; readonly algorithm: string },
): boolean => {
  if (minResemblance === null) return algorithm !== 'site-aware' || value !== 0
  return minResemblance === 0 || (value !== null && value >= minResemblance)
}
