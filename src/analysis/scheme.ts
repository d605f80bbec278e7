import { unicodeVersion } from '../page/unicode.ts'
import {
  hashVersion,
  k,
  keyedHashVersion,
  minvalueCount,
  simhashBits,
  supershingleCount,
} from '../signature/scheme.ts'
import type { AnalysisOptions } from './analyze.ts'

/**
 * The rules under which a database is filled, as it remembers them: tokenizer, Unicode data, site rule, the
 * sizes of the sketches and the hash functions, of a secret seed only its check value. Signatures are compared only
 * within one scheme.
 */
export const schemeOf = ({ tokenizer, siteRule, hashSeed }: AnalysisOptions): string =>
  [
    tokenizer,
    `unicode-${unicodeVersion}`,
    siteRule,
    `k${k}-m${minvalueCount}-s${supershingleCount}-b${simhashBits}`,
    ...(hashSeed ? [keyedHashVersion, `seed-${hashSeed.check}`] : [hashVersion]),
  ].join('/')
