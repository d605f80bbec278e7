import { describe, expect, test } from 'vitest'
import { type Measure, measures, similarity } from '../../src/join/measure.ts'
import { SearchIndex } from '../../src/join/search-index.ts'
import { seededRandom } from '../fixture/pages.ts'
import cases from '../golden/join-cases.json' with { type: 'json' }
import { bagOverlap, isSimilar } from './brute-force.ts'
import { overlaps, randomBags, thresholds } from './collections.ts'

const bruteForce = (
  bags: readonly string[][],
  query: readonly string[],
  measure: Measure,
  threshold: string,
) =>
  bags
    .flatMap((bag, record) => {
      const overlap = bagOverlap(query, bag)
      if (!isSimilar(measure, threshold, overlap, query.length, bag.length)) return []
      return [{ record, overlap, similarity: similarity(measure, overlap, query.length, bag.length) }]
    })
    .sort((a, b) => b.similarity - a.similarity || a.record - b.record)

describe('a search index', () => {
  test.each(cases.search)('$id', ({ input, expect: expected }) => {
    const bags = input.records.map(({ tokens }) => tokens)
    for (const first of [bags, []]) {
      const index = new SearchIndex(input.sim as Measure, 0.5, first)
      if (first.length === 0) for (const bag of bags) index.add(bag)
      const found = index.search(input.query, input.t)
      expect(found.map(({ record, overlap }) => [input.records[record]?.id, overlap]).sort()).toEqual(
        expected.toSorted(),
      )
    }
  })

  test.each(measures)('by %s finds what brute force finds, whenever a record came', (measure) => {
    const random = seededRandom(11)
    const list = measure === 'overlap' ? overlaps : thresholds
    let found = 0
    for (let run = 0; run < 1000; run++) {
      const bags = randomBags(random, 1 + Math.floor(random() * 20))
      const first = Math.floor(random() * (bags.length + 1))
      const least = Math.floor(random() * list.length)
      const index = new SearchIndex(measure, list[least] ?? '', bags.slice(0, first))
      for (const bag of bags.slice(first)) index.add(bag)
      const threshold = list[least + Math.floor(random() * (list.length - least))] ?? ''
      for (const query of [...bags.slice(0, 2), ...randomBags(random, 3)]) {
        const expected = bruteForce(bags, query, measure, threshold)
        found += expected.length
        const results = index.search(query, threshold)
        if (JSON.stringify(results) !== JSON.stringify(expected))
          expect({ bags, first, query, threshold, results }).toEqual(expected)
        const best = bruteForce(bags, query, measure, list[least] ?? '').slice(0, 2)
        expect(index.top(query, 2)).toEqual(best)
      }
    }
    expect(found).toBeGreaterThan(500)
  })

  test('refuses a threshold below the one that it was built for, and serves that one', () => {
    const index = new SearchIndex('jaccard', '0.6', [['a', 'b', 'c']])
    expect(() => index.search(['a'], '0.59')).toThrow('0.6 or more')
    expect(index.search(['a', 'b'], '0.6')).toHaveLength(1)
  })

  test('finds nothing for no token, and no record without one', () => {
    const index = new SearchIndex('dice', '0.5', [[], ['a']])
    expect(index.search([], '0.5')).toEqual([])
    expect(index.search(['a'], '0.5').map(({ record }) => record)).toEqual([1])
  })

  test('takes any text for a token', () => {
    const index = new SearchIndex('jaccard', '0.5', [['__proto__', 'constructor', 'toString']])
    expect(index.search(['__proto__', 'toString'], '0.5')).toHaveLength(1)
    expect(index.search(['valueOf', 'hasOwnProperty'], '0.5')).toEqual([])
  })
})
