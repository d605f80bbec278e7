import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NumberClock } from '../../src/store/number-clock.ts'

describe('NumberClock', () => {
  test('gives safe integers, each greater than the one before and than the floor, however the time goes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: Date.UTC(2080, 0) }), { minLength: 1 }),
        fc.nat(2 ** 40),
        (times, floor) => {
          let reading = 0
          const clock = new NumberClock(floor, () => times[reading] ?? 0)
          let last = floor
          for (reading = 0; reading < times.length; reading++) {
            const number = clock.next()
            expect(Number.isSafeInteger(number)).toBe(true)
            expect(number).toBeGreaterThan(last)
            last = number
          }
        },
      ),
      { seed: 2020 },
    )
  })

  test('follows the time: 4096 numbers to a millisecond since 2020', () => {
    let now = Date.UTC(2020, 0) + 1
    const clock = new NumberClock(0, () => now)
    expect([clock.next(), clock.next()]).toEqual([4096, 4097])
    now += 1000
    expect(clock.next()).toBe(1001 * 4096)
  })

  test('runs ahead of a millisecond that is used up, and of a time before its epoch', () => {
    const clock = new NumberClock(0, () => Date.UTC(2020, 0) + 1)
    const numbers = Array.from({ length: 10_000 }, () => clock.next())
    expect(numbers.at(-1)).toBe(4096 + 9999)
    expect(new NumberClock(0, () => 0).next()).toBe(1)
  })
})
