import Database from 'better-sqlite3'
import { decidingSimilarity } from '../detect/decide.ts'
import { isMeasure } from '../join/measure.ts'
import type { JoinRequest, PairItem } from '../service/job-service.ts'
import { pairsOnAnySites, pairsOnDifferentSites, pairsOnSameSite } from './join-writer.ts'

/** A row of the table of pairs: two identity sets. */
export type SetPairRow = {
  readonly pair: number
  readonly a: number
  readonly b: number
  readonly bSimilarity: number
  readonly cSimilarity: number
  readonly sites: number
  readonly similarity: number | null
  /** Document pairs that the row stands for, on one site and on different ones. */
  readonly sameSitePairs: number
  readonly differentSitePairs: number
}

/** Before which document pair to go on: its row, and the members of the two sets, counted from 0. */
export type PairPosition = { readonly pair: number; readonly x: number; readonly y: number }

export const firstPosition: PairPosition = { pair: 0, x: 0, y: 0 }

type SetRow = { readonly first: number; readonly members: number }
type CellRow = { readonly first: number; readonly members: number; readonly site: string | null }
type SetCellRow = CellRow & { readonly set: number; readonly tokenCount: number }
export type MemberRow = {
  readonly member: number
  readonly id: string
  readonly url: string | null
  readonly site: string | null
  readonly fetchedAt: string | null
  readonly createdAt: number
}
/** Members from the first up to, not including, the second. */
type Range = readonly [from: number, to: number]

/** Of the file, read without a system call for each page. */
const mappedBytes = 2 ** 30
const rowsAtOnce = 256
/** Members and rows that one page looks at, whether or not they make a pair. */
const workInPage = 20_000

/** Reads the result of a join: pairs of identity sets, which become pairs of documents only here. */
export class JoinReader {
  readonly request: JoinRequest
  readonly #db: Database.Database
  readonly #pairsFrom: Database.Statement<[number, number], SetPairRow>
  readonly #set: Database.Statement<[number], SetRow>
  readonly #cells: Database.Statement<[], SetCellRow>
  readonly #bounds: Database.Statement<[], { rows: number; cells: number; sets: number }>
  readonly #cellAt: Database.Statement<[number], CellRow>
  readonly #cellOfSite: Database.Statement<[number, string], CellRow>
  readonly #members: Database.Statement<[number, number, number], MemberRow>
  readonly #memberIds: Database.Statement<[], Pick<MemberRow, 'member' | 'id'>>

