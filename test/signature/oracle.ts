/*
 * The signature scheme `xxh64-dg1` once more, from its definition, in the slowest and plainest way: BigInt
 * arithmetic, one counter for each coordinate, one function value at a time. It shares no code with the
 * sources, so that what both agree on is the definition. `test/golden/signatures.json` holds its results.
 */

import type { GoldenSignature } from '../golden/signatures.ts'

const mask32 = 0xffffffffn
const mask64 = 0xffffffffffffffffn

const rotate64 = (x: bigint, bits: bigint): bigint => ((x << bits) | (x >> (64n - bits))) & mask64
const rotate32 = (x: bigint, bits: bigint): bigint => ((x << bits) | (x >> (32n - bits))) & mask32

const prime1 = 0x9e3779b185ebca87n
const prime2 = 0xc2b2ae3d27d4eb4fn
const prime3 = 0x165667b19e3779f9n
const prime4 = 0x85ebca77c2b2ae63n
const prime5 = 0x27d4eb2f165667c5n

const littleEndian = (bytes: Uint8Array, at: number, size: number): bigint => {
  let value = 0n
  for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[at + i] ?? 0)
  return value
}

/** XXH64 by its published specification. */
export const xxh64 = (bytes: Uint8Array, seed: bigint): bigint => {
  const round = (sum: bigint, lane: bigint): bigint =>
    (rotate64((sum + lane * prime2) & mask64, 31n) * prime1) & mask64
  let at = 0
  let sum: bigint
  if (bytes.length >= 32) {
    const sums = [seed + prime1 + prime2, seed + prime2, seed, seed - prime1].map((start) => start & mask64)
    for (; at + 32 <= bytes.length; at += 32) {
      sums.forEach((lane, i) => {
        sums[i] = round(lane, littleEndian(bytes, at + 8 * i, 8))
      })
    }
    const rotations = [1n, 7n, 12n, 18n]
    sum = sums.reduce((total, lane, i) => (total + rotate64(lane, rotations[i] ?? 0n)) & mask64, 0n)
    for (const lane of sums) sum = ((sum ^ round(0n, lane)) * prime1 + prime4) & mask64
  } else {
    sum = (seed + prime5) & mask64
  }
  sum = (sum + BigInt(bytes.length)) & mask64
  for (; at + 8 <= bytes.length; at += 8) {
    sum = (rotate64(sum ^ round(0n, littleEndian(bytes, at, 8)), 27n) * prime1 + prime4) & mask64
  }
  if (at + 4 <= bytes.length) {
    sum = (rotate64(sum ^ ((littleEndian(bytes, at, 4) * prime1) & mask64), 23n) * prime2 + prime3) & mask64
    at += 4
  }
  for (; at < bytes.length; at++) {
    sum = (rotate64(sum ^ ((littleEndian(bytes, at, 1) * prime5) & mask64), 11n) * prime1) & mask64
  }
  sum = ((sum ^ (sum >> 33n)) * prime2) & mask64
  sum = ((sum ^ (sum >> 29n)) * prime3) & mask64
  return sum ^ (sum >> 32n)
}

/** The finalizer of MurmurHash3. */
const mix = (x: bigint): bigint => {
  let h = x & mask32
  h = ((h ^ (h >> 16n)) * 0x85ebca6bn) & mask32
  h = ((h ^ (h >> 13n)) * 0xc2b2ae35n) & mask32
  return h ^ (h >> 16n)
}

/** Key i (from 0) of a seed. */
const key = (seed: bigint, i: number): bigint => mix(seed + BigInt(i + 1) * 0x9e3779b9n)

const lowOf = (value: bigint): bigint => value & mask32
const highOf = (value: bigint): bigint => value >> 32n

export const hex = (value: bigint, digits: number): string => value.toString(16).padStart(digits, '0')

export const fingerprint = (term: string): bigint => xxh64(Buffer.from(term, 'utf8'), 0n)

