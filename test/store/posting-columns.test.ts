import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PostingColumns, sortPostings } from '../../src/store/posting-columns.ts'

const halfArbitrary = fc.oneof(fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff), fc.nat(5))
const valueArbitrary = fc.oneof(
  fc.record({ high: halfArbitrary, low: halfArbitrary }),
  fc.record({ high: fc.constant(0), low: fc.nat(2 ** 30 - 1) }),
)

const columnsOf = (values: readonly { high: number; low: number }[]): PostingColumns => ({
  highs: Uint32Array.from(values, ({ high }) => high),
  lows: Uint32Array.from(values, ({ low }) => low),
  numbers: Float64Array.from(values, (_, i) => 2 ** 50 + i),
})

const rows = ({ highs, lows, numbers }: PostingColumns) =>
  Array.from(numbers, (number, i) => [highs[i] as number, lows[i] as number, number] as const)

const sortedRows = (columns: PostingColumns) =>
  rows(columns).sort(([h, l, n], [high, low, number]) => h - high || l - low || n - number)

describe('Postings', () => {
  test('are sorted by unsigned value and then by number', () => {
    fc.assert(
      fc.property(fc.array(valueArbitrary, { maxLength: 300 }), (values) => {
        const columns = columnsOf(values)
        expect(rows(sortPostings(columns))).toEqual(sortedRows(columns))
      }),
      { seed: 32, numRuns: 200 },
    )
  })

  test('of few high halves are sorted by their low halves', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ high: fc.constantFrom(3, 0x8000_0001), low: fc.nat(2 ** 32 - 1) }), {
          minLength: 200,
          maxLength: 400,
        }),
        (values) => {
          const columns = columnsOf(values)
          expect(rows(sortPostings(columns))).toEqual(sortedRows(columns))
        },
      ),
      { seed: 33, numRuns: 50 },
    )
  })
})
