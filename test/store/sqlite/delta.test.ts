import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Delta, isFull } from '../../../src/store/sqlite/delta.ts'

const signed = ([high, low]: readonly [number, number]): bigint =>
  BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low))

const halfArbitrary = fc.oneof(fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff), fc.nat(5))
const postingArbitrary = fc.record({ slot: fc.nat(2), high: halfArbitrary, low: halfArbitrary })

describe('Delta', () => {
  test('reads and sorts posting lists as a map of arrays would', () => {
    fc.assert(
      fc.property(fc.array(postingArbitrary, { maxLength: 400 }), (postings) => {
        const delta = new Delta()
        const lists = new Map<string, number[]>()
        postings.forEach(({ slot, high, low }, i) => {
          delta.addSet(10 * i, [{ slot, high, low }])
          const name = JSON.stringify([slot, high, low])
          lists.set(name, [...(lists.get(name) ?? []), 10 * i])
        })
        for (const [name, numbers] of lists) {
          const [slot, high, low] = JSON.parse(name)
          for (const after of [-1, 0, 5, numbers[0] ?? 0, numbers.at(-1) ?? 0, 1995])
            for (const count of [1, 2, 1000]) {
              const read: number[] = []
              delta.read({ slot, high, low }, after, count, read)
              expect(read).toEqual(numbers.filter((number) => number > after).slice(0, count))
            }
        }
        for (const slot of [0, 1, 2]) {
          const expected = [...lists]
            .map(([name, numbers]) => ({ list: JSON.parse(name) as [number, number, number], numbers }))
            .filter(({ list }) => list[0] === slot)
            .flatMap(({ list, numbers }) =>
              numbers.map((number) => [signed([list[1], list[2]]), number] as const),
            )
            .sort(([a, m], [b, n]) => (a < b ? -1 : a > b ? 1 : m - n))
          expect([...delta.sorted(slot)]).toEqual(expected)
        }
      }),
      { seed: 64, numRuns: 100 },
    )
  })

  test('appends what it reads and finds nothing under values that were not added', () => {
    const delta = new Delta()
    delta.addSet(7, [{ slot: 3, high: 1, low: 2 }])
    const read = [1]
    delta.read({ slot: 3, high: 1, low: 2 }, 0, 10, read)
    for (const key of [
      { slot: 4, high: 1, low: 2 },
      { slot: 3, high: 2, low: 1 },
      { slot: 3, high: 0, low: 0 },
    ])
      delta.read(key, 0, 10, read)
    expect(read).toEqual([1, 7])
  })

  test('keeps lists of any length in order while it grows', () => {
    const delta = new Delta()
    for (let number = 1; number <= 5000; number++)
      delta.addSet(number, [
        { slot: 0, high: 9, low: 9 },
        { slot: 0, high: number, low: 0 },
      ])
    const hot: number[] = []
    delta.read({ slot: 0, high: 9, low: 9 }, 1000, 10_000, hot)
    expect(hot).toEqual(Array.from({ length: 4000 }, (_, i) => 1001 + i))
    for (let number = 1; number <= 5000; number++) {
      const single: number[] = []
      delta.read({ slot: 0, high: number, low: 0 }, 0, 10, single)
      expect(single).toEqual([number])
    }
  })

  test('is full by sets or by documents, and knows the range of its numbers', () => {
    const delta = new Delta()
    delta.addSet(5, [])
    delta.addDocument(6, [])
    delta.addDocument(9, [])
    expect([isFull(delta, 3), isFull(delta, 2), isFull(delta, 1)]).toEqual([false, true, true])
    expect([delta.firstNumber, delta.lastNumber]).toEqual([5, 9])
    const sets = new Delta()
    sets.addSet(1, [])
    sets.addSet(2, [])
    expect([isFull(sets, 3), isFull(sets, 2)]).toEqual([false, true])
  })
})
