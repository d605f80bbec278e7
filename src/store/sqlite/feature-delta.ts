import type { Features } from '../../signature/features.ts'
import type { FeaturePostings } from '../feature-postings.ts'
import { featureMask } from '../feature-value.ts'
import type { PostingColumns } from '../posting-columns.ts'
import type { SetNumber } from '../store.ts'
import { PostingLists } from './posting-lists.ts'

/** Feature postings of the sets that are in no run yet. Derived from kept texts, so nothing is lost with it. */
export class FeatureDelta {
  readonly #gone = new Set<SetNumber>()
  readonly #lists: Readonly<Record<Features, PostingLists>> = {
    shingles: new PostingLists(featureMask),
    tokens: new PostingLists(featureMask),
  }

  /** Postings of the kind of feature that has more. */
  get count(): number {
    return Math.max(this.#lists.shingles.count, this.#lists.tokens.count)
  }

  /** Numbers must come in increasing order. */
  add(set: SetNumber, postings: FeaturePostings): void {
    for (const features of ['shingles', 'tokens'] as const) {
      const { highs, lows } = postings[features]
      for (let i = 0; i < highs.length; i++)
        this.#lists[features].add(highs[i] as number, lows[i] as number, set)
    }
  }

  markGone(set: SetNumber): void {
    this.#gone.add(set)
  }

  /** As `readRange` of the runs: the postings of a list with values in a range, by number. */
  readRange(
    features: Features,
    { high, low, lastLow }: { readonly high: number; readonly low: number; readonly lastLow: number },
    after: SetNumber,
    visit: (low: number, set: SetNumber) => void,
  ): number {
    let count = 0
    this.#lists[features].forEach(high, low, (otherLow, set) => {
      count++
      if (set > after && otherLow >= low && otherLow <= lastLow && !this.#gone.has(set)) visit(otherLow, set)
    })
    return count
  }

  /** The postings that are not gone, by number. */
  postings(features: Features): PostingColumns {
    return this.#lists[features].columnsWithout(this.#gone)
  }
}
