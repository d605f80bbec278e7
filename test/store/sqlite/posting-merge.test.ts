import type Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sortPostings } from '../../../src/store/posting-columns.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { PostingMerge } from '../../../src/store/sqlite/posting-merge.ts'
import { RunReader, RunWriter } from '../../../src/store/sqlite/posting-run.ts'

type Posting = readonly [high: number, low: number, number: number]

const columnsOf = (postings: readonly Posting[]) => ({
  highs: Uint32Array.from(postings, ([high]) => high),
  lows: Uint32Array.from(postings, ([, low]) => low),
  numbers: Float64Array.from(postings, ([, , number]) => number),
})

const emptyDatabase = (): Database.Database =>
  openDatabase({ path: ':memory:', scheme: 'test', synchronous: 'normal', now: () => 0 }).db

// Few values, so that one value fills blocks of several runs, and some at both ends of their range.
const halfArbitrary = fc.constantFrom(0, 1, 2, 0x8000_0000, 0xffff_ffff)
const runArbitrary = fc.record({
  values: fc.array(fc.tuple(halfArbitrary, halfArbitrary), { maxLength: 40 }),
  // Numbers of 4 to 7 bytes.
  spread: fc.constantFrom(1, 2 ** 30, 2 ** 38, 2 ** 42),
})

describe('A merge', () => {
  test('gives the postings of all runs by value and then by number, without what is gone', () => {
    const db = emptyDatabase()
    const reader = new RunReader(db)
    let run = 0
    fc.assert(
      fc.property(
        fc.array(runArbitrary, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(0, 6, 20),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 2, max: 9 }),
        (contents, slot, mostInBlock, loadedPostings, goneEvery) => {
          let last = 1000
          const all: Posting[] = []
          const gone = new Set<number>()
          const runs = contents.map(({ values, spread }) => {
            const firstNumber = last + 1
            const postings = values.map(([high, low]): Posting => {
              last += spread
              if (last % goneEvery === 0) gone.add(last)
              return [slot === 6 ? 0 : high, low, last]
            })
            all.push(...postings)
            last++
            const written = { run: ++run, firstNumber, lastNumber: last }
            const writer = new RunWriter(db, written, mostInBlock)
            const sorted = sortPostings(columnsOf(postings))
            writer.begin(slot, postings.length)
            const half = sorted.numbers.length >> 1
            writer.add(sorted, 0, half)
            writer.add(sorted, half, sorted.numbers.length)
            writer.end()
            const { numberBytes } = writer
            return { ...written, level: 0, numberBytes, numbers: postings.length, gone: 0 }
          })
          const merge = new PostingMerge(reader, runs, slot, gone, loadedPostings)
          expect(merge.postings).toBe(all.length)
          const merged: Posting[] = []
          let read = 0
          for (let next = merge.next(); next !== null; next = merge.next()) {
            const { highs, lows, numbers } = next.part
            expect(next.read).toBeGreaterThan(0)
            read += next.read
            numbers.forEach((number, i) => {
              merged.push([highs[i] ?? 0, lows[i] ?? 0, number])
            })
          }
          expect(read).toBe(all.length)
          expect(merged).toEqual(
            all
              .filter(([, , number]) => !gone.has(number))
              .sort(([h, l, n], [high, low, number]) => h - high || l - low || n - number),
          )
        },
      ),
      { seed: 16, numRuns: 300 },
    )
    db.close()
  })
})
