/*
 * From token fingerprints to both sketches. Equals src/signature/sign.ts and `hashTokens` of
 * src/signature/fingerprint.ts.
 */
import { BLOCK_SHINGLES, CONTENT_HASH } from './layout'
import { addToMinvalues, resetMinvalues } from './minvalue'
import { K, writeShingles, writeShortShingle } from './shingle'
import { writeSimhash } from './simhash'
import { writeSupershingles } from './supershingle'
import { xxh64Tokens } from './xxhash'

const SECOND_SEED: u64 = 0x9e3779b97f4a7c15

export function writeContentHash(low: usize, high: usize, count: i32): void {
  store<u64>(CONTENT_HASH, bswap(xxh64Tokens(low, high, count, 0)))
  store<u64>(CONTENT_HASH + 8, bswap(xxh64Tokens(low, high, count, SECOND_SEED)))
}

/** Writes supershingles and simhash of one token or more. */
export function writeSignature(low: usize, high: usize, count: i32): void {
  resetMinvalues()
  if (count < K) {
    writeShortShingle(low, high, count)
    addToMinvalues(1)
  } else {
    addFullShingles(low, high, count - K + 1)
  }
  writeSupershingles()
  writeSimhash(low, high, count)
}

function addFullShingles(low: usize, high: usize, count: i32): void {
  for (let first = 0; first < count; first += BLOCK_SHINGLES) {
    const size = min(BLOCK_SHINGLES, count - first)
    const offset = (<usize>first) << 2
    writeShingles(low + offset, high + offset, size)
    addToMinvalues(size)
  }
}
