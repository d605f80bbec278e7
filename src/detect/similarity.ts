import { supershingleCount } from '../signature/scheme.ts'
import type { Signature } from '../signature/signature.ts'

/**
 * B-similarity: how many of the six supershingles agree, position by position (0 to 6).
 *
 * Source: Henzinger 2006, Algorithm B.
 */
export const bSimilarity = (a: Signature, b: Signature): number => {
  let agreeing = 0
  for (let position = 0; position < supershingleCount; position++) {
    const differing =
      differingBits(a.supershingles, b.supershingles, 8 * position) |
      differingBits(a.supershingles, b.supershingles, 8 * position + 4)
    if (differing === 0) agreeing++
  }
  return agreeing
}

/**
 * C-similarity: how many of the 384 simhash bits agree (0 to 384).
 *
 * Source: Henzinger 2006, Algorithm C.
 */
export const cSimilarity = (a: Signature, b: Signature): number => {
  let differing = 0
  for (let at = 0; at < a.simhash.length; at += 4) {
    differing += populationCount(differingBits(a.simhash, b.simhash, at))
  }
  return 8 * a.simhash.length - differing
}

/**
 * The bits in which the four bytes from `at` differ. Bytes are read singly, because what comes out of a
 * database need not lie on a word boundary.
 */
const differingBits = (a: Uint8Array, b: Uint8Array, at: number): number => wordAt(a, at) ^ wordAt(b, at)

const wordAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 24) |
  ((bytes[at + 1] as number) << 16) |
  ((bytes[at + 2] as number) << 8) |
  (bytes[at + 3] as number)

/** How many bits of a 32-bit word are 1, by sums in fields of 2, 4 and 8 bits. */
export const populationCount = (word: number): number => {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
