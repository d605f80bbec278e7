import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { supershingleCount } from '../../src/signature/scheme.ts'
import { mergePostings } from '../../src/store/probe.ts'
import type { ProbeQuery } from '../../src/store/store.ts'
import { signatureOf } from './sample.ts'

/** Answers the requests of a merge from one array a slot; counts what was asked for. */
const merge = (lists: readonly (readonly number[])[], query: Omit<ProbeQuery, 'signature'>) => {
  const steps = mergePostings({ ...query, signature: signatureOf('any') })
  let read = 0
  let step = steps.next([])
  while (!step.done) {
    const { key, after, count } = step.value
    const chunk = (lists[key.slot] ?? []).filter((number) => number > after).slice(0, count)
    read += chunk.length
    step = steps.next(chunk)
  }
  return { ...step.value, read }
}

const bruteForce = (lists: readonly (readonly number[])[], query: Omit<ProbeQuery, 'signature'>) => {
  const { minSupershingles, bands, after, limit } = query
  const inLists = (number: number, from: number, to: number) =>
    lists.slice(from, to).filter((list) => list.includes(number)).length
  const shared = [...new Set(lists.flat())]
    .filter((number) => number > after)
    .sort((a, b) => a - b)
    .map((number) => ({
      number,
      supershingles: minSupershingles === null ? 0 : inLists(number, 0, supershingleCount),
      bands: bands ? inLists(number, supershingleCount, 19) : 0,
    }))
    .filter((one) => one.supershingles > 0 || one.bands > 0)
  const looked = shared.slice(0, limit)
  return {
    qualified: looked
      .filter((one) => one.bands > 0 || (minSupershingles !== null && one.supershingles >= minSupershingles))
      .map(({ number }) => number),
    examined: looked.length,
    last: looked.at(-1)?.number ?? after,
    frontier: shared.length > limit ? (looked.at(-1)?.number ?? after) : null,
  }
}

const listArbitrary = fc
  .uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 150 })
  .map((numbers) => numbers.sort((a, b) => a - b))
const queryArbitrary = fc.record({
  minSupershingles: fc.option(fc.integer({ min: 1, max: 6 })),
  bands: fc.boolean(),
  after: fc.nat(400),
  limit: fc.integer({ min: 1, max: 500 }),
})

describe('Merging posting lists', () => {
  test('gives what counting in all lists gives', () => {
    fc.assert(
      fc.property(
        fc.array(listArbitrary, { minLength: 19, maxLength: 19 }),
        queryArbitrary,
        (lists, query) => {
          const { read: _, ...merged } = merge(lists, query)
          expect(merged).toEqual(bruteForce(lists, query))
        },
      ),
      { seed: 384, numRuns: 300 },
    )
  })

  test('in pages from frontier to frontier gives the same sets as at once', () => {
    fc.assert(
      fc.property(
        fc.array(listArbitrary, { minLength: 19, maxLength: 19 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 40 }),
        (lists, minSupershingles, limit) => {
          const query = { minSupershingles, bands: true }
          const all = merge(lists, { ...query, after: 0, limit: 10_000 })
          const qualified: number[] = []
          let examined = 0
          let after: number | null = 0
          while (after !== null) {
            const page: ReturnType<typeof merge> = merge(lists, { ...query, after, limit })
            qualified.push(...page.qualified)
            examined += page.examined
            after = page.frontier
          }
          expect([qualified, examined]).toEqual([all.qualified, all.examined])
        },
      ),
      { seed: 385, numRuns: 100 },
    )
  })

  test('reads of a list without end no more than its share of the limit', () => {
    const endless = Array.from({ length: 200_000 }, (_, i) => i + 1)
    const lists = Array.from({ length: 19 }, (_, slot) => (slot === 4 ? endless : [150_000]))
    const page = merge(lists, { minSupershingles: 2, bands: false, after: 0, limit: 500 })
    expect(page).toMatchObject({ qualified: [], examined: 500, frontier: 500 })
    expect(page.read).toBeLessThan(3 * 500)
  })
})
