import { describe, expect, test } from 'vitest'
import { boundsOf } from '../../src/join/bounds.ts'
import { finish, type JoinOptions, partitionedSelfJoin, rsJoin, selfJoin } from '../../src/join/join.ts'
import { type Measure, measures } from '../../src/join/measure.ts'
import type { PairBlock } from '../../src/join/pair-sink.ts'
import type { Filter } from '../../src/join/prober.ts'
import {
  type Records,
  recordPairOfBags,
  recordPairOfSets,
  recordsOfBags,
  recordsOfSets,
} from '../../src/join/records.ts'
import { thresholdOf } from '../../src/join/threshold.ts'
import { randomWords, seededRandom } from '../fixture/pages.ts'
import cases from '../golden/join-cases.json' with { type: 'json' }
import { expandTerms, type TermList } from '../golden/signatures.ts'
import { bagOverlap, bruteForceJoin, isSimilar, type Pair } from './brute-force.ts'
import { overlaps, randomBags, thresholds } from './collections.ts'

const filters: readonly Filter[] = ['prefix', 'positional', 'suffix']
const combinations = measures.flatMap((measure) => filters.map((filter) => [measure, filter] as const))
const thresholdsOf = (measure: Measure): readonly string[] => (measure === 'overlap' ? overlaps : thresholds)

const byIds = (one: Pair, other: Pair): number => one[0] - other[0] || one[1] - other[1]

/** The options of a join, and the pairs that it gave, the lower id first where `ordered`. */
const collecting = (measure: Measure, threshold: string, filter: Filter, ordered = true) => {
  const pairs: Pair[] = []
  const sink = ({ a, b, overlaps, count }: PairBlock): void => {
    for (let i = 0; i < count; i++) {
      const [x, y, overlap] = [a[i] ?? -1, b[i] ?? -1, overlaps[i] ?? -1]
      pairs.push(ordered && x > y ? [y, x, overlap] : [x, y, overlap])
    }
  }
  const options: JoinOptions = { bounds: boundsOf(measure, thresholdOf(threshold)), filter, sink }
  return { options, sorted: () => pairs.toSorted(byIds) }
}

const selfJoined = (
  bags: readonly string[][],
  measure: Measure,
  threshold: string,
  filter: Filter,
): Pair[] => {
  const { options, sorted } = collecting(measure, threshold, filter)
  finish(selfJoin(recordsOfBags(bags), options))
  return sorted()
}

/** A part of the records, in their order, as sets of numbers. */
const setsBetween = ({ tokens, offsets, ids }: Records, from: number, to: number) => ({
  ids: ids.slice(from, to),
  sets: Array.from({ length: to - from }, (_, i) =>
    Float64Array.from(tokens.subarray(offsets[from + i], offsets[from + i + 1])),
  ),
})

