import { postedFeature } from './feature-value.ts'

const counterBits = 23
const mostFrequent = 65_536
/** A feature is frequent from this share of the sets on, and not in fewer than so many. */
const leastShare = 0.001
const leastSets = 50

/**
 * Counts in how many sets the features are, for the order of features. Some features share a counter: one of them may
 * then be taken for more frequent than it is, which costs a little and changes no result. 32 MiB.
 */
export class FeatureCounter {
  readonly #counters = new Uint32Array(2 ** counterBits)
  readonly #least: number
  readonly #frequent = new Set<number>()

  /** For so many sets. */
  constructor(sets: number) {
    this.#least = Math.max(leastSets, Math.ceil(leastShare * sets))
  }

  /** Counts the features of a set, as `featureSet` makes them. */
  add(values: Float64Array): void {
    for (let i = 0; i < values.length; i++) {
      const feature = postedFeature(values[i] as number)
      const counter = feature % 2 ** counterBits
      const count = (this.#counters[counter] as number) + 1
      this.#counters[counter] = count
      if (count >= this.#least) this.#frequent.add(feature)
    }
  }

  /** The posted parts of the most frequent features, at most 65,536, by increasing frequency. */
  frequent(): Float64Array {
    const countOf = (feature: number): number => this.#counters[feature % 2 ** counterBits] as number
    const ordered = [...this.#frequent].sort((a, b) => countOf(a) - countOf(b) || a - b)
    return Float64Array.from(ordered.slice(-mostFrequent))
  }
}
