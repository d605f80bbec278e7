import type { TokenFingerprints } from './signature.ts'
import { type HashKey, sipHash } from './siphash.ts'
import { xxh64Bytes, xxh64Text } from './xxhash.ts'

/**
 * Fingerprints of terms, in order: token i is XXH64 of the UTF-8 form of term i, or where there is a key SipHash-1-3
 * under it. Linear in the total length.
 *
 * Source: Henzinger 2006. Differs: the paper takes Rabin fingerprints.
 */
export const fingerprintTerms = (terms: readonly string[], key: HashKey | null = null): TokenFingerprints => {
  if (key !== null) return keyedFingerprints(terms, key)
  const low = new Uint32Array(terms.length)
  const high = new Uint32Array(terms.length)
  // A DataView, because the halves of a BigUint64Array lie in the byte order of the machine.
  const value = new DataView(new ArrayBuffer(8))
  for (let i = 0; i < terms.length; i++) {
    value.setBigUint64(0, xxh64Text(terms[i] as string))
    high[i] = value.getUint32(0)
    low[i] = value.getUint32(4)
  }
  return { low, high }
}

const encoder = new TextEncoder()

const keyedFingerprints = (terms: readonly string[], key: HashKey): TokenFingerprints => {
  const low = new Uint32Array(terms.length)
  const high = new Uint32Array(terms.length)
  for (let i = 0; i < terms.length; i++) {
    const hash = sipHash(encoder.encode(terms[i]), key)
    low[i] = hash.low
    high[i] = hash.high
  }
  return { low, high }
}

const firstSeed = 0n
const secondSeed = 0x9e3779b97f4a7c15n

/**
 * The content hash of a token sequence, 16 bytes: XXH64 of the fingerprints (8 bytes each, little-endian)
 * under two seeds, each big-endian. Equal for equal sequences; different ones agree by accident with
 * probability 2^-128. XXH64 is no cryptographic hash: whoever sets out to make two pages agree can.
 */
export const hashTokens = (tokens: TokenFingerprints): Uint8Array => {
  const { low, high } = tokens
  const bytes = new Uint8Array(8 * low.length)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < low.length; i++) {
    view.setUint32(8 * i, low[i] as number, true)
    view.setUint32(8 * i + 4, high[i] as number, true)
  }
  const hash = new DataView(new ArrayBuffer(16))
  hash.setBigUint64(0, xxh64Bytes(bytes, firstSeed))
  hash.setBigUint64(8, xxh64Bytes(bytes, secondSeed))
  return new Uint8Array(hash.buffer)
}
