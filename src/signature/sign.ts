import { minvalues } from './minvalue.ts'
import { k } from './scheme.ts'
import { shingles } from './shingle.ts'
import type { Signature, TokenFingerprints } from './signature.ts'
import { simhash } from './simhash.ts'
import { supershingles } from './supershingle.ts'

/**
 * The signature of a token sequence; null for one without tokens, which resembles nothing. O(n), about 84 + 12
 * hash steps a token.
 */
export const sign = (tokens: TokenFingerprints): Signature | null =>
  tokens.low.length === 0
    ? null
    : { supershingles: supershingles(minvalues(shingles(tokens, k))), simhash: simhash(tokens) }
