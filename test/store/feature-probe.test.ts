import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { intersectionSize } from '../../src/detect/resemblance.ts'
import { boundsOf, hasPrefixOf, reaches } from '../../src/join/bounds.ts'
import { thresholdOf } from '../../src/join/threshold.ts'
import { FeatureOrder } from '../../src/store/feature-order.ts'
import { FeaturePoster } from '../../src/store/feature-postings.ts'
import { FeatureProbe } from '../../src/store/feature-probe.ts'
import {
  bucketOf,
  featureMask,
  greatestOfBucket,
  leastOfBucket,
  postedFeature,
} from '../../src/store/feature-value.ts'

const seed = 20_081

type Sets = readonly (readonly number[])[]

/** The features with these numbers: of each eight neighbours two have one posted part. */
const valuesOf = (numbers: readonly number[]): Float64Array =>
  Float64Array.from(new Set(numbers), (number) => {
    const spread = (Math.imul(number - (number % 8 === 1 ? 1 : 0), 0x9e37_79b1) >>> 0) % 2 ** 20
    return spread * 2 ** 33 + (number % 8)
  }).sort()

/** Which of the sets the probe names, reading all their postings list by list. */
const named = (
  all: readonly Float64Array[],
  own: Float64Array,
  frequent: Float64Array,
  least: number,
  bounds: ReturnType<typeof boundsOf>,
) => {
  const leastBounds = boundsOf('jaccard', thresholdOf(least))
  const order = new FeatureOrder(frequent)
  const poster = new FeaturePoster(
    (text) => {
      const values = all[Buffer.from(text).readUInt32LE()] ?? new Float64Array()
      return { shingles: values, tokens: values }
    },
    leastBounds,
    { shingles: order, tokens: order },
  )
  const posted = all.map((_, i) => {
    const text = Buffer.alloc(4)
    text.writeUInt32LE(i)
    return poster.postingsOf(text).shingles
  })
  const probe = new FeatureProbe(own, order, bounds, leastBounds)
  // Which lists are left unread must not matter.
  const skipped = probe.lists.filter((_, i) => i > 0 && (i + all.length) % 3 !== 0)
  const unread = new Set(skipped.slice(0, probe.spare))
  probe.begin(unread.size)
  for (const list of probe.lists.filter((one) => !unread.has(one)))
    for (const [set, { highs, lows }] of posted.entries())
      for (let i = 0; i < highs.length; i++) {
        const low = lows[i] ?? 0
        const inList = highs[i] === list.high && ((low ^ list.low) & featureMask) === 0
        if (inList && low >= list.low && low <= list.lastLow) probe.meet(list, low, set)
      }
  return probe.take()
}

/** Sets that reach the threshold and are not named; the others that are named. */
const compare = (
  sets: Sets,
  own: readonly number[],
  frequent: readonly number[],
  least: number,
  measure: 'jaccard' | 'cosine' | 'dice',
  threshold: number,
) => {
  const bounds = boundsOf(measure, thresholdOf(threshold))
  const all = sets.map(valuesOf)
  const values = valuesOf(own)
  const found = named(all, values, valuesOf(frequent).map(postedFeature), least, bounds)
  const expected = all.flatMap((other, set) =>
    reaches(bounds, intersectionSize(values, other), values.length, other.length) ? [set] : [],
  )
  return { found, missing: expected.filter((set) => !found.includes(set)) }
}

const numbers = (greatest: number, maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: greatest }), { minLength: 1, maxLength })
const measure = fc.constantFrom('jaccard' as const, 'cosine' as const, 'dice' as const)
const threshold = fc.oneof(
  fc.integer({ min: 50, max: 100 }).map((hundredths) => hundredths / 100),
  fc.constantFrom(2 / 3, 3 / 4, 4 / 5, 5 / 6, Math.SQRT1_2, 1),
)

describe('A probe of features', () => {
  test('names every set that reaches the threshold, by each measure and under any order', () => {
    fc.assert(
      fc.property(
        fc.array(numbers(30, 25), { minLength: 1, maxLength: 25 }),
        numbers(30, 25),
        numbers(30, 12),
        fc.constantFrom(0.3, 0.5, 0.6),
        measure,
        threshold,
        (sets, own, frequent, least, by, at) => {
          fc.pre(hasPrefixOf(boundsOf(by, thresholdOf(at)), boundsOf('jaccard', thresholdOf(least))))
          expect(compare(sets, own, frequent, least, by, at).missing).toEqual([])
        },
      ),
      { seed, numRuns: 2000 },
    )
  })

  test('names every set where sizes and positions are known by their buckets only', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ from: fc.integer({ min: 0, max: 900 }), size: fc.integer({ min: 1000, max: 2600 }) }),
          {
            minLength: 5,
            maxLength: 8,
          },
        ),
        fc.integer({ min: 0, max: 3000 }),
        measure,
        threshold,
        (ranges, frequent, by, at) => {
          fc.pre(hasPrefixOf(boundsOf(by, thresholdOf(at)), boundsOf('jaccard', thresholdOf(0.5))))
          const sets = ranges.map(({ from, size }) => Array.from({ length: size }, (_, i) => from + i))
          const common = Array.from({ length: frequent }, (_, i) => i)
          expect(compare(sets, sets[0] ?? [], common, 0.5, by, at).missing).toEqual([])
        },
      ),
      { seed, numRuns: 20 },
    )
  })

  test('leaves out sets of other sizes, and those that share too little of their prefixes', () => {
    const own = Array.from({ length: 20 }, (_, i) => 8 * i)
    const half = own.slice(0, 10)
    const other = own.map((number) => number + 2)
    const lastInCommon = valuesOf([...own, ...other])
    expect(lastInCommon).toHaveLength(40)
    expect(compare([own, half, other], own, [], 0.5, 'jaccard', 0.8).found).toEqual([0])
  })
})

describe('A bucket', () => {
  test('is the count itself below 1024, and less than a 64th wide beyond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 26 - 2 ** 20 - 1 }), (count) => {
        const bucket = bucketOf(count)
        expect(leastOfBucket(bucket)).toBeLessThanOrEqual(count)
        expect(greatestOfBucket(bucket)).toBeGreaterThanOrEqual(count)
        expect(bucketOf(count + 1) - bucket).toBeLessThanOrEqual(1)
        const width = greatestOfBucket(bucket) - leastOfBucket(bucket)
        expect(width).toBeLessThanOrEqual(count < 1024 ? 0 : count / 64)
      }),
      { seed, numRuns: 2000 },
    )
  })
})
