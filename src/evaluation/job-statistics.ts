import { supershingleCount } from '../signature/scheme.ts'
import { type DegreeDistribution, degreeDistribution } from './degrees.ts'
import { agreeingBitsRanges } from './job-evaluation.ts'
import { judgedOf, type LabelCounts } from './label.ts'
import type { PairTally, Selection, SketchedPair } from './pair-tally.ts'
import type { DegreeCounts } from './power-law.ts'
import { type Proportion, proportion } from './precision.ts'

/** A mean with what it was taken over; null for an empty sample. */
type Mean = { readonly value: number | null; readonly sampleSize: number }

export type JobStatistics = {
  readonly pairs: number
  readonly sameSite: Proportion
  /** Pairs by B-similarity (Table 1) with their mean C-similarity (Table 9). */
  readonly bySupershingles: readonly {
    readonly bSimilarity: number
    readonly share: Proportion
    readonly sameSite: Proportion
    readonly meanAgreeingBits: Mean
  }[]
  /** Pairs by range of C-similarity with their mean B-similarity (Table 10), and by B-similarity 0 to 6. */
  readonly byAgreeingBits: readonly {
    readonly from: number
    readonly to: number
    readonly share: Proportion
    readonly meanSupershingles: Mean
    readonly pairsBySupershingles: readonly number[]
  }[]
  /** The C-similarity histogram, each value that occurs with its pairs by B-similarity 0 to 6 (Figure 5). */
  readonly agreeingBits: readonly {
    readonly cSimilarity: number
    readonly pairs: number
    readonly pairsBySupershingles: readonly number[]
  }[]
  readonly degrees: DegreeDistribution
}

/**
 * What the pairs of a join look like, without judgements: Tables 1, 9 and 10, Figures 1, 3 and 5.
 *
 * Source: Henzinger 2006, section 3.
 */
export const describeJob = (tally: PairTally, degrees: DegreeCounts): JobStatistics => {
  const cells = [...tally].map(({ pair, counts }) => ({ pair, pairs: allOf(counts) }))
  const count = (selection: Selection): number => sumOf(cells, selection, () => 1)
  const mean = (selection: Selection, value: (pair: SketchedPair) => number): Mean => {
    const sampleSize = count(selection)
    return { value: sampleSize === 0 ? null : sumOf(cells, selection, value) / sampleSize, sampleSize }
  }
  const bySupershingles = (selection: Selection): number[] =>
    Array.from({ length: supershingleCount + 1 }, (_, b) =>
      count((pair) => pair.bSimilarity === b && selection(pair)),
    )
  const pairs = count(() => true)
  const cValues = [...new Set(cells.map(({ pair }) => pair.cSimilarity))].sort((x, y) => x - y)
  return {
    pairs,
    sameSite: proportion(
      count((pair) => pair.sameSite),
      pairs,
    ),
    bySupershingles: Array.from({ length: supershingleCount + 1 }, (_, bSimilarity) => {
      const selection: Selection = (pair) => pair.bSimilarity === bSimilarity
      return {
        bSimilarity,
        share: proportion(count(selection), pairs),
        sameSite: proportion(
          count((pair) => selection(pair) && pair.sameSite),
          count(selection),
        ),
        meanAgreeingBits: mean(selection, (pair) => pair.cSimilarity),
      }
    }).filter(({ meanAgreeingBits }) => meanAgreeingBits.sampleSize > 0),
    byAgreeingBits: agreeingBitsRanges
      .map(({ from, to }) => {
        const selection: Selection = (pair) => pair.cSimilarity >= from && pair.cSimilarity <= to
        return {
          from,
          to,
          share: proportion(count(selection), pairs),
          meanSupershingles: mean(selection, (pair) => pair.bSimilarity),
          pairsBySupershingles: bySupershingles(selection),
        }
      })
      .filter(({ meanSupershingles }) => meanSupershingles.sampleSize > 0),
    agreeingBits: cValues.map((cSimilarity) => {
      const pairsBySupershingles = bySupershingles((pair) => pair.cSimilarity === cSimilarity)
      return { cSimilarity, pairs: pairsBySupershingles.reduce((x, y) => x + y, 0), pairsBySupershingles }
    }),
    degrees: degreeDistribution(degrees),
  }
}

type Cell = { readonly pair: SketchedPair; readonly pairs: number }

const allOf = (counts: LabelCounts): number => judgedOf(counts) + counts.unjudged

const sumOf = (cells: readonly Cell[], selection: Selection, value: (pair: SketchedPair) => number): number =>
  cells.reduce((sum, { pair, pairs }) => (selection(pair) ? sum + pairs * value(pair) : sum), 0)
