import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { intersectionSize } from '../../src/detect/resemblance.ts'
import { featureSet } from '../../src/signature/features.ts'
import { fingerprintTerms } from '../../src/signature/fingerprint.ts'
import { shingleSet } from '../../src/signature/shingle.ts'

const bag = (terms: readonly string[]): Float64Array => featureSet(fingerprintTerms(terms), 'tokens')
const terms = fc.array(fc.constantFrom('a', 'b', 'c', 'yes', '__proto__'), { maxLength: 40 })

/** The overlap of two bags: of each term the smaller count. */
const bagOverlap = (a: readonly string[], b: readonly string[]): number =>
  [...new Set(a)].reduce((sum, term) => {
    const count = (list: readonly string[]) => list.filter((one) => one === term).length
    return sum + Math.min(count(a), count(b))
  }, 0)

describe('the features of a page', () => {
  test('as a bag of tokens are as many as the tokens, in increasing order and different', () => {
    fc.assert(
      fc.property(terms, (list) => {
        const values = bag(list)
        expect(values).toHaveLength(list.length)
        expect([...new Set(values)].sort((a, b) => a - b)).toEqual([...values])
        for (const value of values) expect(Number.isSafeInteger(value) && value >= 0).toBe(true)
      }),
      { seed: 3, numRuns: 300 },
    )
  })

  test('as bags of tokens have in common what the bags have', () => {
    fc.assert(
      fc.property(terms, terms, (a, b) => {
        expect(intersectionSize(bag(a), bag(b))).toBe(bagOverlap(a, b))
      }),
      { seed: 4, numRuns: 500 },
    )
  })

  test('are one element for each of thousands of occurrences', () => {
    const values = bag(Array.from({ length: 20_000 }, () => 'a'))
    expect(new Set(values).size).toBe(20_000)
  })

  test('as shingles are the set of shingles', () => {
    const tokens = fingerprintTerms(Array.from({ length: 50 }, (_, i) => `t${i % 20}`))
    expect(featureSet(tokens, 'shingles')).toEqual(shingleSet(tokens, 8))
  })
})
