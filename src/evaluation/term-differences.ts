import { addCounts, type Label, type LabelCounts, noCounts } from './label.ts'
import { type Precision, type Proportion, precisionOf, proportion } from './precision.ts'

/** Beyond this a pair belongs to Table 8 of the paper. */
const large = 200

export type TermDifferences = {
  readonly pairs: number
  readonly mean: number | null
  readonly median: number | null
  /** The shares that the paper names: exactly 2 (one term replaced), below 42 and below 44. */
  readonly of2: Proportion
  readonly below42: Proportion
  readonly below44: Proportion
  /** Pairs that differ in more than 200 terms, by label (Table 8). */
  readonly over200: Precision
  /** Pairs by difference: 0, 1, 2, 3-4, 5-8, 9-16 and so on, each bucket with both its ends (Figures 2 and 4). */
  readonly buckets: readonly ({ readonly from: number; readonly to: number } & Precision)[]
  /** Pairs whose difference is an upper bound, because the search for it was cut short. */
  readonly inexact: number
}

/**
 * Counts pairs by term difference, as diff counts it: a replaced term counts twice. Memory: one entry a
 * difference that occurs.
 *
 * Source: Henzinger 2006, Figures 2 and 4, Table 8.
 */
export class TermDifferenceTally {
  readonly #counts = new Map<number, LabelCounts>()
  #inexact = 0

  add({ count, exact }: { count: number; exact: boolean }, label: Label | null): void {
    const before = this.#counts.get(count) ?? noCounts
    const kind = label ?? 'unjudged'
    this.#counts.set(count, { ...before, [kind]: before[kind] + 1 })
    if (!exact) this.#inexact++
  }

  result(): TermDifferences {
    const rows = [...this.#counts]
      .map(([difference, counts]) => ({ difference, counts, pairs: precisionOf(counts).pairs }))
      .sort((x, y) => x.difference - y.difference)
    const pairs = rows.reduce((sum, row) => sum + row.pairs, 0)
    const total = rows.reduce((sum, row) => sum + row.difference * row.pairs, 0)
    const within = (from: number, to: number): LabelCounts =>
      rows
        .filter(({ difference }) => difference >= from && difference <= to)
        .reduce((sum, { counts }) => addCounts(sum, counts), noCounts)
    const share = (from: number, to: number): Proportion =>
      proportion(precisionOf(within(from, to)).pairs, pairs)
    const buckets: { from: number; to: number }[] = [{ from: 0, to: 0 }]
    const largest = rows.at(-1)?.difference ?? 0
    for (let from = 1, to = 1; from <= largest; from = to + 1, to *= 2) buckets.push({ from, to })
    return {
      pairs,
      mean: pairs === 0 ? null : total / pairs,
      median: medianOf(rows, pairs),
      of2: share(2, 2),
      below42: share(0, 41),
      below44: share(0, 43),
      over200: precisionOf(within(large + 1, Number.POSITIVE_INFINITY)),
      buckets: buckets.map(({ from, to }) => ({ from, to, ...precisionOf(within(from, to)) })),
      inexact: this.#inexact,
    }
  }
}

/** The lower of the two middle values where their number is even. */
const medianOf = (rows: readonly { difference: number; pairs: number }[], pairs: number): number | null => {
  let before = 0
  for (const { difference, pairs: here } of rows) {
    before += here
    if (before >= pairs / 2) return difference
  }
  return null
}
