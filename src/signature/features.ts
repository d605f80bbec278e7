import { mix32 } from './mix.ts'
import { k } from './scheme.ts'
import { shingleSet } from './shingle.ts'
import type { TokenFingerprints } from './signature.ts'

/** What exact set similarity compares: the set of shingles, or the bag of tokens. */
export type Features = 'shingles' | 'tokens'

/**
 * The features of a page as a set: distinct values in increasing order, each an integer below 2^53 made from a
 * fingerprint (see `shingleSet` for how seldom two features coincide).
 */
export const featureSet = (tokens: TokenFingerprints, features: Features): Float64Array =>
  features === 'shingles' ? shingleSet(tokens, k) : tokenBag(tokens)

/**
 * The bag of tokens as a set: the i-th occurrence of a token is an element of its own. O(n log n).
 *
 * Source: Xiao et al. 2008, section 2.
 */
const tokenBag = ({ low, high }: TokenFingerprints): Float64Array => {
  const values = new Float64Array(low.length)
  for (let i = 0; i < values.length; i++) values[i] = low53(high[i] as number, low[i] as number)
  values.sort()
  let occurrence = 0
  let first = -1
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    occurrence = value === first ? occurrence + 1 : 0
    first = value
    if (occurrence > 0) values[i] = occurrenceOf(value, occurrence)
  }
  return values.sort()
}

/** The low 53 bits. */
const low53 = (high: number, low: number): number => (high & 0x1fffff) * 0x100000000 + low

/** The value of a later occurrence: another one for each count. */
const occurrenceOf = (value: number, count: number): number => {
  const low = mix32((value >>> 0) ^ Math.imul(count, 0x9e3779b1))
  const high = mix32(Math.floor(value / 0x100000000) ^ low ^ 0x62616721)
  return low53(high, mix32(low ^ high) >>> 0)
}
