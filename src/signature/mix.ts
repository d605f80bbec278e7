/*
 * The 32-bit building blocks of the seeded hash functions. They take and give signed or unsigned 32-bit
 * integers alike: only the bits count.
 */

/** The finalizer of MurmurHash3: a bijection in which every input bit changes each output bit half the time. */
export const mix32 = (x: number): number => {
  let h = x ^ (x >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  return h ^ (h >>> 16)
}

export const rotateLeft = (x: number, bits: number): number => (x << bits) | (x >>> (32 - bits))

/**
 * The first `count` keys of a seed: `mix32` of a counter that starts at the seed and steps by 2^32 / phi. Signed,
 * because the engine keeps an unsigned one above 2^31 as a double and converts it in every turn of a loop.
 */
export const keysOf = (seed: number, count: number): Int32Array =>
  Int32Array.from({ length: count }, (_, i) => mix32(seed + Math.imul(i + 1, 0x9e3779b9)))
