import { simhashBits, supershingleCount } from '../signature/scheme.ts'
import { type Label, type LabelCounts, labelCountsAt, labelIndex, labels } from './label.ts'

/** What the tables look at of a pair. Identical pages have B-similarity 6 and C-similarity 384. */
export type SketchedPair = {
  readonly bSimilarity: number
  readonly cSimilarity: number
  readonly sameSite: boolean
}

/** Which pairs an algorithm returns, or a row of a table is about. */
export type Selection = (pair: SketchedPair) => boolean

const kinds = labels.length + 1
const cValues = simhashBits + 1
const bValues = supershingleCount + 1

/**
 * Counts pairs by B-similarity, C-similarity, site and label. Whatever is asked about thresholds afterwards,
 * each table of the paper among it, is a sum over these 21,560 counters: one pass over the pairs in any
 * order, and memory that does not depend on how many there are.
 */
export class PairTally {
  readonly #counters = new Float64Array(2 * bValues * cValues * kinds)

  /** So many pairs, which may be less than none. Throws a RangeError where a similarity is not one. */
  add({ bSimilarity, cSimilarity, sameSite }: SketchedPair, label: Label | null, pairs = 1): void {
    if (!(bSimilarity >= 0 && bSimilarity < bValues && cSimilarity >= 0 && cSimilarity < cValues))
      throw new RangeError(`No pair has B-similarity ${bSimilarity} and C-similarity ${cSimilarity}`)
    const cell = (Number(sameSite) * bValues + bSimilarity) * cValues + cSimilarity
    const at = cell * kinds + labelIndex(label)
    this.#counters[at] = (this.#counters[at] ?? 0) + pairs
  }

  /** How many of the selected pairs have each label. */
  count(selection: Selection): LabelCounts {
    const sums = new Float64Array(kinds)
    for (const [pair, at] of this.#cells()) {
      if (!selection(pair)) continue
      for (let kind = 0; kind < kinds; kind++)
        sums[kind] = (sums[kind] ?? 0) + (this.#counters[at + kind] ?? 0)
    }
    return labelCountsAt(sums, 0)
  }

  /** The cells that hold a pair, each with its counts. */
  *[Symbol.iterator](): Generator<{ pair: SketchedPair; counts: LabelCounts }> {
    for (const [pair, at] of this.#cells()) {
      const counts = labelCountsAt(this.#counters, at)
      yield { pair, counts }
    }
  }

  /** Cells that are not empty, with the index of their first counter. */
  *#cells(): Generator<[SketchedPair, number]> {
    for (let cell = 0; cell < 2 * bValues * cValues; cell++) {
      const at = cell * kinds
      const counters = this.#counters
      if (!counters[at] && !counters[at + 1] && !counters[at + 2] && !counters[at + 3]) continue
      const pair = {
        sameSite: cell >= bValues * cValues,
        bSimilarity: Math.floor(cell / cValues) % bValues,
        cSimilarity: cell % cValues,
      }
      yield [pair, at]
    }
  }
}
