/** Tokens in a shingle. Henzinger 2006, Algorithm B. */
export const k = 8

/** Minvalues of a page (m). */
export const minvalueCount = 84

/** Supershingles of a page (m'). */
export const supershingleCount = 6

/** Consecutive minvalues that make one supershingle. */
export const minvaluesInSupershingle = 14

/** Coordinates of the random projection (b). Henzinger 2006, Algorithm C. */
export const simhashBits = 384

/**
 * Names every hash function of this folder together with its seeds. Whoever changes a single output bit of a
 * fingerprint, shingle, minvalue, supershingle or simhash gives it a new name, so that signatures made under
 * the old one are refused instead of compared.
 */
export const hashVersion = 'xxh64-dg1'

/** The same with SipHash-1-3 under a secret key in the place of XXH64 for the terms. */
export const keyedHashVersion = 'siphash13-dg1'
