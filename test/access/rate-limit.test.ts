import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RateLimit } from '../../src/access/rate-limit.ts'

const seed = 20_261_201

describe('the limit of a name', () => {
  test('lets a minute of requests in at once, then one for each share of a minute, and tells how long to wait', () => {
    const limit = new RateLimit()
    expect([1, 2, 3, 4].map(() => limit.take('a', 3, 0))).toEqual([0, 0, 0, 20])
    expect(limit.take('a', 3, 19_000)).toBe(1)
    expect(limit.take('a', 3, 20_000)).toBe(0)
    expect(limit.take('a', 3, 20_000)).toBe(20)
    expect([1, 2, 3, 4].map(() => limit.take('a', 3, 1e9))).toEqual([0, 0, 0, 20])
  })

  test('is that of this name only', () => {
    const limit = new RateLimit()
    expect([limit.take('a', 1, 0), limit.take('a', 1, 0), limit.take('b', 1, 0)]).toEqual([0, 60, 0])
  })

  test(`in any time it lets no more in than a minute's requests and those of the time (seed ${seed})`, () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 500 }), (pauses, perMinute) => {
        const limit = new RateLimit()
        let now = 1000
        const times = pauses.flatMap((pause) => {
          now += pause
          return limit.take('a', perMinute, now) === 0 ? [now] : []
        })
        for (const [i, from] of times.entries())
          for (const [j, to] of times.entries())
            if (j >= i)
              expect(j - i + 1).toBeLessThanOrEqual(perMinute + ((to - from) * perMinute) / 60_000 + 1e-6)
      }),
      { seed, numRuns: 60 },
    )
  })

  test(`who waits as long as he is told is let in (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 0, max: 1e6 }), (perMinute, start) => {
        const limit = new RateLimit()
        let wait = 0
        while (wait === 0) wait = limit.take('a', perMinute, start)
        expect(limit.take('a', perMinute, start + wait * 1000)).toBe(0)
      }),
      { seed, numRuns: 60 },
    )
  })
})
