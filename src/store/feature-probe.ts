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

const excluded = Number.POSITIVE_INFINITY

/**
 * Prefix, length, positional and count filter of one search. Postings are those of the longer prefix for the least
 * threshold of the index, so that two sets share not one but many of them where they reach a higher threshold: what is
 * shared and not posted lies behind the prefix of the one or of the other. All but one of so many lists may be
 * left unread, in each part of the index the longest ones there.
 *
 * Sizes and positions are known by their buckets: each bound is that of the count in the bucket which admits most.
 *
 * Source: Xiao et al. 2008, section 4 (PPJoin); Li, Lu and Lu 2008 for leaving out long lists (DivideSkip).
 */
export class FeatureProbe {
  /** All lists, in order. The first one is to be read always. */
  readonly lists: readonly FeatureList[]
  /** How many of the lists may be left unread. */
  readonly spare: number
  readonly #size: number
  readonly #prefix: number
  readonly #bounds: Bounds
  readonly #least: Bounds
  #unread = 0
  /** How many shared features a set still lacks to pass, or `excluded`. */
  readonly #lacking = new Map<SetNumber, number>()
  /** What was found out about the last bucket of a size. */
  #sizeBucket = -1
  #needed = 0
  #minOverlap = 0
  #greatestSize = 0

  /** `values`: the whole feature set that is searched for, not empty; `least`: bounds that postings are made for. */
  constructor(values: Float64Array, order: FeatureOrder, bounds: Bounds, least: Bounds) {
    this.#size = values.length
    this.#bounds = bounds
    this.#least = least
    const ordered = order.prefix(values, least.probePrefix(values.length))
    this.#prefix = ordered.length
    const positions = positionsOf(ordered)
    const [minSize, maxSize] = [bounds.minSize(values.length), bounds.maxSize(values.length)]
    const [first, last] = [bucketOf(minSize), bucketOf(maxSize)]
    const lists = Array.from(ordered, (feature, i) => ({
      high: highOf(feature),
      low: lowOf(feature, first, 0),
      lastLow: lowOf(feature, last, bucketOf(Number.POSITIVE_INFINITY)),
      position: positions[i] as number,
    }))
    const any = { high: highOf(anyFeature), low: lowOf(anyFeature, 0, 0), lastLow: 0, position: 0 }
    this.lists = [any, ...lists]
    // But for rounding, what is needed is a concave function of the size: least at one of the ends, and 2 below at most.
    const needed = Math.min(this.#neededOf(minSize, minSize), this.#neededOf(maxSize, maxSize)) - 2
    this.spare = Math.max(0, Math.min(needed - 1, lists.length))
  }

  /** To be called before the postings of a part: so many lists are left unread, at most `spare`. */
  begin(unread: number): void {
    this.#unread = unread
    this.#lacking.clear()
    this.#sizeBucket = -1
  }

  /** Takes in a posting of a list; lists come in order. */
  meet({ position, lastLow }: FeatureList, low: number, set: SetNumber): void {
    if (lastLow === 0) {
      this.#lacking.set(set, Number.NEGATIVE_INFINITY)
      return
    }
    const known = this.#lacking.get(set)
    if (known === excluded) return
    const sizeBucket = sizeBucketOf(low)
    if (sizeBucket !== this.#sizeBucket) this.#boundsFor(sizeBucket)
    const lacking = known ?? this.#needed
    const sharedBefore = this.#needed - lacking
    const rest = Math.min(this.#size - position, this.#greatestSize - leastOfBucket(positionBucketOf(low)))
    this.#lacking.set(set, sharedBefore + this.#unread + rest < this.#minOverlap ? excluded : lacking - 1)
  }

  /** The sets that passed all filters, in increasing order. */
  take(): SetNumber[] {
    const sets: SetNumber[] = []
    for (const [set, lacking] of this.#lacking) if (lacking <= this.#unread) sets.push(set)
    return sets.sort((a, b) => a - b)
  }

  /** How many posted features are shared with a set that reaches the threshold, of a size between these. */
  #neededOf(leastSize: number, greatestSize: number): number {
    const behindPrefix = Math.max(this.#size - this.#prefix, this.#least.minSize(greatestSize) - 1)
    return this.#bounds.minOverlap(this.#size, leastSize) - behindPrefix
  }

  #boundsFor(sizeBucket: number): void {
    this.#sizeBucket = sizeBucket
    const least = leastOfBucket(sizeBucket)
    this.#greatestSize = greatestOfBucket(sizeBucket)
    this.#minOverlap = this.#bounds.minOverlap(this.#size, least)
    this.#needed =
      this.#greatestSize === Number.POSITIVE_INFINITY ? 1 : this.#neededOf(least, this.#greatestSize)
  }
}
