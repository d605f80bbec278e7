/*
 * The fingerprint of a term: XXH64 of its bytes, or SipHash where there is a key. Equals `fingerprintTerms` of src/signature/fingerprint.ts.
 *
 * Most terms are short and were met before, and to look one up takes a quarter of the time of its hash:
 *
 *     KNOWN_TERMS  16,384 places:   +0 a term of at most 8 bytes, filled up with zeros   +8 its fingerprint
 *
 * A term has one place, from which it drives out the one that was there.
 */
import { KNOWN_TERMS } from './layout'
import { setKey, sipHash } from './siphash'
import { xxh64, xxh64Short } from './xxhash'

const PLACE_BITS: u64 = 14

let isKeyed = false

/** To be called before the first term, since known ones are not hashed again. */
export function setHashKey(first: u64, second: u64): void {
  setKey(first, second)
  isKeyed = true
}

/** No term holds a NUL, so different ones never look the same. Reads up to 8 bytes past the end. */
@inline
export function fingerprintOf(at: usize, length: usize): u64 {
  if (length > 8) {
    if (isKeyed) return sipHash(at, length)
    return length < 32 ? xxh64Short(at, length) : xxh64(at, length, 0)
  }
  const term = load<u64>(at) & (<u64>-1 >> (64 - (<u64>length << 3)))
  const place = KNOWN_TERMS + <usize>((term * 0x9e3779b97f4a7c15) >> (64 - PLACE_BITS) << 4)
  return load<u64>(place) == term ? load<u64>(place, 8) : remember(place, term, at, length)
}

function remember(place: usize, term: u64, at: usize, length: usize): u64 {
  const fingerprint = isKeyed ? sipHash(at, length) : xxh64Short(at, length)
  store<u64>(place, term)
  store<u64>(place, fingerprint, 8)
  return fingerprint
}
