import type { Bounds } from '../join/bounds.ts'
import type { Features } from '../signature/features.ts'
import type { FeatureOrder } from './feature-order.ts'
import { anyFeature, bucketOf, highOf, lowOf } from './feature-value.ts'

/** Makes the feature sets of a kept text, given in UTF-8. */
export type FeatureSource = (text: Uint8Array) => Readonly<Record<Features, Float64Array>>

export type FeatureOrders = Readonly<Record<Features, FeatureOrder>>

/** Values of postings: `high * 2^32 + low`, see feature-value.ts. */
export type FeatureValues = { readonly highs: Uint32Array; readonly lows: Uint32Array }
export type FeaturePostings = Readonly<Record<Features, FeatureValues>>

/**
 * Says of each place in the order the position of its feature: of features with one posted part the first one, since
 * nobody can tell them apart then.
 */
export const positionsOf = (ordered: Float64Array): Uint32Array => {
  const positions = new Uint32Array(ordered.length)
  for (let i = 1; i < ordered.length; i++)
    positions[i] = ordered[i] === ordered[i - 1] ? (positions[i - 1] as number) : i
  return positions
}

const unknownSet: FeatureValues = {
  highs: Uint32Array.of(highOf(anyFeature)),
  lows: Uint32Array.of(lowOf(anyFeature, 0, 0)),
}

/** Makes the postings of sets: of each the prefix by which it is found from the least threshold on. */
export class FeaturePoster {
  readonly #source: FeatureSource
  readonly #least: Bounds
  readonly #orders: FeatureOrders

  constructor(source: FeatureSource, least: Bounds, orders: FeatureOrders) {
    this.#source = source
    this.#least = least
    this.#orders = orders
  }

  /** Of a set with tokens; the text of one of its members, null where none is kept. */
  postingsOf(text: Uint8Array | null): FeaturePostings {
    if (text === null) return { shingles: unknownSet, tokens: unknownSet }
    const { shingles, tokens } = this.#source(text)
    return { shingles: this.#valuesOf(shingles, 'shingles'), tokens: this.#valuesOf(tokens, 'tokens') }
  }

  #valuesOf(values: Float64Array, features: Features): FeatureValues {
    const size = values.length
    if (size === 0) return unknownSet
    const ordered = this.#orders[features].prefix(values, this.#least.probePrefix(size))
    const positions = positionsOf(ordered)
    const sizeBucket = bucketOf(size)
    const highs = new Uint32Array(ordered.length)
    const lows = new Uint32Array(ordered.length)
    for (let i = 0; i < ordered.length; i++) {
      const feature = ordered[i] as number
      highs[i] = highOf(feature)
      lows[i] = lowOf(feature, sizeBucket, bucketOf(positions[i] as number))
    }
    return { highs, lows }
  }
}
