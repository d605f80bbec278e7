import type Database from 'better-sqlite3'
import { xxh64Bytes, xxh64Text } from '../../signature/xxhash.ts'
import { halvesOf, signedOfHalves } from '../codec.ts'
import { type PostingKey, postingKeysOf } from '../posting.ts'
import type { DocumentNumber, SetNumber } from '../store.ts'
import { Delta } from './delta.ts'
import { lookupSlot, type PostingTable, postingTables } from './posting-table.ts'
import { documentSql, postingSql, runSql } from './sql.ts'

/** A sorted run that is ready: a row of `posting_run`. */
export type Run = {
  readonly run: number
  readonly level: number
  readonly firstNumber: number
  readonly lastNumber: number
  readonly numbers: number
  gone: number
}

/** What of a set, or of a document, is found by postings. */
export type IndexedSet = {
  readonly set: SetNumber
  readonly contentHash: Uint8Array
  readonly supershingles: Uint8Array | null
  readonly simhash: Uint8Array | null
}
export type IndexedDocument = {
  readonly number: DocumentNumber
  readonly urlKey: string | null
  readonly site: string | null
}

const keyOf = (slot: number, hash: bigint): PostingKey => {
  const [high, low] = halvesOf(hash)
  return { slot, high, low }
}
export const contentHashKey = (hash: Uint8Array): PostingKey =>
  keyOf(lookupSlot.contentHash, xxh64Bytes(hash))
export const urlKey = (url: string): PostingKey => keyOf(lookupSlot.urlKey, xxh64Text(url))
export const siteKey = (site: string): PostingKey => keyOf(lookupSlot.site, xxh64Text(site))

/** Statements that read posting lists of one table. */
class TableReader {
  readonly table: PostingTable
  readonly fromRun: Database.Statement<unknown[], number>
  fromRuns: Database.Statement<unknown[], number>
  readonly #db: Database.Database

  constructor(db: Database.Database, table: PostingTable) {
    this.#db = db
    this.table = table
    this.fromRun = db.prepare<unknown[], number>(postingSql(table).readFromRun).pluck()
    this.fromRuns = this.#prepareFromRuns(0)
  }

  prepareFor(runCount: number): void {
    this.fromRuns = this.#prepareFromRuns(runCount)
  }

  #prepareFromRuns(runCount: number): Database.Statement<unknown[], number> {
    return this.#db.prepare<unknown[], number>(postingSql(this.table).readFromRuns(runCount)).pluck()
  }
}

/**
 * All posting lists: the runs, then the frozen delta (while it is written as a run), then the delta. These cover
 * disjoint ranges of numbers in this order, so that a list is the concatenation of its parts. A list may
 * name sets and documents that are gone, and look-ups by hash may name others: whoever reads checks the row.
 */
export class PostingIndex {
  #frozen: Delta | null = null
  #delta = new Delta()
  #runs: readonly Run[] = []
  #runNumbers: readonly number[] = []
  /** By slot. */
  readonly #readers: readonly TableReader[]

  /** Loads the runs and rebuilds the delta from the rows that are in none of them. */
  constructor(db: Database.Database) {
    this.#readers = postingTables.flatMap((table) => {
      const reader = new TableReader(db, table)
      return Array.from({ length: table.endSlot - table.firstSlot }, () => reader)
    })
    this.#setRuns(db.prepare<[], Run>(runSql.ready).all())
    const flushed = this.#runs.at(-1)?.lastNumber ?? 0
    for (const set of db.prepare<[number], IndexedSet>(documentSql.setsAfter).iterate(flushed))
      this.addSet(set)
    for (const document of db.prepare<[number], IndexedDocument>(documentSql.documentsAfter).iterate(flushed))
      this.addDocument(document)
  }

  /** In the order of their numbers. */
  get runs(): readonly Run[] {
    return this.#runs
  }

  get frozen(): Delta | null {
    return this.#frozen
  }

  get delta(): Delta {
    return this.#delta
  }

  /** Sets the delta aside, to be written as a run, and starts a new one. */
  freezeDelta(): Delta {
    this.#frozen = this.#delta
    this.#delta = new Delta()
    return this.#frozen
  }

  /** The run has what the frozen delta had. */
  replaceFrozen(run: Run): void {
    this.#frozen = null
    this.#setRuns([...this.#runs, run])
  }

  replaceRuns(old: readonly Run[], merged: Run): void {
    const kept = this.#runs.filter((run) => !old.includes(run))
    this.#setRuns([...kept, merged].sort((a, b) => a.firstNumber - b.firstNumber))
  }

  addSet({ set, contentHash, supershingles, simhash }: IndexedSet): void {
    const keys = supershingles && simhash ? postingKeysOf({ supershingles, simhash }) : []
    this.#delta.addSet(set, [...keys, contentHashKey(contentHash)])
  }

  addDocument({ number, urlKey: url, site }: IndexedDocument): void {
    const keys: PostingKey[] = []
    if (url !== null) keys.push(urlKey(url))
    if (site !== null) keys.push(siteKey(site))
    this.#delta.addDocument(number, keys)
  }

  /** A set or document that was stored is gone; the part that has its postings should know. */
  countGone(number: number): void {
    const run = this.runOf(number)
    if (run !== undefined) run.gone++
    else if (this.#frozen !== null && number <= this.#frozen.lastNumber) this.#frozen.goneCount++
    else this.#delta.goneCount++
  }

  /** At most `count` numbers of the list that are greater than `after`, in increasing order. */
  read(key: PostingKey, after: number, count: number): number[] {
    const numbers = this.#readRuns(key, after, count)
    if (numbers.length < count) this.#frozen?.read(key, after, count - numbers.length, numbers)
    if (numbers.length < count) this.#delta.read(key, after, count - numbers.length, numbers)
    return numbers
  }

  #readRuns({ slot, high, low }: PostingKey, after: number, count: number): number[] {
    if (this.#runs.length === 0) return []
    const reader = this.#readers[slot]
    if (reader === undefined) throw new RangeError(`There is no posting slot ${slot}`)
    const list = [slot - reader.table.firstSlot, signedOfHalves(high, low)] as const
    // Nearly every list is short, and then one statement for all runs costs half of one for each.
    const unordered = reader.fromRuns.all(...this.#runNumbers, ...list, after, count)
    if (unordered.length < count) return unordered.sort((a, b) => a - b)
    const numbers: number[] = []
    for (const { run, lastNumber } of this.#runs) {
      if (lastNumber <= after) continue
      const more = reader.fromRun.all(run, ...list, after, count - numbers.length)
      for (const number of more) numbers.push(number)
      if (numbers.length === count) break
    }
    return numbers
  }

  #setRuns(runs: readonly Run[]): void {
    this.#runs = runs
    this.#runNumbers = runs.map(({ run }) => run)
    for (const reader of new Set(this.#readers)) reader.prepareFor(runs.length)
  }

  /** The run that covers the number, undefined where none does yet. Logarithmic. */
  runOf(number: number): Run | undefined {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#runs[middle]?.lastNumber ?? 0) < number) low = middle + 1
      else high = middle
    }
    const run = this.#runs[low]
    return run !== undefined && run.firstNumber <= number ? run : undefined
  }
}
