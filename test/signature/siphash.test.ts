import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sipHash } from '../../src/signature/siphash.ts'
import { xxh64Bytes } from '../../src/signature/xxhash.ts'

const mask64 = 2n ** 64n - 1n
const rotate = (x: bigint, bits: bigint): bigint => ((x << bits) | (x >> (64n - bits))) & mask64

/** SipHash from its definition, with any numbers of rounds. */
const sipHashByDefinition = (
  bytes: Uint8Array,
  k0: bigint,
  k1: bigint,
  rounds: number,
  finalRounds: number,
): bigint => {
  let [v0, v1, v2, v3] = [
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn,
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  ]
  const turn = (count: number) => {
    for (let i = 0; i < count; i++) {
      v0 = (v0 + v1) & mask64
      v1 = rotate(v1, 13n) ^ v0
      v0 = rotate(v0, 32n)
      v2 = (v2 + v3) & mask64
      v3 = rotate(v3, 16n) ^ v2
      v0 = (v0 + v3) & mask64
      v3 = rotate(v3, 21n) ^ v0
      v2 = (v2 + v1) & mask64
      v1 = rotate(v1, 17n) ^ v2
      v2 = rotate(v2, 32n)
    }
  }
  const padded = Buffer.alloc(8 * (Math.floor(bytes.length / 8) + 1))
  padded.set(bytes)
  padded[padded.length - 1] = bytes.length & 0xff
  for (let at = 0; at < padded.length; at += 8) {
    const word = padded.readBigUInt64LE(at)
    v3 ^= word
    turn(rounds)
    v0 ^= word
  }
  v2 ^= 0xffn
  turn(finalRounds)
  return v0 ^ v1 ^ v2 ^ v3
}

const ours = (bytes: Uint8Array, key: Uint32Array): bigint => {
  const { low, high } = sipHash(bytes, key)
  return (BigInt(high) << 32n) | BigInt(low)
}

const halves = (key: Uint32Array): [bigint, bigint] => {
  const half = (at: number) => BigInt(key[at] ?? 0) | (BigInt(key[at + 1] ?? 0) << 32n)
  return [half(0), half(2)]
}

describe('sipHash', () => {
  test('the definition that it is held to gives the published value of SipHash-2-4', () => {
    const bytes = Uint8Array.from({ length: 15 }, (_, i) => i)
    expect(sipHashByDefinition(bytes, 0x0706050403020100n, 0x0f0e0d0c0b0a0908n, 2, 4)).toBe(
      0xa129ca6149be45e5n,
    )
  })

  test('equals the definition of SipHash-1-3 for any bytes and any key', () => {
    const keys = fc.uint32Array({ minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), keys, (bytes, key) => {
        expect(ours(bytes, key)).toBe(sipHashByDefinition(bytes, ...halves(key), 1, 3))
      }),
      { seed: 5, numRuns: 500 },
    )
  })
})

describe('a secret seed of XXH64 alone', () => {
  const prime1 = 0x9e3779b185ebca87n
  const prime2 = 0xc2b2ae3d27d4eb4fn
  const inverse = (odd: bigint): bigint => {
    let x = odd
    for (let i = 0; i < 6; i++) x = (x * (2n - odd * x)) & mask64
    return x
  }
  const round = (word: bigint): bigint => (rotate((word * prime2) & mask64, 31n) * prime1) & mask64
  const roundBack = (value: bigint): bigint =>
    (rotate((value * inverse(prime1)) & mask64, 33n) * inverse(prime2)) & mask64
  const wordsOf = (...words: readonly bigint[]): Buffer => {
    const bytes = Buffer.alloc(8 * words.length)
    words.forEach((word, i) => {
      bytes.writeBigUInt64LE(word, 8 * i)
    })
    return bytes
  }

  test('keeps nobody from making collisions, and the key of SipHash does', () => {
    const words = fc.bigInt({ min: 0n, max: mask64 })
    fc.assert(
      fc.property(words, words, words, (first, second, seed) => {
        // A difference in the bit that becomes the top one goes through multiplication and addition as it is.
        const one = wordsOf(first, second)
        const other = wordsOf(roundBack(round(first) ^ (1n << 36n)), roundBack(round(second) ^ (1n << 63n)))
        expect(one.equals(other)).toBe(false)
        expect(xxh64Bytes(one, seed)).toBe(xxh64Bytes(other, seed))
        const key = Uint32Array.of(Number(seed & 0xffffffffn), Number(seed >> 32n), 1, 2)
        expect(ours(one, key)).not.toBe(ours(other, key))
      }),
      { seed: 6, numRuns: 200 },
    )
  })
})
