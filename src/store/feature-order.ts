import { featureLimit, postedFeature } from './feature-value.ts'

/**
 * The order of all features, rare ones first: those that are not known as frequent by value (which is a hash), then
 * the frequent ones by increasing frequency. It holds for all sets that are stored, and so never changes in an epoch.
 *
 * Source: Xiao et al. 2008, section 5 (document frequency ordering).
 */
export class FeatureOrder {
  readonly #frequent: Float64Array
  readonly #ranks = new Map<number, number>()

  /** Posted features in order of increasing frequency. */
  constructor(frequent: Float64Array) {
    this.#frequent = frequent
    for (const [rank, feature] of frequent.entries()) this.#ranks.set(feature, rank)
  }

  /** The first posted features of a set in this order; `values` as `featureSet` makes them. O(n log n). */
  prefix(values: Float64Array, length: number): Float64Array {
    if (this.#frequent.length === 0) return values.subarray(0, Math.max(0, length)).map(postedFeature)
    const keys = new Float64Array(values.length)
    for (let i = 0; i < values.length; i++) {
      const feature = postedFeature(values[i] as number)
      const rank = this.#ranks.get(feature)
      keys[i] = rank === undefined ? feature : featureLimit + rank
    }
    const first = keys.sort().subarray(0, Math.max(0, length))
    return first.map((key) => (key < featureLimit ? key : (this.#frequent[key - featureLimit] as number)))
  }
}
