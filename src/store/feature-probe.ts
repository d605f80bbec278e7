import type { Bounds } from '../join/bounds.ts'
import type { FeatureOrder } from './feature-order.ts'
import { positionsOf } from './feature-postings.ts'
import {
  anyFeature,
  bucketOf,
  greatestOfBucket,
  highOf,
  leastOfBucket,
  lowOf,
  positionBucketOf,
  sizeBucketOf,
} from './feature-value.ts'
import type { SetNumber } from './store.ts'

/** The postings of one feature, of sets of some sizes: values from `low` to `lastLow` under `high`. */
export type FeatureList = {
  readonly high: number
  readonly low: number
  readonly lastLow: number
  /** Of the feature in the set that is searched for. */
  readonly position: number
}

const excluded = -1

/**
 * Prefix, length and positional filter of one search. Sizes and positions are known by their buckets: each bound is
 * that of the count in the bucket which admits most.
 *
 * Source: Xiao et al. 2008, section 4 (PPJoin).
 */
export class FeatureProbe {
  /** The lists to be read, in order. */
  readonly lists: readonly FeatureList[]
  readonly #size: number
  readonly #bounds: Bounds
  /** How many features of the lists read so far a set shares, or `excluded`. */
  readonly #shared = new Map<SetNumber, number>()
  /** What was found out about the last bucket of a size. */
  #sizeBucket = -1
  #prefix = 0
  #minOverlap = 0
  #greatestSize = 0

  /** `values`: the whole feature set that is searched for, not empty. */
  constructor(values: Float64Array, order: FeatureOrder, bounds: Bounds) {
    this.#size = values.length
    this.#bounds = bounds
    const ordered = order.prefix(values, bounds.probePrefix(values.length))
    const positions = positionsOf(ordered)
    const first = bucketOf(bounds.minSize(values.length))
    const last = bucketOf(bounds.maxSize(values.length))
    const lists = Array.from(ordered, (feature, i) => ({
      high: highOf(feature),
      low: lowOf(feature, first, 0),
      lastLow: lowOf(feature, last, bucketOf(Number.POSITIVE_INFINITY)),
      position: positions[i] as number,
    }))
    const any = { high: highOf(anyFeature), low: lowOf(anyFeature, 0, 0), lastLow: 0, position: 0 }
    this.lists = [any, ...lists]
  }

  /** Takes in a posting of a list. */
  meet({ position, lastLow }: FeatureList, low: number, set: SetNumber): void {
    if (lastLow === 0) {
      this.#shared.set(set, Number.POSITIVE_INFINITY)
      return
    }
    const shared = this.#shared.get(set) ?? 0
    if (shared === excluded) return
    const sizeBucket = sizeBucketOf(low)
    if (sizeBucket !== this.#sizeBucket) this.#boundsFor(sizeBucket)
    const otherPosition = leastOfBucket(positionBucketOf(low))
    if (otherPosition >= this.#prefix) return
    const rest = Math.min(this.#size - position, this.#greatestSize - otherPosition)
    this.#shared.set(set, shared + rest < this.#minOverlap ? excluded : shared + 1)
  }

  /** The sets that passed all filters, in increasing order; forgets them. */
  take(): SetNumber[] {
    const sets: SetNumber[] = []
    for (const [set, shared] of this.#shared) if (shared > 0) sets.push(set)
    this.#shared.clear()
    return sets.sort((a, b) => a - b)
  }

  #boundsFor(sizeBucket: number): void {
    this.#sizeBucket = sizeBucket
    const least = leastOfBucket(sizeBucket)
    this.#greatestSize = greatestOfBucket(sizeBucket)
    this.#prefix =
      this.#greatestSize === Number.POSITIVE_INFINITY
        ? this.#greatestSize
        : this.#bounds.probePrefix(this.#greatestSize)
    this.#minOverlap = this.#bounds.minOverlap(this.#size, least)
  }
}