describe.each(combinations)('the join by %s with the filter %s', (measure, filter) => {
  test.each(cases.join.filter(({ input }) => input.sim === measure))('$id', ({ input, expect: expected }) => {
    const bags = input.records.map(({ tokens }) => expandTerms(tokens as TermList))
    const pairs = selfJoined(bags, measure, input.t, filter)
    const idOf = (record: number) => input.records[record]?.id
    expect(pairs.map(([a, b, overlap]) => [idOf(a), idOf(b), overlap])).toEqual(expected)
  })

  test('equals brute force on 1,200 random collections', () => {
    const random = seededRandom(41)
    let pairs = 0
    for (let run = 0; run < 1200; run++) {
      const list = thresholdsOf(measure)
      const threshold = list[run % list.length] ?? ''
      const bags = randomBags(random, 2 + Math.floor(random() * 14))
      const expected = bruteForceJoin(bags, measure, threshold)
      pairs += expected.length
      const found = selfJoined(bags, measure, threshold, filter)
      if (JSON.stringify(found) !== JSON.stringify(expected))
        expect({ bags, threshold, found }).toEqual(expected)
    }
    expect(pairs).toBeGreaterThan(1000)
  })

  test('of two collections equals brute force', () => {
    const random = seededRandom(42)
    let pairs = 0
    for (let run = 0; run < 300; run++) {
      const list = thresholdsOf(measure)
      const threshold = list[run % list.length] ?? ''
      const bags = randomBags(random, 4 + Math.floor(random() * 14))
      const cut = Math.floor(random() * bags.length)
      const [left, right] = [bags.slice(0, cut), bags.slice(cut)]
      const expected = right.flatMap((y, b) =>
        left.flatMap((x, a): Pair[] => {
          const overlap = bagOverlap(x, y)
          return isSimilar(measure, threshold, overlap, x.length, y.length) ? [[b, a, overlap]] : []
        }),
      )
      pairs += expected.length
      const { options, sorted } = collecting(measure, threshold, filter, false)
      const { r, s } = recordPairOfBags(left, right)
      finish(rsJoin(r, s, options))
      expect(sorted(), JSON.stringify({ left, right, threshold })).toEqual(expected)
    }
    expect(pairs).toBeGreaterThan(100)
  })

  test('of sets of numbers equals that of the same as bags', () => {
    const random = seededRandom(44)
    for (let run = 0; run < 200; run++) {
      const list = thresholdsOf(measure)
      const threshold = list[run % list.length] ?? ''
      const numberOf = (word: string): number => Number.parseInt(word, 36) % 2 ** 53
      const bags = randomBags(random, 12).map((bag) => [...new Set(bag)])
      const sets = bags.map((bag) => Float64Array.from(new Set(bag.map(numberOf))))
      const { options, sorted } = collecting(measure, threshold, filter)
      finish(selfJoin(recordsOfSets(sets), options))
      const expected = selfJoined(
        sets.map((set) => Array.from(set, String)),
        measure,
        threshold,
        filter,
      )
      expect(sorted(), JSON.stringify({ bags, threshold })).toEqual(expected)
      const cut = Math.floor(random() * sets.length)
      const across = collecting(measure, threshold, filter, false)
      const { r, s } = recordPairOfSets(sets.slice(0, cut), sets.slice(cut))
      finish(rsJoin(r, s, across.options))
      expect(across.sorted().map(([b, a]) => [a, cut + b])).toEqual(
        expect.arrayContaining(expected.filter(([a, b]) => a < cut && b >= cut).map(([a, b]) => [a, b])),
      )
      expect(across.sorted()).toHaveLength(expected.filter(([a, b]) => a < cut && b >= cut).length)
    }
  })

  test('in partitions equals the join in one piece, however they are cut', () => {
    const random = seededRandom(43)
    for (let run = 0; run < 200; run++) {
      const list = thresholdsOf(measure)
      const threshold = list[run % list.length] ?? ''
      const bags = randomBags(random, 3 + Math.floor(random() * 20))
      const records = recordsOfBags(bags)
      const cuts = [0, ...Array.from({ length: 3 }, () => Math.floor(random() * bags.length)), bags.length]
      cuts.sort((a, b) => a - b)
      const load = (i: number) => setsBetween(records, cuts[i] ?? 0, cuts[i + 1] ?? 0)
      const { options, sorted } = collecting(measure, threshold, filter)
      const counts = finish(
        partitionedSelfJoin(
          {
            count: cuts.length - 1,
            load,
            smallestSize: (i) => load(i).sets[0]?.length ?? 0,
            largestSize: (i) => load(i).sets.at(-1)?.length ?? 0,
          },
          options,
        ),
      )
      const expected = bruteForceJoin(bags, measure, threshold)
      expect(sorted(), JSON.stringify({ bags, cuts, threshold })).toEqual(expected)
      expect(counts.results).toBe(expected.length)
    }
  })
})

describe('a join', () => {
  /** Bags of about 40 tokens that share a good part of them. */
  const families = (): string[][] => {
    const random = seededRandom(7)
    return Array.from({ length: 30 }, () => {
      const words = randomWords(random, 40, 80)
      return Array.from({ length: 8 }, (_, i) => [...words.slice(2 * i), ...randomWords(random, 2 * i, 80)])
    }).flat()
  }

  test('has fewer candidates with each filter, and the same results', () => {
    for (const measure of ['jaccard', 'cosine', 'dice'] as const) {
      const threshold = '0.75'
      const records = recordsOfBags(families())
      const [prefix, positional, suffix] = filters.map((filter) =>
        finish(selfJoin(records, collecting(measure, threshold, filter).options)),
      )
      expect(positional?.candidates).toBeLessThan(prefix?.candidates ?? 0)
      expect(suffix?.candidates).toBeLessThan(positional?.candidates ?? 0)
      expect(prefix?.results).toBeGreaterThan(10)
      expect([positional?.results, suffix?.results]).toEqual([prefix?.results, prefix?.results])
      expect([positional?.met, suffix?.met]).toEqual([prefix?.met, prefix?.met])
    }
  })

  test('pauses between steps of bounded work, and can be given up there', () => {
    const bags = Array.from({ length: 3000 }, (_, i) => [`a${i % 3}`, `b${i % 2}`, `c${i}`])
    const { options, sorted } = collecting('jaccard', '0.5', 'prefix')
    const join = selfJoin(recordsOfBags(bags), options)
    const first = join.next()
    expect(first.done).toBe(false)
    expect(first.value).toBeLessThan(3000)
    join.return({ met: 0, positional: 0, candidates: 0, verified: 0, results: 0 })
    expect(sorted().length).toBeLessThan((3000 * 2999) / 2)
  })

  test('gives pairs in blocks, however many there are', () => {
    const bags = Array.from({ length: 200 }, () => ['p', 'q'])
    const { options, sorted } = collecting('dice', '1', 'suffix')
    const counts = finish(selfJoin(recordsOfBags(bags), options))
    expect(counts.results).toBe((200 * 199) / 2)
    expect(new Set(sorted().map(([a, b]) => `${a} ${b}`)).size).toBe(counts.results)
  })
})
