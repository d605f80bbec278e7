import type { JoinReader, SetPairRow } from './join-reader.ts'
import { pairsOnAnySites, pairsOnSameSite } from './join-writer.ts'

const noSite = -1
/** From so many cells of a set on, those of a site are found by a map. */
const cellsInMap = 8

const at = (column: Uint32Array | Int32Array, index: number): number => column[index] as number

/** Pairs of n documents. */
const pairsOf = (n: number): number => (n * (n - 1)) / 2

/** The pair with a rank among those of n: (0, 1), (0, 2), ... (0, n - 1), (1, 2), ... */
const pairWithRank = (n: number, rank: number): readonly [number, number] => {
  const before = (x: number): number => (x * (2 * n - x - 1)) / 2
  let x = Math.floor(n - 0.5 - Math.sqrt(Math.max(0, (n - 0.5) ** 2 - 2 * rank)))
  while (before(x) > rank) x--
  while (before(x + 1) <= rank) x++
  return [x, rank - before(x) + x + 1]
}

/**
 * The cells of a join's result (the members of one identity set on one site) side by side in arrays: what a row of the result
 * stands for is counted and picked from them, without going through its documents.
 */
export class CellTable {
  readonly #firsts: Uint32Array
  readonly #members: Uint32Array
  readonly #sites: Int32Array
  /** By place of a set: its first cell; the end of the last one at the end. */
  readonly #starts: Uint32Array
  readonly #bySite = new Map<number, ReadonlyMap<number, number>>()

  /** Reads all cells: 16 bytes for each, and 4 for each place of a set. */
  constructor(reader: JoinReader) {
    const { cells, sets } = reader.bounds()
    this.#firsts = new Uint32Array(cells)
    this.#members = new Uint32Array(cells)
    this.#sites = new Int32Array(cells)
    this.#starts = new Uint32Array(sets + 1)
    const sites = new Map<string, number>()
    let cell = 0
    let set = 0
    for (const one of reader.cells()) {
      while (set <= one.set) this.#starts[set++] = cell
      this.#firsts[cell] = one.first
      this.#members[cell] = one.members
      const site = one.site === null ? noSite : (sites.get(one.site) ?? sites.size)
      if (one.site !== null) sites.set(one.site, site)
      this.#sites[cell++] = site
    }
    this.#starts.fill(cell, set)
  }

  /** Number of cells. */
  get count(): number {
    return this.#firsts.length
  }

  /** The number below which all places of sets lie. */
  get sets(): number {
    return this.#starts.length - 1
  }

  /** The cell of a member, by its number. */
  cellOf(member: number): number {
    let [low, high] = [0, this.#firsts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (at(this.#firsts, middle) <= member) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** The place of the set of a cell. */
  setOf(cell: number): number {
    let [low, high] = [0, this.#starts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (at(this.#starts, middle) <= cell) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Whether documents of two cells are on one site. */
  areOnOneSite(a: number, b: number): boolean {
    return at(this.#sites, a) !== noSite && at(this.#sites, a) === at(this.#sites, b)
  }

  /** The members of the document pair of a row that has a rank among its pairs, counted from 0. Linear in the cells of the row. */
  pairAt({ a, b, sites }: SetPairRow, rank: number): readonly [number, number] {
    const [first, size] = this.#extent(a)
    const [otherFirst, otherSize] = this.#extent(b)
    if (sites === pairsOnAnySites) {
      if (a !== b) return [first + Math.floor(rank / otherSize), otherFirst + (rank % otherSize)]
      const [x, y] = pairWithRank(size, rank)
      return [first + x, first + y]
    }
    const onSame = sites === pairsOnSameSite
    let left = rank
    for (let cell = at(this.#starts, a); cell < at(this.#starts, a + 1); cell++) {
      const [cellFirst, members] = [at(this.#firsts, cell), at(this.#members, cell)]
      if (a === b) {
        const hasSite = at(this.#sites, cell) !== noSite
        const within = hasSite === onSame ? pairsOf(members) : 0
        if (left < within) {
          const [x, y] = pairWithRank(members, left)
          return [cellFirst + x, cellFirst + y]
        }
        left -= within
        const behind = onSame ? 0 : first + size - cellFirst - members
        if (left < members * behind)
          return [cellFirst + Math.floor(left / behind), cellFirst + members + (left % behind)]
        left -= members * behind
      } else {
        const partner = this.#cellOfSite(b, at(this.#sites, cell))
        const shared = partner < 0 ? 0 : at(this.#members, partner)
        const partners = onSame ? shared : otherSize - shared
        if (left < members * partners) {
          const [x, y] = [Math.floor(left / partners), left % partners]
          const from = onSame ? at(this.#firsts, partner) : otherFirst
          const skips = !onSame && partner >= 0 && from + y >= at(this.#firsts, partner)
          return [cellFirst + x, from + y + (skips ? shared : 0)]
        }
        left -= members * partners
      }
    }
    throw new RangeError(`A row of the result has no pair ${rank}`)
  }

  /** How many documents a set has. */
  sizeOf(set: number): number {
    return this.#extent(set)[1]
  }

  /** The first cell of a set, and the one behind its last one; both the same for a place without a set. */
  cellsOf(set: number): readonly [number, number] {
    return [at(this.#starts, set), at(this.#starts, set + 1)]
  }

  membersOf(cell: number): number {
    return at(this.#members, cell)
  }

  hasSite(cell: number): boolean {
    return at(this.#sites, cell) !== noSite
  }

  /** The cell of a set with the documents on the site of a cell; -1 where there is none. */
  partnerIn(set: number, cell: number): number {
    return this.#cellOfSite(set, at(this.#sites, cell))
  }

  /** First member and number of members of a set. */
  #extent(set: number): readonly [number, number] {
    const [start, end] = [at(this.#starts, set), at(this.#starts, set + 1)]
    if (start === end) throw new RangeError(`The result has no set at the place ${set}`)
    const first = at(this.#firsts, start)
    return [first, at(this.#firsts, end - 1) + at(this.#members, end - 1) - first]
  }

  /** The cell of a set with the members on a site; -1 where there are none, and for no site. */
  #cellOfSite(set: number, site: number): number {
    if (site === noSite) return -1
    const [start, end] = [at(this.#starts, set), at(this.#starts, set + 1)]
    if (end - start > cellsInMap) return this.#mapOf(set).get(site) ?? -1
    for (let cell = start; cell < end; cell++) if (at(this.#sites, cell) === site) return cell
    return -1
  }

  #mapOf(set: number): ReadonlyMap<number, number> {
    const known = this.#bySite.get(set)
    if (known !== undefined) return known
    const bySite = new Map<number, number>()
    for (let cell = at(this.#starts, set); cell < at(this.#starts, set + 1); cell++)
      bySite.set(at(this.#sites, cell), cell)
    this.#bySite.set(set, bySite)
    return bySite
  }
}
