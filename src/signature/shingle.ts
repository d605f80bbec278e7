import { mix32, rotateLeft } from './mix.ts'
import type { TokenFingerprints } from './signature.ts'

/** Fingerprints of shingles, in order of their first token: shingle i is `high[i] * 2^32 + low[i]`. */
export type ShingleFingerprints = { readonly low: Uint32Array; readonly high: Uint32Array }

/**
 * One 64-bit fingerprint for each window of k tokens; the sequence is not wrapped. n tokens give n - k + 1
 * shingles, 0 < n < k tokens give one shingle that is the whole sequence, no token gives none. The number of
 * tokens in the window is hashed too, so that a short page does not meet the full shingles of others.
 *
 * Two lanes of 32 bits take in the low and the high halves of the tokens. Each window is hashed on its own,
 * without rolling: O(n k), but neighbouring windows can be computed side by side.
 *
 * Source: Henzinger 2006, Algorithm B, footnote 1. Differs: not Rabin fingerprints; what happens to
 * pages shorter than a shingle, which the paper leaves open.
 */
export const shingles = (tokens: TokenFingerprints, k: number): ShingleFingerprints => {
  const { low: tokenLow, high: tokenHigh } = tokens
  const size = Math.min(k, tokenLow.length)
  const count = size === 0 ? 0 : tokenLow.length - size + 1
  const low = new Uint32Array(count)
  const high = new Uint32Array(count)
  const startA = mix32(0x73686c6f + size)
  const startB = mix32(0x73686869 + size)
  for (let i = 0; i < count; i++) {
    let a = startA
    let b = startB
    for (let j = i; j < i + size; j++) {
      a = Math.imul(rotateLeft(a, 13) ^ (tokenLow[j] as number), 0x9e3779b1)
      b = Math.imul(rotateLeft(b, 17) ^ (tokenHigh[j] as number), 0x85ebca77)
    }
    // Three rounds of a Feistel network: a bijection of the 64 bits, and the least number of rounds after
    // which every bit of both lanes depends on every bit of both.
    a ^= mix32(b ^ 0x243f6a88)
    b ^= mix32(a ^ 0x85a308d3)
    a ^= mix32(b ^ 0x13198a2e)
    low[i] = a
    high[i] = b
  }
  return { low, high }
}

/**
 * The set of shingles, for the exact resemblance: distinct values in increasing order, each the low 53 bits of
 * a fingerprint, hence an integer that a number holds exactly. That two of n different shingles coincide has
 * probability n^2 / 2^54, which is 6e-5 for a million. O(n (k + log n)).
 */
export const shingleSet = (tokens: TokenFingerprints, k: number): Float64Array => {
  const { low, high } = shingles(tokens, k)
  const values = new Float64Array(low.length)
  for (let i = 0; i < values.length; i++) {
    values[i] = ((high[i] as number) & 0x1fffff) * 0x100000000 + (low[i] as number)
  }
  values.sort()
  let distinct = 0
  for (let i = 0; i < values.length; i++) {
    if (i === 0 || values[i] !== values[i - 1]) values[distinct++] = values[i] as number
  }
  return values.slice(0, distinct)
}
