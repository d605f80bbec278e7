import { keysOf } from './mix.ts'
import { minvalueCount } from './scheme.ts'
import type { ShingleFingerprints } from './shingle.ts'

/** Odd, so that a multiplication by one of them is a bijection of the 32-bit integers. */
const multipliers = keysOf(0x6d696e76, minvalueCount).map((key) => key | 1)

const minvaluesInPass = 7

/**
 * The 84 minvalues of a page: minvalue j is the least value of `h_j(shingle) = low * multiplier_j xor high`
 * (mod 2^32, unsigned) over all shingles. Two pages agree in one with probability equal to their resemblance.
 * Repeated shingles change nothing. Without any shingle all are 2^32 - 1. O(84 n).
 *
 * The family is this cheap because `low` and `high` are already mixed through and through; multiplied by 84
 * different numbers, the high bits of `low` (which decide about the least) order the shingles in 84 unrelated
 * ways. Bare `high xor key_j` would not: its orders are correlated.
 *
 * Source: Henzinger 2006, Algorithm B, step 2. Differs: the functions are ours.
 */
export const minvalues = (shingles: ShingleFingerprints): Uint32Array => {
  const minima = new Uint32Array(minvalueCount)
  for (let first = 0; first < minvalueCount; first += minvaluesInPass) minimizeSeven(shingles, first, minima)
  return minima
}

type Seven = readonly [number, number, number, number, number, number, number]

/**
 * Seven minima at a time stay in registers. The sign bit is flipped on the way in and on the way out, so that
 * signed comparison, which needs no conversion, orders the values as unsigned. A value is computed once more in
 * the rare case that it is the least so far, instead of being kept in a register of its own.
 */
const minimizeSeven = (shingles: ShingleFingerprints, first: number, minima: Uint32Array): void => {
  const { low, high } = shingles
  const [a0, a1, a2, a3, a4, a5, a6] = [
    ...multipliers.subarray(first, first + minvaluesInPass),
  ] as unknown as Seven
  let m0 = 0x7fffffff
  let m1 = m0
  let m2 = m0
  let m3 = m0
  let m4 = m0
  let m5 = m0
  let m6 = m0
  for (let i = 0; i < low.length; i++) {
    const x = low[i] as number
    const y = (high[i] as number) ^ 0x80000000
    if ((Math.imul(x, a0) ^ y) < m0) m0 = Math.imul(x, a0) ^ y
    if ((Math.imul(x, a1) ^ y) < m1) m1 = Math.imul(x, a1) ^ y
    if ((Math.imul(x, a2) ^ y) < m2) m2 = Math.imul(x, a2) ^ y
    if ((Math.imul(x, a3) ^ y) < m3) m3 = Math.imul(x, a3) ^ y
    if ((Math.imul(x, a4) ^ y) < m4) m4 = Math.imul(x, a4) ^ y
    if ((Math.imul(x, a5) ^ y) < m5) m5 = Math.imul(x, a5) ^ y
    if ((Math.imul(x, a6) ^ y) < m6) m6 = Math.imul(x, a6) ^ y
  }
  minima.set([m0, m1, m2, m3, m4, m5, m6], first)
  for (let j = first; j < first + minvaluesInPass; j++) minima[j] = (minima[j] as number) ^ 0x80000000
}
