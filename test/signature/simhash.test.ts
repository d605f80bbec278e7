import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprintTerms } from '../../src/signature/fingerprint.ts'
import type { TokenFingerprints } from '../../src/signature/signature.ts'
import { simhash } from '../../src/signature/simhash.ts'
import { simhashOf } from './oracle.ts'
import {
  binomialProbabilities,
  concatenate,
  createRandom,
  mostStandardDeviations,
  randomTokens,
  zOfMean,
  zOfVariance,
} from './statistics.ts'

const hexOf = (tokens: TokenFingerprints): string => Buffer.from(simhash(tokens)).toString('hex')

const bitsOf = (bytes: Uint8Array): number[] =>
  Array.from({ length: 8 * bytes.length }, (_, i) => ((bytes[i >>> 3] ?? 0) >>> (7 - (i & 7))) & 1)

const differingBits = (a: TokenFingerprints, b: TokenFingerprints): number => {
  const bitsOfB = bitsOf(simhash(b))
  return bitsOf(simhash(a)).filter((bit, i) => bit !== bitsOfB[i]).length
}

const tokensAt = (vocabulary: TokenFingerprints, indexes: readonly number[]): TokenFingerprints => ({
  low: Uint32Array.from(indexes, (i) => vocabulary.low[i] ?? 0),
  high: Uint32Array.from(indexes, (i) => vocabulary.high[i] ?? 0),
})

