/*
 * The six supershingles. Equals src/signature/supershingle.ts.
 */
import { MINVALUES, SUPERSHINGLES } from './layout'
import { xxh64 } from './xxhash'

const SUPERSHINGLE_COUNT: usize = 6
const MINVALUE_BYTES_IN_SUPERSHINGLE: usize = 4 * 14

export function writeSupershingles(): void {
  for (let j: usize = 0; j < SUPERSHINGLE_COUNT; j++) {
    const hash = xxh64(MINVALUES + j * MINVALUE_BYTES_IN_SUPERSHINGLE, MINVALUE_BYTES_IN_SUPERSHINGLE, <u64>j)
    store<u64>(SUPERSHINGLES + 8 * j, bswap(hash))
  }
}
