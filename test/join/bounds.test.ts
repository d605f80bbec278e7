import { describe, expect, test } from 'vitest'
import { boundsOf, reaches } from '../../src/join/bounds.ts'
import { type Measure, measures, similarity } from '../../src/join/measure.ts'
import { thresholdOf } from '../../src/join/threshold.ts'
import cases from '../golden/join-cases.json' with { type: 'json' }
import { isSimilar } from './brute-force.ts'

const hundredths = Array.from({ length: 51 }, (_, i) => ((i + 50) / 100).toFixed(2))
const thresholdsOf = (measure: Measure): string[] =>
  measure === 'overlap' ? ['1', '2', '7', '30'] : [...hundredths, '0.333', '0.2', '0.9999']
const largest = 40

test.each(cases.bounds)('$id', ({ input, expect: expected }) => {
  const bounds = boundsOf(input.sim as Measure, thresholdOf(input.t))
  const { a, b } = input
  expect({
    minOverlap: bounds.minOverlap(a, b),
    minSize: bounds.minSize(a),
    maxSize: bounds.maxSize(a),
    probePrefix: bounds.probePrefix(a),
    indexPrefix: bounds.indexPrefix(a),
  }).toEqual(expected)
})

describe.each(measures)('the bounds of %s are tight', (measure) => {
  test('for all sizes to 40', () => {
    for (const threshold of thresholdsOf(measure)) {
      const bounds = boundsOf(measure, thresholdOf(threshold))
      /** By the definition, sought from what is claimed on. */
      const least = (a: number, b: number): number => {
        let overlap = bounds.minOverlap(a, b)
        while (overlap > 0 && isSimilar(measure, threshold, overlap - 1, a, b)) overlap--
        while (!isSimilar(measure, threshold, overlap, a, b)) overlap++
        return overlap
      }
      const farthest = (a: number): number =>
        measure === 'overlap' ? 2 * largest : Math.ceil(a / Number(threshold) ** 2) + 2
      for (let a = 1; a <= largest; a++) {
        const partners = []
        let leastOfAll = Number.POSITIVE_INFINITY
        for (let b = 1; b <= farthest(a); b++) {
          const overlap = least(a, b)
          const claimed = bounds.minOverlap(a, b)
          if (claimed !== overlap) expect([threshold, a, b, claimed]).toEqual([threshold, a, b, overlap])
          if (overlap > Math.min(a, b)) continue
          partners.push(b)
          leastOfAll = Math.min(leastOfAll, overlap)
        }
        const [first, last] = [partners[0] ?? null, partners.at(-1) ?? null]
        if (first === null) {
          expect(bounds.probePrefix(a)).toBeLessThanOrEqual(0)
          continue
        }
        const sizes = [bounds.minSize(a), measure === 'overlap' ? last : bounds.maxSize(a)]
        if (sizes[0] !== first || sizes[1] !== last)
          expect([threshold, a, ...sizes]).toEqual([threshold, a, first, last])
        const prefixes = [bounds.probePrefix(a), bounds.indexPrefix(a)]
        const expected = [a - leastOfAll + 1, a - least(a, a) + 1]
        if (prefixes[0] !== expected[0] || prefixes[1] !== expected[1])
          expect([threshold, a, ...prefixes]).toEqual([threshold, a, ...expected])
      }
    }
  })

  test('also where products are beyond what a double holds', () => {
    if (measure === 'overlap') return expect(() => boundsOf(measure, thresholdOf('0.5'))).toThrow(RangeError)
    const threshold = '0.12345678901234567'
    const bounds = boundsOf(measure, thresholdOf(threshold))
    for (const [a, b] of [
      [1_000_003, 999_983],
      [8_000_000, 3_000_001],
      [97, 89],
    ] as const) {
      const overlap = bounds.minOverlap(a, b)
      expect(isSimilar(measure, threshold, overlap, a, b)).toBe(true)
      expect(isSimilar(measure, threshold, overlap - 1, a, b)).toBe(false)
      const size = bounds.minSize(a)
      expect(isSimilar(measure, threshold, size, a, size)).toBe(true)
      expect(isSimilar(measure, threshold, size - 1, a, size - 1)).toBe(false)
    }
  })

  test('and the similarity as a number reaches the threshold where the fractions do', () => {
    for (const threshold of thresholdsOf(measure)) {
      const bounds = boundsOf(measure, thresholdOf(threshold))
      for (let a = 1; a <= largest; a++)
        for (let b = 1; b <= a; b++)
          for (let overlap = 1; overlap <= b; overlap++) {
            const exact = isSimilar(measure, threshold, overlap, a, b)
            const byNumber = similarity(measure, overlap, a, b) >= Number(threshold)
            if (reaches(bounds, overlap, a, b) !== exact || byNumber !== exact)
              expect([threshold, a, b, overlap]).toBeNull()
          }
    }
  })
})

describe('a threshold', () => {
  test.each([
    ['0.8', 4n, 5n],
    [0.8, 4n, 5n],
    ['1', 1n, 1n],
    ['0.50', 1n, 2n],
    ['.25', 1n, 4n],
    [1e-7, 1n, 10_000_000n],
    ['12', 12n, 1n],
    ['1e3', 1000n, 1n],
  ])('%s is the fraction that it says', (written, p, q) => {
    expect(thresholdOf(written)).toEqual({ p, q, value: Number(written) })
  })

  test.each(['', '.', '0', '0.0', '-1', 'NaN', 'Infinity', '1/2', '0x1', ' 1'])('"%s" is none', (text) => {
    expect(() => thresholdOf(text)).toThrow(RangeError)
  })

  test('above 1 is refused by all but the overlap', () => {
    for (const measure of ['jaccard', 'cosine', 'dice'] as const)
      expect(() => boundsOf(measure, thresholdOf('1.01'))).toThrow(RangeError)
  })
})
