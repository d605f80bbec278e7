import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PairSample } from '../../src/evaluation/pair-sample.ts'

const pairs = Array.from({ length: 500 }, (_, i) => ({ a: `a${i}`, b: `b${i}` }))

const sampleOf = (list: readonly { a: string; b: string }[], size: number, seed: number) => {
  const sample = new PairSample<{ a: string; b: string }>(size, seed)
  for (const pair of list) sample.add(pair)
  return sample.result()
}

describe('a sample of pairs', () => {
  test('is the same in whatever order the pairs come', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(pairs, { minLength: 500 }),
        fc.integer({ min: 1, max: 600 }),
        fc.nat(),
        (shuffled, size, seed) => {
          expect(sampleOf(shuffled, size, seed)).toEqual(sampleOf(pairs, size, seed))
        },
      ),
      { seed: 3, numRuns: 30 },
    )
  })

  test('holds each pair once, as many as asked for or all there are, and says how many there were', () => {
    for (const size of [1, 7, 250, 499, 500, 501]) {
      const { pairs: sampled, population } = sampleOf(pairs, size, 42)
      expect(new Set(sampled).size).toBe(Math.min(size, 500))
      expect(population).toBe(500)
    }
    expect(sampleOf([], 5, 42)).toEqual({ pairs: [], population: 0 })
  })

  test('is the start of a larger sample under the same seed, and another one under another seed', () => {
    const large = sampleOf(pairs, 100, 1).pairs
    expect(sampleOf(pairs, 30, 1).pairs).toEqual(large.slice(0, 30))
    expect(sampleOf(pairs, 100, 2).pairs).not.toEqual(large)
  })

  test('takes every pair equally often over 4,000 seeds, by chi-square at 1 in 1,000', () => {
    const few = pairs.slice(0, 40)
    const size = 10
    const runs = 4000
    const counts = new Map<string, number>()
    const pairsTogether = new Map<string, number>()
    for (let seed = 0; seed < runs; seed++) {
      const { pairs: sampled } = sampleOf(few, size, seed)
      for (const { a } of sampled) counts.set(a, (counts.get(a) ?? 0) + 1)
      const both = ['a0', 'a1'].filter((id) => sampled.some(({ a }) => a === id)).length
      pairsTogether.set(`${both}`, (pairsTogether.get(`${both}`) ?? 0) + 1)
    }
    const expected = (runs * size) / few.length
    // Draws without repetition: a count has the variance runs p (1 - p), not runs p.
    const variance = expected * (1 - size / few.length)
    const chiSquare = few.reduce((sum, { a }) => sum + ((counts.get(a) ?? 0) - expected) ** 2 / variance, 0)
    expect(chiSquare * (39 / 40)).toBeLessThan(72.05) // 39 degrees of freedom
    // Two given pairs are both in the sample with probability 10/40 * 9/39.
    const together = pairsTogether.get('2') ?? 0
    const share = (10 / 40) * (9 / 39)
    expect(Math.abs(together - runs * share)).toBeLessThan(3.3 * Math.sqrt(runs * share * (1 - share)))
  })
})
