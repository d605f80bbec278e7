import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprintTerms, hashTokens } from '../../src/signature/fingerprint.ts'
import { contentHash, fingerprint } from './oracle.ts'

const valuesOf = ({ low, high }: { low: Uint32Array; high: Uint32Array }): bigint[] =>
  Array.from(low, (value, i) => (BigInt(high[i] ?? 0) << 32n) | BigInt(value))

const hashOf = (terms: readonly string[]): string =>
  Buffer.from(hashTokens(fingerprintTerms(terms))).toString('hex')

describe('fingerprintTerms', () => {
  test('gives XXH64 of the UTF-8 form of each term, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 20 }), (terms) => {
        expect(valuesOf(fingerprintTerms(terms))).toEqual(terms.map(fingerprint))
      }),
      { seed: 3, numRuns: 100 },
    )
  })

  test('gives nothing for no term', () => {
    expect(valuesOf(fingerprintTerms([]))).toEqual([])
  })

  test('depends on the key', () => {
    expect(valuesOf(fingerprintTerms(['a'], Uint32Array.of(0, 0, 0, 0)))).not.toEqual(
      valuesOf(fingerprintTerms(['a'])),
    )
  })

  test('takes a term of ten million characters', () => {
    const term = 'long'.repeat(2_500_000)
    const [alone] = valuesOf(fingerprintTerms([term]))
    expect(valuesOf(fingerprintTerms(['before', term, 'after']))[1]).toBe(alone)
    expect(valuesOf(fingerprintTerms([`${term}x`]))[0]).not.toBe(alone)
  })
})

describe('hashTokens', () => {
  test('is XXH64 of the fingerprints under two seeds', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 5 }), { maxLength: 12 }), (terms) => {
        expect(hashOf(terms)).toBe(contentHash(terms.map(fingerprint)))
      }),
      { seed: 4, numRuns: 100 },
    )
  })

  test('is equal exactly for equal sequences', () => {
    const terms = fc.array(fc.constantFrom('a', 'b'), { maxLength: 4 })
    fc.assert(
      fc.property(terms, terms, (a, b) => {
        expect(hashOf(a) === hashOf(b)).toBe(a.join() === b.join() && a.length === b.length)
      }),
      { seed: 5, numRuns: 500 },
    )
  })
})