  constructor(file: string) {
    this.#db = new Database(file, { readonly: true, fileMustExist: true })
    this.#db.pragma(`mmap_size = ${mappedBytes}`)
    const request = this.#db.prepare<[], string>('SELECT request FROM about').pluck().get()
    this.request = JSON.parse(request ?? 'null')
    this.#pairsFrom = this.#db.prepare(`
      SELECT pair, a, b, b_similarity AS bSimilarity, c_similarity AS cSimilarity, sites, similarity,
        same_site_pairs AS sameSitePairs, different_site_pairs AS differentSitePairs
      FROM pair WHERE pair >= ? ORDER BY pair LIMIT ?`)
    this.#set = this.#db.prepare(`
      SELECT first_member AS first, members FROM identity_set WHERE set_place = ?`)
    this.#cells = this.#db.prepare(`
      SELECT c.set_place AS "set", c.first_member AS first, c.members, c.site, s.token_count AS tokenCount
      FROM cell c JOIN identity_set s ON s.set_place = c.set_place ORDER BY c.first_member`)
    this.#bounds = this.#db.prepare(`
      SELECT (SELECT count(*) FROM pair) AS rows, (SELECT count(*) FROM cell) AS cells,
        coalesce((SELECT max(set_place) + 1 FROM identity_set), 0) AS sets`)
    this.#cellAt = this.#db.prepare(`
      SELECT first_member AS first, members, site FROM cell WHERE first_member <= ?
      ORDER BY first_member DESC LIMIT 1`)
    this.#cellOfSite = this.#db.prepare(`
      SELECT first_member AS first, members, site FROM cell WHERE set_place = ? AND site = ?`)
    this.#memberIds = this.#db.prepare('SELECT member, id FROM member ORDER BY member')
    this.#members = this.#db.prepare(`
      SELECT member, id, url, site, fetched_at AS fetchedAt, created_at AS createdAt
      FROM member WHERE member >= ? AND member < ? ORDER BY member LIMIT ?`)
  }

  close(): void {
    this.#db.close()
  }

  /**
   * Document pairs from a position on, at most `limit`, in a fixed order, and where to go on (null at the end). The work is
   * bounded, so that fewer pairs, even none, may come although more follow.
   */
  page(from: PairPosition, limit: number): { pairs: PairItem[]; next: PairPosition | null } {
    const pairs: PairItem[] = []
    let work = 0
    let position = from
    for (;;) {
      const rows = this.#pairsFrom.all(position.pair, Math.min(limit - pairs.length + 1, rowsAtOnce))
      if (rows.length === 0) return { pairs, next: null }
      for (const row of rows) {
        if (row.pair !== position.pair) position = { pair: row.pair, x: 0, y: 0 }
        const [setA, setB] = [this.#setAt(row.a), this.#setAt(row.b)]
        for (let { x } = position; x < setA.members; x++) {
          const startY = x === position.x ? position.y : 0
          for (const [rangeFrom, to] of this.#partners(row, setA, setB, setA.first + x)) {
            const y = Math.max(rangeFrom, setB.first + startY)
            if (y >= to) continue
            if (pairs.length === limit || work > workInPage)
              return { pairs, next: { pair: row.pair, x, y: y - setB.first } }
            const [first] = this.#members.all(setA.first + x, setA.first + x + 1, 1)
            const room = limit - pairs.length
            const partners = this.#members.all(y, to, room)
            for (const partner of partners) if (first) pairs.push(this.#pairOf(row, first, partner))
            work += partners.length
            if (y + partners.length < to)
              return { pairs, next: { pair: row.pair, x, y: y + partners.length - setB.first } }
          }
          if (++work > workInPage) return { pairs, next: { pair: row.pair, x: x + 1, y: 0 } }
        }
        position = { pair: row.pair + 1, x: 0, y: 0 }
      }
    }
  }

  /** All rows, in order. */
  setPairs(): IterableIterator<SetPairRow> {
    return this.#pairsFrom.iterate(0, -1)
  }

  /** All cells (members of one set on one site each), in the order of their sets. */
  cells(): IterableIterator<SetCellRow> {
    return this.#cells.iterate()
  }

  /** The number and the id of each member, in order. */
  memberIds(): IterableIterator<Pick<MemberRow, 'member' | 'id'>> {
    return this.#memberIds.iterate()
  }

  /** The pair of two members, by their numbers, that a row stands for. */
  pairOf(row: SetPairRow, memberA: number, memberB: number): PairItem {
    const [a] = this.membersBetween(memberA, memberA + 1)
    const [b] = this.membersBetween(memberB, memberB + 1)
    if (a === undefined || b === undefined) throw new Error('The result has no such member')
    return this.#pairOf(row, a, b)
  }

  /** Members from one up to, not including, another. */
  membersBetween(from: number, to: number): readonly MemberRow[] {
    return this.#members.all(from, to, -1)
  }

  /** How many rows and cells there are, and the number below which all places of sets lie. */
  bounds(): { readonly rows: number; readonly cells: number; readonly sets: number } {
    const bounds = this.#bounds.get()
    if (bounds === undefined) throw new Error('Counting gave no row')
    return bounds
  }

  /** The agreeing share of the sketch that decided about documents of these two sets, or the exact measure. */
  similarityOf(
    {
      a,
      b,
      bSimilarity,
      cSimilarity,
      similarity,
    }: Pick<SetPairRow, 'a' | 'b' | 'bSimilarity' | 'cSimilarity' | 'similarity'>,
    sameSite: boolean,
  ): number {
    const evidence = { bSimilarity, cSimilarity, sameSite, identical: a === b }
    const { algorithm } = this.request
    if (similarity !== null) return similarity
    if (isMeasure(algorithm)) throw new Error(`A pair by ${algorithm} has no similarity`)
    return decidingSimilarity(algorithm, evidence)
  }

  #setAt(place: number): SetRow {
    const set = this.#set.get(place)
    if (set === undefined) throw new Error(`The result has a pair of the set ${place}, but not the set`)
    return set
  }

  /** The members of the second set that make a pair with a member of the first. */
  #partners({ a, b, sites }: SetPairRow, setA: SetRow, setB: SetRow, member: number): readonly Range[] {
    const start = a === b ? member + 1 : setB.first
    const end = setB.first + setB.members
    if (sites === pairsOnAnySites) return [[start, end]]
    const own = this.#cellAt.get(member)
    if (own === undefined) throw new Error(`The result has no cell for the member ${member} of ${setA.first}`)
    const cell = own.site === null ? undefined : a === b ? own : this.#cellOfSite.get(b, own.site)
    if (sites === pairsOnSameSite)
      return cell === undefined ? [] : [[Math.max(start, cell.first), cell.first + cell.members]]
    if (sites !== pairsOnDifferentSites || cell === undefined) return [[start, end]]
    return [
      [start, cell.first],
      [Math.max(start, cell.first + cell.members), end],
    ]
  }

  #pairOf(row: SetPairRow, first: MemberRow, second: MemberRow): PairItem {
    const isSameSite = first.site !== null && first.site === second.site
    const [a, b] = first.id < second.id ? [first.id, second.id] : [second.id, first.id]
    const { bSimilarity, cSimilarity } = row
    return {
      a,
      b,
      bSimilarity,
      cSimilarity,
      similarity: this.similarityOf(row, isSameSite),
      sameSite: isSameSite,
    }
  }
}
