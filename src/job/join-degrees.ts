import type { DegreeCounts } from '../evaluation/power-law.ts'
import type { CellTable } from './cell-table.ts'
import type { SetPairRow } from './join-reader.ts'
import { pairsOnAnySites, pairsOnSameSite } from './join-writer.ts'

/**
 * Counts how many near-duplicates each document of a join has, for all documents of a cell at once. Feed it all rows of
 * the result; the cost of one is linear in the cells of the set that has fewer.
 */
export class JoinDegrees {
  readonly #cells: CellTable
  readonly #ofSets: Float64Array
  /** On top of that of the set. */
  readonly #ofCells: Float64Array

  constructor(cells: CellTable) {
    this.#cells = cells
    this.#ofSets = new Float64Array(cells.sets)
    this.#ofCells = new Float64Array(cells.count)
  }

  add({ a, b, sites }: SetPairRow): void {
    const cells = this.#cells
    const onSame = sites === pairsOnSameSite
    const sign = onSame ? 1 : -1
    if (a === b) {
      if (!onSame) this.#addToSet(a, cells.sizeOf(a) - 1)
      if (sites === pairsOnAnySites) return
      const [start, end] = cells.cellsOf(a)
      for (let cell = start; cell < end; cell++)
        if (cells.hasSite(cell)) this.#addToCell(cell, sign * (cells.membersOf(cell) - 1))
      return
    }
    if (!onSame) {
      this.#addToSet(a, cells.sizeOf(b))
      this.#addToSet(b, cells.sizeOf(a))
    }
    if (sites === pairsOnAnySites) return
    const [small, large] = this.#cellCount(a) <= this.#cellCount(b) ? [a, b] : [b, a]
    const [start, end] = cells.cellsOf(small)
    for (let cell = start; cell < end; cell++) {
      const partner = cells.partnerIn(large, cell)
      if (partner < 0) continue
      this.#addToCell(cell, sign * cells.membersOf(partner))
      this.#addToCell(partner, sign * cells.membersOf(cell))
    }
  }

  /** Documents by degree; those that are in no pair are left out. */
  counts(): DegreeCounts {
    const counts = new Map<number, number>()
    for (let set = 0; set < this.#ofSets.length; set++) {
      const [start, end] = this.#cells.cellsOf(set)
      for (let cell = start; cell < end; cell++) {
        const degree = (this.#ofSets[set] as number) + (this.#ofCells[cell] as number)
        if (degree > 0) counts.set(degree, (counts.get(degree) ?? 0) + this.#cells.membersOf(cell))
      }
    }
    return counts
  }

  #cellCount(set: number): number {
    const [start, end] = this.#cells.cellsOf(set)
    return end - start
  }

  #addToSet(set: number, degree: number): void {
    this.#ofSets[set] = (this.#ofSets[set] as number) + degree
  }

  #addToCell(cell: number, degree: number): void {
    this.#ofCells[cell] = (this.#ofCells[cell] as number) + degree
  }
}
