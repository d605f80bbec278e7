import { Components } from '../detect/components.ts'
import type { JoinReader, SetPairRow } from './join-reader.ts'
import { pairsOnAnySites, pairsOnDifferentSites, pairsOnSameSite } from './join-writer.ts'

/** Members of one identity set on one site, who have the same near-duplicates. `site` 0: none. */
export type Cell = {
  readonly cell: number
  readonly set: number
  readonly site: number
  readonly first: number
  readonly members: number
  readonly tokenCount: number
}

/** How many document pairs are on one site, and how many on different ones. */
export type PairCounts = { readonly same: number; readonly different: number }

/** Cells of a set are looked through one by one up to here, and beyond by an index. */
const fewCells = 8

/**
 * The graph whose nodes are the documents of a join and whose edges are its pairs, kept by cells and pairs of identity sets: about
 * 50 bytes a pair of sets and 20 bytes a cell.
 */
export class SetPairGraph {
  readonly cellCount: number
  readonly rowCount: number
  readonly #rows: {
    readonly a: Uint32Array
    readonly b: Uint32Array
    readonly bSimilarity: Uint8Array
    readonly cSimilarity: Uint16Array
    readonly sites: Uint8Array
    /** NaN where it follows from the sketches. */
    readonly similarity: Float64Array
    readonly sameSitePairs: Float64Array
    readonly differentSitePairs: Float64Array
  }
  /** Rows of set s are those in `#rowsOfSet` from `#firstRow[s]` on; one within a set stands there once. */
  readonly #firstRow: Uint32Array
  readonly #rowsOfSet: Uint32Array
  /** Cells of set s are those from `#firstCell[s]` on. */
  readonly #firstCell: Uint32Array
  readonly #cellSet: Uint32Array
  readonly #cellSite: Uint32Array
  readonly #cellFirst: Uint32Array
  readonly #cellMembers: Uint32Array
  readonly #membersOfSet: Uint32Array
  readonly #tokenCounts: Uint32Array
  readonly #siteIndexes = new Map<number, ReadonlyMap<number, number>>()

  constructor(reader: JoinReader, report: (done: number, total: number) => void) {
    const { sets, cells, rows } = reader.bounds()
    this.cellCount = cells
    this.rowCount = rows
    this.#firstCell = new Uint32Array(sets + 1)
    this.#membersOfSet = new Uint32Array(sets)
    this.#tokenCounts = new Uint32Array(sets)
    this.#cellSet = new Uint32Array(cells)
    this.#cellSite = new Uint32Array(cells)
    this.#cellFirst = new Uint32Array(cells)
    this.#cellMembers = new Uint32Array(cells)
    this.#readCells(reader)
    this.#rows = {
      a: new Uint32Array(rows),
      b: new Uint32Array(rows),
      bSimilarity: new Uint8Array(rows),
      cSimilarity: new Uint16Array(rows),
      sites: new Uint8Array(rows),
      similarity: new Float64Array(rows),
      sameSitePairs: new Float64Array(rows),
      differentSitePairs: new Float64Array(rows),
    }
    this.#firstRow = new Uint32Array(sets + 1)
    this.#readRows(reader, report)
    this.#rowsOfSet = this.#indexRows()
  }

  cell(cell: number): Cell {
    return {
      cell,
      set: this.#cellSet[cell] as number,
      site: this.#cellSite[cell] as number,
      first: this.#cellFirst[cell] as number,
      members: this.#cellMembers[cell] as number,
      tokenCount: this.#tokenCounts[this.#cellSet[cell] as number] as number,
    }
  }

  row(row: number): SetPairRow {
    const similarity = this.#rows.similarity[row] as number
    return {
      pair: row,
      a: this.#rows.a[row] as number,
      b: this.#rows.b[row] as number,
      bSimilarity: this.#rows.bSimilarity[row] as number,
      cSimilarity: this.#rows.cSimilarity[row] as number,
      sites: this.#rows.sites[row] as number,
      similarity: Number.isNaN(similarity) ? null : similarity,
      sameSitePairs: this.#rows.sameSitePairs[row] as number,
      differentSitePairs: this.#rows.differentSitePairs[row] as number,
    }
  }

  /** The rows in which a set is. */
  rowsOf(set: number): Uint32Array {
    return this.#rowsOfSet.subarray(this.#firstRow[set], this.#firstRow[set + 1])
  }

  /** The first cell of a set, and the one after its last. */
  cellsOf(set: number): readonly [from: number, to: number] {
    return [this.#firstCell[set] as number, this.#firstCell[set + 1] as number]
  }

  /** How many documents of another set (or of its own) a document of the cell makes pairs with in a row. */
  partnersOfOne({ set, site, members, cell }: Cell, { a, b, sites }: SetPairRow): PairCounts {
    const other = a === set ? b : a
    const total = (this.#membersOfSet[other] as number) - (a === b ? 1 : 0)
    const own = site === 0 ? -1 : a === b ? cell : this.#cellOfSite(other, site)
    const same = own === -1 ? 0 : a === b ? members - 1 : (this.#cellMembers[own] as number)
    return {
      same: sites & pairsOnSameSite ? same : 0,
      different: sites & pairsOnDifferentSites ? total - same : 0,
    }
  }

  /** Cells whose documents make pairs with those of the given cell in a row; its own one, where its documents do with each other. */
  *partnerCells({ set, site, cell }: Cell, { a, b, sites }: SetPairRow): Generator<Cell> {
    const [from, to] = this.cellsOf(a === set ? b : a)
    if (sites === pairsOnSameSite) {
      const own = site === 0 ? -1 : a === b ? cell : this.#cellOfSite(a === set ? b : a, site)
      if (own !== -1) yield this.cell(own)
      return
    }
    for (let other = from; other < to; other++) {
      const isSame = site !== 0 && this.#cellSite[other] === site
      if (sites === pairsOnAnySites || !isSame) yield this.cell(other)
    }
  }

  /** Cells that pairs connect, directly or through others. */
  components(): Components {
    const components = new Components(this.cellCount)
    /** 1 for sets all of whose cells are connected. */
    const isConnected = new Uint8Array(this.#membersOfSet.length)
    const connect = (set: number) => {
      if (isConnected[set] === 1) return
      isConnected[set] = 1
      const [from, to] = this.cellsOf(set)
      for (let cell = from + 1; cell < to; cell++) components.unite(from, cell)
    }
    for (let row = 0; row < this.rowCount; row++) {
      const a = this.#rows.a[row] as number
      const b = this.#rows.b[row] as number
      const sites = this.#rows.sites[row] as number
      const [firstA] = this.cellsOf(a)
      const [firstB] = this.cellsOf(b)
      if (a === b) {
        // On different sites: each cell with all others. On one site: each with itself, which needs no union.
        if (sites !== pairsOnSameSite) connect(a)
      } else if (sites === pairsOnAnySites) {
        connect(a)
        connect(b)
        components.unite(firstA, firstB)
      } else {
        this.#uniteSome(components, a, b, sites)
        this.#uniteSome(components, b, a, sites)
      }
    }
    return components
  }

  /**
   * Unites each cell of a set with as many of its partners in the other as connectedness needs: all where pairs are on one site
   * (there is one at most); two of them where they are on different ones. Any two cells that are partners
   * choose two each out of the first three of a set, and two out of three always have one in common.
   */
  #uniteSome(components: Components, set: number, other: number, sites: number): void {
    const [from, to] = this.cellsOf(set)
    const [otherFrom, otherTo] = this.cellsOf(other)
    for (let cell = from; cell < to; cell++) {
      const site = this.#cellSite[cell] as number
      if (sites === pairsOnSameSite) {
        const partner = site === 0 ? -1 : this.#cellOfSite(other, site)
        if (partner !== -1) components.unite(cell, partner)
        continue
      }
      let united = 0
      for (let partner = otherFrom; partner < otherTo && united < 2; partner++) {
        if (site !== 0 && this.#cellSite[partner] === site) continue
        components.unite(cell, partner)
        united++
      }
    }
  }

  #cellOfSite(set: number, site: number): number {
    const [from, to] = this.cellsOf(set)
    if (to - from <= fewCells) {
      for (let cell = from; cell < to; cell++) if (this.#cellSite[cell] === site) return cell
      return -1
    }
    let index = this.#siteIndexes.get(set)
    if (index === undefined) {
      const entries = Array.from(
        { length: to - from },
        (_, i) => [this.#cellSite[from + i], from + i] as const,
      )
      index = new Map(entries as (readonly [number, number])[])
      this.#siteIndexes.set(set, index)
    }
    return index.get(site) ?? -1
  }

  #readCells(reader: JoinReader): void {
    const sites = new Map<string, number>()
    let cell = 0
    for (const { set, site, first, members, tokenCount } of reader.cells()) {
      let number = site === null ? 0 : sites.get(site)
      if (number === undefined) {
        number = sites.size + 1
        sites.set(site as string, number)
      }
      this.#cellSet[cell] = set
      this.#cellSite[cell] = number
      this.#cellFirst[cell] = first
      this.#cellMembers[cell] = members
      this.#tokenCounts[set] = tokenCount
      this.#membersOfSet[set] = (this.#membersOfSet[set] as number) + members
      this.#firstCell[set + 1] = ++cell
    }
    for (let set = 0; set < this.#membersOfSet.length; set++)
      this.#firstCell[set + 1] = Math.max(this.#firstCell[set + 1] as number, this.#firstCell[set] as number)
  }

  #readRows(reader: JoinReader, report: (done: number, total: number) => void): void {
    const { a, b, bSimilarity, cSimilarity, sites, similarity, sameSitePairs, differentSitePairs } =
      this.#rows
    const count = (set: number) => {
      this.#firstRow[set + 1] = (this.#firstRow[set + 1] as number) + 1
    }
    for (const row of reader.setPairs()) {
      a[row.pair] = row.a
      b[row.pair] = row.b
      bSimilarity[row.pair] = row.bSimilarity
      cSimilarity[row.pair] = row.cSimilarity
      sites[row.pair] = row.sites
      similarity[row.pair] = row.similarity ?? Number.NaN
      sameSitePairs[row.pair] = row.sameSitePairs
      differentSitePairs[row.pair] = row.differentSitePairs
      count(row.a)
      if (row.a !== row.b) count(row.b)
      if (row.pair % 4096 === 0) report(row.pair, this.rowCount)
    }
  }

  /** Makes sums of the counts in `#firstRow`, and sorts the rows by set. */
  #indexRows(): Uint32Array {
    const sets = this.#membersOfSet.length
    for (let set = 0; set < sets; set++)
      this.#firstRow[set + 1] = (this.#firstRow[set + 1] as number) + (this.#firstRow[set] as number)
    const rowsOfSet = new Uint32Array(this.#firstRow[sets] as number)
    const next = this.#firstRow.slice()
    const put = (set: number, row: number) => {
      rowsOfSet[next[set] as number] = row
      next[set] = (next[set] as number) + 1
    }
    for (let row = 0; row < this.rowCount; row++) {
      const a = this.#rows.a[row] as number
      const b = this.#rows.b[row] as number
      put(a, row)
      if (a !== b) put(b, row)
    }
    return rowsOfSet
  }
}
