import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { minvalues } from '../../src/signature/minvalue.ts'
import { shingles } from '../../src/signature/shingle.ts'
import { minvaluesOf } from './oracle.ts'
import {
  concatenate,
  createRandom,
  mostStandardDeviations,
  randomTokens,
  zOfMean,
  zOfVariance,
} from './statistics.ts'

const word = fc.integer({ min: 0, max: 0xffffffff })
const shinglesFrom = (values: readonly (readonly [number, number])[]) => ({
  low: Uint32Array.from(values, ([low]) => low),
  high: Uint32Array.from(values, ([, high]) => high),
})
const shingleList = fc.array(fc.tuple(word, word), { maxLength: 20 })

describe('minvalues', () => {
  test('equal their definition', () => {
    fc.assert(
      fc.property(shingleList, (values) => {
        const wide = values.map(([low, high]) => (BigInt(high) << 32n) | BigInt(low))
        expect([...minvalues(shinglesFrom(values))]).toEqual(minvaluesOf(wide).map(Number))
      }),
      { seed: 10, numRuns: 60 },
    )
  })

  test('of a union are the lesser of the minvalues of both sets', () => {
    fc.assert(
      fc.property(shingleList, shingleList, (a, b) => {
        const ofB = minvalues(shinglesFrom(b))
        const lesser = minvalues(shinglesFrom(a)).map((value, j) => Math.min(value, ofB[j] ?? 0))
        expect(minvalues(shinglesFrom([...a, ...b]))).toEqual(lesser)
      }),
      { seed: 11, numRuns: 200 },
    )
  })

  test('do not depend on order or repetition', () => {
    fc.assert(
      fc.property(shingleList, (values) => {
        const other = [...values].reverse().flatMap((value) => [value, value])
        expect(minvalues(shinglesFrom(other))).toEqual(minvalues(shinglesFrom(values)))
      }),
      { seed: 12, numRuns: 200 },
    )
  })

  /*
   * A pair of sequences: a common run and an end of their own. Of 90 + 5 + 5 shingles 90 are common, r = 0.9.
   */
  const [pairs, shared, own] = [4000, 90, 5]
  const r = shared / (shared + 2 * own)
  const random = createRandom(13)
  const agreements = Array.from({ length: pairs }, () => {
    const common = randomTokens(random, shared + 7)
    const a = minvalues(shingles(concatenate(common, randomTokens(random, own)), 8))
    const b = minvalues(shingles(concatenate(common, randomTokens(random, own)), 8))
    return Array.from(a, (value, j) => (value === b[j] ? 1 : 0))
  })
  const agreeing = agreements.map((flags) => flags.reduce((sum: number, flag) => sum + flag, 0))

  test('agree as often as the resemblance says', () => {
    expect(Math.abs(zOfMean(agreeing, 84, r))).toBeLessThan(mostStandardDeviations)
  })

  test('agree independently: the number that agree has the variance of Binomial(84, r)', () => {
    expect(Math.abs(zOfVariance(agreeing, 84, r))).toBeLessThan(mostStandardDeviations)
  })

  test('no two of the 84 functions are correlated, and each agrees as often as the resemblance says', () => {
    // 84 + 3,486 deviates: one of them exceeds 6.5 with probability below 3e-7.
    const most = 6.5
    for (let i = 0; i < 84; i++) {
      const alone = agreements.reduce((sum, flags) => sum + (flags[i] ?? 0), 0)
      expect(Math.abs(alone - pairs * r) / Math.sqrt(pairs * r * (1 - r))).toBeLessThan(most)
      for (let j = i + 1; j < 84; j++) {
        const product = agreements.reduce(
          (sum, flags) => sum + ((flags[i] ?? 0) - r) * ((flags[j] ?? 0) - r),
          0,
        )
        expect(Math.abs(product) / (Math.sqrt(pairs) * r * (1 - r))).toBeLessThan(most)
      }
    }
  })
})
