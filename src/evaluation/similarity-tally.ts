import {
  addCounts,
  type Label,
  type LabelCounts,
  labelCountsAt,
  labelIndex,
  labels,
  noCounts,
} from './label.ts'

const kinds = labels.length + 1
export const similaritySteps = 100

/** Counts pairs by a similarity from 0 to 1 in steps of 0.01, site and label. Memory does not grow. */
export class SimilarityTally {
  readonly #counters = new Float64Array(2 * (similaritySteps + 1) * kinds)

  /** So many pairs, which may be less than none. Throws a RangeError where the similarity does not lie between 0 and 1. */
  add(similarity: number, sameSite: boolean, label: Label | null, pairs = 1): void {
    if (!(similarity >= 0 && similarity <= 1)) throw new RangeError(`No similarity is ${similarity}`)
    // 0.29 * 100 is less than 29 in floating point; a similarity of just 0.29 belongs to that step.
    const step = Math.floor(similarity * similaritySteps + 1e-9)
    const at = (2 * step + Number(sameSite)) * kinds + labelIndex(label)
    this.#counters[at] = (this.#counters[at] ?? 0) + pairs
  }

  /** Counts of the pairs with `from <= similarity * 100 < to`, on one site, on different ones or (null) on any. */
  count(from: number, to: number, sameSite: boolean | null = null): LabelCounts {
    let sum = noCounts
    for (let step = from; step < Math.min(to, similaritySteps + 1); step++)
      for (const side of [0, 1])
        if (sameSite === null || Number(sameSite) === side)
          sum = addCounts(sum, labelCountsAt(this.#counters, (2 * step + side) * kinds))
    return sum
  }
}
