import { type Algorithm, decide, defaultThresholds, type Thresholds } from '../detect/decide.ts'
import { simhashBits, supershingleCount } from '../signature/scheme.ts'
import type { PairTally, Selection } from './pair-tally.ts'
import { intervalMethod, type Precision, type Proportion, precisionOf, proportion } from './precision.ts'
import { type SimilarityTally, similaritySteps } from './similarity-tally.ts'
import type { TermDifferences } from './term-differences.ts'

/** One row a place: what all pairs, those of one site and those across sites give. */
export type BySite<Row> = { readonly all: Row; readonly sameSite: Row; readonly differentSites: Row }

export const bySite = <Row>(row: (place: Selection) => Row): BySite<Row> => ({
  all: row(() => true),
  sameSite: row((pair) => pair.sameSite),
  differentSites: row((pair) => !pair.sameSite),
})

type CutOff = { readonly minAgreeingBits: number } & Precision & {
    /** R: correct pairs left at this cut-off over the correct pairs without one. */
    readonly correctKept: Proportion
  }

export type JobEvaluation = {
  readonly interval: string
  readonly precision: BySite<Precision>
  /** Tables 2 and 5: all similarity values that occur. */
  readonly bySupershingles: readonly ({ readonly bSimilarity: number } & Precision)[]
  readonly byAgreeingBits: readonly ({ readonly from: number; readonly to: number } & Precision)[]
  /** By the similarity of the join's own measure, in steps of 0.05; `to` does not belong to the step, but for 1. */
  readonly bySimilarity: readonly ({ readonly from: number; readonly to: number } & Precision)[]
  readonly cutOffs: readonly CutOff[]
  readonly termDifferences: TermDifferences
}

/** The C-similarity ranges of Tables 5 and 10, and those below the threshold that other joins return. */
export const agreeingBitsRanges = [
  { from: 382, to: simhashBits },
  { from: 379, to: 381 },
  { from: 376, to: 378 },
  { from: 372, to: 375 },
  { from: 355, to: 371 },
  { from: 340, to: 354 },
  { from: 0, to: 339 },
] as const

/** Least C-similarities of Figures 6 and 7. */
const lowestCutOff = 320
const similarityStep = 5

/**
 * What the judgements say of the pairs of a join: Tables 2, 5, 8 and 11, Figures 2, 4, 6 and 7. Feed the
 * tallies with the pairs of the join in any order, each with its label or null; term differences with the judged pairs.
 *
 * Source: Henzinger 2006, section 3.1.
 */
export const evaluateJob = (parts: {
  pairs: PairTally
  similarities: SimilarityTally
  termDifferences: TermDifferences
}): JobEvaluation => {
  const { pairs, similarities, termDifferences } = parts
  return {
    interval: intervalMethod,
    precision: bySite((place) => precisionOf(pairs.count(place))),
    bySupershingles: bySupershingles(pairs),
    byAgreeingBits: byAgreeingBits(pairs),
    bySimilarity: bySimilarity(similarities),
    cutOffs: cutOffs(pairs),
    termDifferences,
  }
}

const occurs = ({ pairs }: Precision): boolean => pairs > 0

/** Table 2. */
const bySupershingles = (pairs: PairTally) =>
  Array.from({ length: supershingleCount + 1 }, (_, bSimilarity) => ({
    bSimilarity,
    ...precisionOf(pairs.count((pair) => pair.bSimilarity === bSimilarity)),
  })).filter(occurs)

/** Table 5. */
const byAgreeingBits = (pairs: PairTally) =>
  agreeingBitsRanges
    .map(({ from, to }) => ({
      from,
      to,
      ...precisionOf(pairs.count((pair) => pair.cSimilarity >= from && pair.cSimilarity <= to)),
    }))
    .filter(occurs)

const bySimilarity = (similarities: SimilarityTally) =>
  Array.from({ length: Math.ceil(similaritySteps / similarityStep) }, (_, step) => {
    const from = step * similarityStep
    const to = from + similarityStep
    const counts = similarities.count(from, to === similaritySteps ? Number.POSITIVE_INFINITY : to)
    return { from: from / similaritySteps, to: to / similaritySteps, ...precisionOf(counts) }
  }).filter(occurs)

/** Precision and R for every cut-off of C-similarity from 320 up: Table 11, Figures 6 and 7 for a join by shingling. */
const cutOffs = (pairs: PairTally): CutOff[] => {
  const without = pairs.count(() => true).correct
  return Array.from({ length: simhashBits - lowestCutOff + 1 }, (_, i) => {
    const minAgreeingBits = lowestCutOff + i
    const counts = pairs.count((pair) => pair.cSimilarity >= minAgreeingBits)
    return { minAgreeingBits, ...precisionOf(counts), correctKept: proportion(counts.correct, without) }
  })
}

/** The pairs that an algorithm of the paper returns; `identical` cannot be told from the sketches and selects none. */
export const selectionOf =
  (algorithm: Algorithm, thresholds: Thresholds = defaultThresholds): Selection =>
  (pair) =>
    decide(algorithm, { ...pair, identical: false }, thresholds)
