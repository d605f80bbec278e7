import { describe, expect, test } from 'vitest'
import { type Measure, measures, similarity } from '../../src/join/measure.ts'
import { recordsOfBags } from '../../src/join/records.ts'
import { topKSelfJoin } from '../../src/join/top-k.ts'
import { seededRandom } from '../fixture/pages.ts'
import cases from '../golden/join-cases.json' with { type: 'json' }
import { bagOverlap } from './brute-force.ts'
import { randomBags } from './collections.ts'

/** The similarities of all pairs with something in common, the greatest first. */
const allSimilarities = (bags: readonly string[][], measure: Measure): number[] =>
  bags
    .flatMap((x, a) =>
      bags.slice(a + 1).map((y) => similarity(measure, bagOverlap(x, y), x.length, y.length)),
    )
    .filter((value) => value > 0)
    .sort((a, b) => b - a)

describe('the most similar pairs', () => {
  test.each(cases.topk)('$id', ({ input, expect: expected, accept }) => {
    const { records, sim, k } = input
    const pairs = topKSelfJoin(recordsOfBags(records.map(({ tokens }) => tokens)), sim as Measure, k)
    const found = pairs.map(({ a, b, overlap }) => [records[a]?.id, records[b]?.id, overlap])
    expect([expected, ...accept]).toContainEqual(found)
  })

  test.each(measures)('by %s are as similar as brute force has them', (measure) => {
    const random = seededRandom(12)
    let pairs = 0
    for (let run = 0; run < 600; run++) {
      const bags = randomBags(random, 2 + Math.floor(random() * 16))
      const k = 1 + Math.floor(random() * 12)
      const records = recordsOfBags(bags)
      const found = topKSelfJoin(records, measure, k)
      pairs += found.length
      expect(
        found.map((pair) => pair.similarity),
        JSON.stringify({ bags, k }),
      ).toEqual(allSimilarities(bags, measure).slice(0, k))
      for (const { a, b, overlap, similarity: value } of found) {
        const [x, y] = [bags[a] ?? [], bags[b] ?? []]
        expect(a).toBeLessThan(b)
        expect([overlap, value]).toEqual([
          bagOverlap(x, y),
          similarity(measure, bagOverlap(x, y), x.length, y.length),
        ])
      }
      expect(new Set(found.map(({ a, b }) => `${a} ${b}`)).size).toBe(found.length)
      expect(topKSelfJoin(records, measure, k)).toEqual(found)
    }
    expect(pairs).toBeGreaterThan(1000)
  })

  test('of none are none', () => {
    expect(topKSelfJoin(recordsOfBags([]), 'jaccard', 5)).toEqual([])
    expect(topKSelfJoin(recordsOfBags([['a'], ['a']]), 'jaccard', 0)).toEqual([])
  })
})