const bytesOf = (values: readonly bigint[], size: number): Uint8Array => {
  const bytes = new Uint8Array(values.length * size)
  values.forEach((value, i) => {
    for (let j = 0; j < size; j++) bytes[i * size + j] = Number((value >> BigInt(8 * j)) & 0xffn)
  })
  return bytes
}

export const contentHash = (tokens: readonly bigint[]): string =>
  [0n, 0x9e3779b97f4a7c15n].map((seed) => hex(xxh64(bytesOf(tokens, 8), seed), 16)).join('')

export const shinglesOf = (tokens: readonly bigint[], k: number): bigint[] => {
  if (tokens.length === 0) return []
  const size = Math.min(k, tokens.length)
  const result: bigint[] = []
  for (let start = 0; start + size <= tokens.length; start++) {
    let a = mix(0x73686c6fn + BigInt(size))
    let b = mix(0x73686869n + BigInt(size))
    for (const token of tokens.slice(start, start + size)) {
      a = ((rotate32(a, 13n) ^ lowOf(token)) * 0x9e3779b1n) & mask32
      b = ((rotate32(b, 17n) ^ highOf(token)) * 0x85ebca77n) & mask32
    }
    a ^= mix(b ^ 0x243f6a88n)
    b ^= mix(a ^ 0x85a308d3n)
    a ^= mix(b ^ 0x13198a2en)
    result.push((b << 32n) | a)
  }
  return result
}

/** `h_j` of a shingle, j from 0 to 83. */
const rank = (shingle: bigint, j: number): bigint =>
  ((lowOf(shingle) * (key(0x6d696e76n, j) | 1n)) & mask32) ^ highOf(shingle)

export const minvaluesOf = (shingles: readonly bigint[]): bigint[] =>
  Array.from({ length: 84 }, (_, j) => {
    let least = mask32
    for (const shingle of shingles) {
      const value = rank(shingle, j)
      if (value < least) least = value
    }
    return least
  })

export const supershinglesOf = (minvalues: readonly bigint[]): string[] =>
  Array.from({ length: 6 }, (_, j) =>
    hex(xxh64(bytesOf(minvalues.slice(14 * j, 14 * j + 14), 4), BigInt(j)), 16),
  )

/** Entry +1 or -1 of a token's vector. */
const entry = (token: bigint, coordinate: number): number => {
  const w = Math.floor(coordinate / 32)
  const product = (lowOf(token) * (key(0x73696d61n, w) | 1n)) & mask32
  const word = mix(product ^ highOf(token) ^ key(0x73696d62n, w))
  return (word >> BigInt(31 - (coordinate % 32))) & 1n ? 1 : -1
}

export const simhashOf = (tokens: readonly bigint[]): string => {
  let bits = 0n
  for (let coordinate = 0; coordinate < 384; coordinate++) {
    const sum = tokens.reduce((total, token) => total + entry(token, coordinate), 0)
    bits = (bits << 1n) | (sum > 0 ? 1n : 0n)
  }
  return hex(bits, 96)
}

/** Everything that the golden file holds of one list of terms; null where there is no such thing. */
export const resultOf = (terms: readonly string[]): GoldenSignature => {
  const tokens = terms.map(fingerprint)
  const shingles = shinglesOf(tokens, 8)
  const minvalues = minvaluesOf(shingles)
  const [firstToken, firstShingle, firstMinvalue] = [tokens[0], shingles[0], minvalues[0]]
  const isEmpty = firstToken === undefined || firstShingle === undefined || firstMinvalue === undefined
  return {
    contentHash: contentHash(tokens),
    firstFingerprint: isEmpty ? null : hex(firstToken, 16),
    firstShingle: isEmpty ? null : hex(firstShingle, 16),
    firstMinvalue: isEmpty ? null : hex(firstMinvalue, 8),
    supershingles: isEmpty ? null : supershinglesOf(minvalues),
    simhash: isEmpty ? null : simhashOf(tokens),
  }
}