describe('simhash', () => {
  test('equals its definition', () => {
    const word = fc.integer({ min: 0, max: 0xffffffff })
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 20 }), (values) => {
        const tokens = { low: values.map(([low]) => low), high: values.map(([, high]) => high) }
        const wide = values.map(([low, high]) => (BigInt(high) << 32n) | BigInt(low))
        expect(hexOf({ low: Uint32Array.from(tokens.low), high: Uint32Array.from(tokens.high) })).toBe(
          simhashOf(wide),
        )
      }),
      { seed: 15, numRuns: 40 },
    )
  })

  test('equals 384 plain counters over the simhashes of the single tokens', () => {
    const vocabulary = randomTokens(createRandom(16), 12)
    const vectors = Array.from(vocabulary.low, (_, i) => bitsOf(simhash(tokensAt(vocabulary, [i]))))
    const indexes = fc.array(fc.nat(11), { minLength: 1, maxLength: 400, size: 'max' })
    fc.assert(
      fc.property(indexes, (page) => {
        const sums = new Int32Array(384)
        for (const i of page) {
          vectors[i]?.forEach((bit, coordinate) => {
            sums[coordinate] = (sums[coordinate] ?? 0) + (bit === 1 ? 1 : -1)
          })
        }
        const bits = Array.from(sums, (sum) => (sum > 0 ? 1 : 0))
        expect(bitsOf(simhash(tokensAt(vocabulary, page)))).toEqual(bits)
      }),
      { seed: 17, numRuns: 150 },
    )
  })

  test('is the same for a page and for that page many times over, up to 40,000 tokens', () => {
    // Lengths on both sides of powers of two, where counters get another plane.
    const page = randomTokens(createRandom(18), 5)
    const vectors = Array.from(page.low, (_, i) => bitsOf(simhash(tokensAt(page, [i]))))
    for (const times of [1, 2, 3, 7, 51, 52, 1638, 3276, 3277, 8000]) {
      const indexes = Array.from({ length: 5 * times }, (_, i) => i % 5)
      expect(hexOf(tokensAt(page, indexes))).toBe(hexOf(page))
      const bits = bitsOf(simhash(tokensAt(page, [...indexes, 0])))
      const expected = Array.from({ length: 384 }, (_, c) => {
        const sum = vectors.reduce((total, vector) => total + (vector[c] === 1 ? times : -times), 0)
        return sum + (vectors[0]?.[c] === 1 ? 1 : -1) > 0 ? 1 : 0
      })
      expect(bits).toEqual(expected)
    }
  })

  test('does not depend on the order of the tokens', () => {
    const vocabulary = fingerprintTerms(['a', 'b', 'c', 'd', 'e', 'f'])
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 1, maxLength: 50 }), (page) => {
        const sorted = [...page].sort((x, y) => x - y)
        expect(hexOf(tokensAt(vocabulary, page))).toBe(hexOf(tokensAt(vocabulary, sorted)))
      }),
      { seed: 19, numRuns: 200 },
    )
  })

  test('a tie gives 0: two tokens have a 1 exactly where both have one', () => {
    const tokens = fingerprintTerms(['a', 'b'])
    const [a, b] = [0, 1].map((i) => bitsOf(simhash(tokensAt(tokens, [i]))))
    expect(bitsOf(simhash(tokens))).toEqual(a?.map((bit, i) => bit & (b?.[i] ?? 0)))
  })

  test('of no token is all 0', () => {
    expect(hexOf(fingerprintTerms([]))).toBe('0'.repeat(96))
  })

  /** P(sum > s) of n entries +1 or -1 for s from -n to n, at index s + n. */
  const exceeding = (n: number): number[] => {
    const probabilities = binomialProbabilities(n, 0.5)
    return Array.from({ length: 2 * n + 1 }, (_, i) =>
      probabilities.reduce((sum, p, ones) => (2 * ones > i ? sum + p : sum), 0),
    )
  }

  /**
   * The exact probability that one bit differs between two pages of distinct tokens, `shared` of which they
   * have in common. It is not theta / pi, to which it only tends as the pages grow and their edits multiply.
   */
  const probabilityOfDifference = (shared: number, ownOfA: number, ownOfB: number): number => {
    const [a, b] = [exceeding(ownOfA), exceeding(ownOfB)]
    const above = (tail: number[], own: number, s: number) =>
      s < -own ? 1 : s > own ? 0 : (tail[s + own] ?? 0)
    return binomialProbabilities(shared, 0.5).reduce((total, p, ones) => {
      const sum = 2 * ones - shared
      const [oneInA, oneInB] = [above(a, ownOfA, -sum), above(b, ownOfB, -sum)]
      return total + p * (oneInA * (1 - oneInB) + oneInB * (1 - oneInA))
    }, 0)
  }

  test.each([
    { edit: 'one of 100 tokens replaced', shared: 99, ownOfA: 1, ownOfB: 1 },
    { edit: 'one of 101 tokens replaced', shared: 100, ownOfA: 1, ownOfB: 1 },
    { edit: 'one token inserted into 100', shared: 100, ownOfA: 0, ownOfB: 1 },
    { edit: 'two of 300 tokens replaced', shared: 298, ownOfA: 2, ownOfB: 2 },
    { edit: 'five of 500 tokens replaced', shared: 495, ownOfA: 5, ownOfB: 5 },
    { edit: 'half of 61 tokens replaced', shared: 31, ownOfA: 30, ownOfB: 30 },
    { edit: 'all of 101 tokens replaced', shared: 0, ownOfA: 101, ownOfB: 101 },
    { edit: 'all of 100 tokens replaced', shared: 0, ownOfA: 100, ownOfB: 100 },
  ])('differing bits have mean and variance of Binomial(384, p) for $edit', ({ shared, ownOfA, ownOfB }) => {
    const p = probabilityOfDifference(shared, ownOfA, ownOfB)
    const random = createRandom(20 + shared)
    const observations = Array.from({ length: 1500 }, () => {
      const common = randomTokens(random, shared)
      const a = concatenate(common, randomTokens(random, ownOfA))
      const b = concatenate(common, randomTokens(random, ownOfB))
      return differingBits(a, b)
    })
    expect(Math.abs(zOfMean(observations, 384, p))).toBeLessThan(mostStandardDeviations)
    expect(Math.abs(zOfVariance(observations, 384, p))).toBeLessThan(mostStandardDeviations)
  })

  test('the exact probability agrees with values known from elsewhere', () => {
    expect(384 * probabilityOfDifference(99, 1, 1)).toBeCloseTo(15.3, 1)
    expect(384 * probabilityOfDifference(298, 2, 2)).toBeCloseTo(13.3, 1)
    expect(384 * probabilityOfDifference(0, 101, 101)).toBeCloseTo(192, 9)
  })

  test.each([
    { count: 2, p: 0.25 },
    { count: 3, p: 0.5 },
    { count: 4, p: 0.3125 },
    { count: 10, p: 0.376953125 },
    { count: 11, p: 0.5 },
  ])('a bit of a page of $count distinct tokens is 1 with probability $p', ({ count, p }) => {
    const random = createRandom(30 + count)
    const ones = Array.from(
      { length: 2000 },
      () => bitsOf(simhash(randomTokens(random, count))).filter((bit) => bit === 1).length,
    )
    expect(Math.abs(zOfMean(ones, 384, p))).toBeLessThan(mostStandardDeviations)
    expect(Math.abs(zOfVariance(ones, 384, p))).toBeLessThan(mostStandardDeviations)
  })
})
