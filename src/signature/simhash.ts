import { keysOf, mix32 } from './mix.ts'
import { simhashBits } from './scheme.ts'
import type { TokenFingerprints } from './signature.ts'

const wordCount = simhashBits / 32

const multipliers = keysOf(0x73696d61, wordCount).map((key) => key | 1)
const masks = keysOf(0x73696d62, wordCount)

/** Shared by all pages of usual size: fresh memory would cost a third of the time. */
const scratch = new Int32Array(16 * 1024)

/**
 * The simhash of a token sequence: 384 bits in 48 bytes, coordinate 0 the most significant bit of byte 0. Each
 * token stands for a fixed vector of 384 entries +1 or -1; a bit is 1 exactly if the sum over all occurrences
 * is positive at its coordinate, so a tie gives 0. Order does not matter, frequency does. O(n).
 *
 * Coordinates 32 w to 32 w + 31 of a token are the bits, from the top, of
 * `mix32(low * multiplier_w xor high xor mask_w)` (mod 2^32), where a 1 bit stands for +1.
 *
 * Source: Henzinger 2006, Algorithm C; Charikar 2002.
 */
export const simhash = (tokens: TokenFingerprints): Uint8Array => {
  const result = new DataView(new ArrayBuffer(simhashBits / 8))
  const count = tokens.low.length
  const words = count < scratch.length ? scratch : new Int32Array(count + 1)
  for (let w = 0; w < wordCount; w++) {
    project(tokens, multipliers[w] as number, masks[w] as number, words)
    result.setInt32(4 * w, majority(words, count))
  }
  return new Uint8Array(result.buffer)
}

/** 32 coordinates of every token, token i in word i. */
const project = (tokens: TokenFingerprints, multiplier: number, mask: number, words: Int32Array): void => {
  const { low, high } = tokens
  for (let i = 0; i < low.length; i++) {
    words[i] = mix32(Math.imul(low[i] as number, multiplier) ^ (high[i] as number) ^ mask)
  }
}

/**
 * A 1 in each of 32 columns where more than half of the first `count` words have a 1. Destroys the words, of
 * which there must be one more than `count`.
 *
 * The 32 sums are built as bit planes: plane p holds bit p of each. Adding up all words yields plane 0 and half
 * as many carries, which are words of twice the weight; adding those up yields plane 1, and so on:
 *
 *     w0 w1 w2 w3 w4 w5 w6 w7   ->  plane 0
 *     c0    c1    c2    c3      ->  plane 1
 *     d0          d1            ->  plane 2
 *     e0                        ->  plane 3
 */
const majority = (words: Int32Array, count: number): number => {
  const planeCount = 32 - Math.clz32(count)
  const planes = new Int32Array(planeCount)
  for (let p = 0, left = count; p < planeCount; p++) left = addUp(words, left, planes, p)
  return columnsAbove(planes, count >>> 1)
}

/** Adds up words column by column; leaves the carries at their start and returns how many there are. */
const addUp = (words: Int32Array, count: number, planes: Int32Array, p: number): number => {
  words[count] = 0 // the partner of the last word where their number is odd
  let sum = 0
  let carries = 0
  for (let i = 0; i < count; i += 2) {
    const a = words[i] as number
    const b = words[i + 1] as number
    words[carries++] = (a & b) | ((a ^ b) & sum)
    sum ^= a ^ b
  }
  planes[p] = sum
  return carries
}

/** A 1 in each column whose sum is greater than `bound`, compared plane by plane from the top. */
const columnsAbove = (planes: Int32Array, bound: number): number => {
  let above = 0
  let equal = -1
  for (let p = planes.length - 1; p >= 0; p--) {
    const plane = planes[p] as number
    const boundBits = -((bound >>> p) & 1)
    above |= equal & plane & ~boundBits
    equal &= ~(plane ^ boundBits)
  }
  return above
}
