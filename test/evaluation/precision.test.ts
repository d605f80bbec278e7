import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { precisionOf, proportion, retrievalOf } from '../../src/evaluation/precision.ts'

const seed = 5

describe('a proportion', () => {
  test('has the Wilson interval that is published for 10 of 20, 0 of 10 and 10 of 10', () => {
    const half = proportion(10, 20)
    expect(half.value).toBe(0.5)
    expect(half.low).toBeCloseTo(0.2993, 4)
    expect(half.high).toBeCloseTo(0.7007, 4)
    expect(proportion(0, 10)).toEqual({ value: 0, low: 0, high: expect.closeTo(0.2775, 4), sampleSize: 10 })
    expect(proportion(10, 10)).toEqual({ value: 1, low: expect.closeTo(0.7225, 4), high: 1, sampleSize: 10 })
  })

  test('of an empty sample has no value', () => {
    expect(proportion(0, 0)).toEqual({ value: null, low: null, high: null, sampleSize: 0 })
  })

  test('lies inside its interval, which lies inside 0 and 1 and shrinks with ten times the sample', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, share) => {
          const successes = Math.round(n * share)
          const { value, low, high } = proportion(successes, n) as Record<'value' | 'low' | 'high', number>
          expect(low).toBeGreaterThanOrEqual(0)
          expect(low).toBeLessThanOrEqual(value)
          expect(high).toBeGreaterThanOrEqual(value)
          expect(high).toBeLessThanOrEqual(1)
          const larger = proportion(10 * successes, 10 * n) as Record<'low' | 'high', number>
          expect(larger.high - larger.low).toBeLessThan(high - low)
        },
      ),
      { seed },
    )
  })
})

describe('precision and recall', () => {
  const counts = { correct: 6, incorrect: 2, undecided: 4, unjudged: 3 }

  test('count an undecided pair as a miss, or leave it out; what nobody judged counts in neither', () => {
    const { pairs, precision, decidedPrecision } = precisionOf(counts)
    expect(pairs).toBe(15)
    expect(precision).toMatchObject({ value: 0.5, sampleSize: 12 })
    expect(decidedPrecision).toMatchObject({ value: 0.75, sampleSize: 8 })
  })

  test('F1 is the harmonic mean of both, and 0 where nothing is returned', () => {
    const { recall, f1, decidedF1 } = retrievalOf(counts, 10)
    expect(recall).toMatchObject({ value: 0.6, sampleSize: 10 })
    expect(f1).toBeCloseTo((2 * 0.5 * 0.6) / 1.1, 12)
    expect(decidedF1).toBeCloseTo((2 * 0.75 * 0.6) / 1.35, 12)
    const none = { correct: 0, incorrect: 0, undecided: 0, unjudged: 0 }
    expect(retrievalOf(none, 0)).toMatchObject({ f1: 0, recall: { value: null, sampleSize: 0 } })
  })
})
