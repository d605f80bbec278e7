/**
 * The two sketches of one page. Both are byte strings of 48 bytes, so that they go to hexadecimal, to a
 * database column and into a comparison without any conversion.
 */
export type Signature = {
  /** Six supershingles of 8 bytes, big-endian, position 0 first (48 bytes). Henzinger 2006, Algorithm B. */
  readonly supershingles: Uint8Array
  /** 384 bits; coordinate 0 is the most significant bit of byte 0 (48 bytes). Henzinger 2006, Algorithm C. */
  readonly simhash: Uint8Array
}

/** Fingerprints of a token sequence, in order: token i is the 64-bit value `high[i] * 2^32 + low[i]`. */
export type TokenFingerprints = { readonly low: Uint32Array; readonly high: Uint32Array }
