import type Database from 'better-sqlite3'
import { xxh64Text } from '../../signature/xxhash.ts'
import { halvesAt, halvesOf } from '../codec.ts'
import { MemoryTier, recordBytes } from '../memory-tier.ts'
import type { PostingKey } from '../posting.ts'
import type { PostingColumns } from '../posting-columns.ts'
import { type MergedPostings, mergePostings } from '../probe.ts'
import type { DocumentNumber, ProbeQuery, SetNumber } from '../store.ts'
import { DocumentDelta } from './document-delta.ts'
import { type Run, RunReader } from './posting-run.ts'
import { lookupSlot } from './posting-slot.ts'
import { documentSql, runSql } from './sql.ts'

/** What of a set, or of a document, is found by postings. */
export type IndexedSet = {
  readonly set: SetNumber
  readonly contentHash: Uint8Array
  readonly supershingles: Uint8Array | null
  readonly simhash: Uint8Array | null
}
export type IndexedDocument = {
  readonly number: DocumentNumber
  readonly id: string
  readonly urlKey: string | null
  readonly site: string | null
}

const keyOf = (slot: number, text: string): PostingKey => {
  const [high, low] = halvesOf(xxh64Text(text))
  return { slot, high, low }
}
export const urlKey = (url: string): PostingKey => keyOf(lookupSlot.urlKey, url)
export const siteKey = (site: string): PostingKey => keyOf(lookupSlot.site, site)
const idKey = (id: string): PostingKey => keyOf(lookupSlot.id, id)
const contentKey = (contentHash: Uint8Array): PostingKey => {
  const [high, low] = halvesAt(contentHash, 0)
  return { slot: lookupSlot.contentHash, high, low }
}

/** Rows of sets that one query joins into a few values: a tenth of the cost of reading them row by row. */
const setsReadAtOnce = 32768

type SetRows = {
  readonly lastNumber: number | null
  readonly numbers: string
  readonly records: Buffer
  readonly signed: string
}

/** Sets and documents that are being written as a run. */
export class FrozenPostings {
  readonly firstNumber: number
  readonly lastNumber: number
  /** Sets and documents that were there when it was set aside. */
  readonly numbers: number
  /** How many of these are gone now. */
  gone = 0
  readonly documents: DocumentDelta
  readonly endOrdinal: number
  readonly #tier: MemoryTier
  readonly #fromOrdinal: number

  constructor(tier: MemoryTier, fromOrdinal: number, documents: DocumentDelta) {
    this.#tier = tier
    this.#fromOrdinal = fromOrdinal
    this.endOrdinal = tier.endOrdinal
    this.documents = documents
    this.firstNumber = Math.min(tier.firstNumberFrom(fromOrdinal), documents.firstNumber)
    this.lastNumber = Math.max(tier.lastNumber, documents.lastNumber)
    this.numbers = tier.countPresent(fromOrdinal, this.endOrdinal) + documents.presentCount
  }

  /** The postings of a slot by number, without what is gone. */
  postings(slot: number): PostingColumns {
    return slot <= lookupSlot.contentHash
      ? this.#tier.postings(slot, this.#fromOrdinal, this.endOrdinal)
      : this.documents.postings(slot)
  }
}

/**
 * All posting lists. Those of the newest sets are in the memory tier, all others in the runs. Documents are in the
 * runs, in a delta that is being written as one (`frozen`), and in the delta of what came since. Runs and deltas
 * cover disjoint ranges of numbers in this order, so that a list is the concatenation of its parts. A list
 * may name sets and documents that are gone, and look-ups by hash may name others: whoever reads checks the row.
 */
export class PostingIndex {
  readonly #tier: MemoryTier
  #frozen: FrozenPostings | null = null
  #documents = new DocumentDelta()
  /** Where in the tier the sets begin that are in no run and are not frozen. */
  #deltaOrdinal = 0
  #runs: readonly Run[] = []
  readonly runReader: RunReader

  /** Loads the runs, fills the memory tier and rebuilds from rows what is in no run; there are so many `sets`. */
  constructor(db: Database.Database, memoryBytes: number, sets: number) {
    this.runReader = new RunReader(db)
    this.#runs = db.prepare<[], Run>(runSql.ready).all()
    const flushed = this.#runs.at(-1)?.lastNumber ?? 0
    this.#tier = new MemoryTier(memoryBytes)
    const newestLeftOut = db
      .prepare<[number], number>(documentSql.setBeforeNewest)
      .pluck()
      .get(this.#tier.capacity)
    this.#tier.coveredAfter = Math.min(flushed, newestLeftOut ?? 0)
    this.#loadSets(db, flushed, sets)
    for (const document of db.prepare<[number], IndexedDocument>(documentSql.documentsAfter).iterate(flushed))
      this.addDocument(document)
  }

  /** In the order of their numbers. */
  get runs(): readonly Run[] {
    return this.#runs
  }

  get frozen(): FrozenPostings | null {
    return this.#frozen
  }

  /** The sets, or the documents, that are in no run and not frozen: whichever are more. */
  get deltaSize(): number {
    return Math.max(this.#tier.endOrdinal - this.#deltaOrdinal, this.#documents.count)
  }

  /** Sets the delta aside, to be written as a run, and starts a new one. */
  freezeDelta(): FrozenPostings {
    this.#frozen = new FrozenPostings(this.#tier, this.#deltaOrdinal, this.#documents)
    this.#deltaOrdinal = this.#frozen.endOrdinal
    this.#documents = new DocumentDelta()
    return this.#frozen
  }

  /** The run has what the frozen delta had. */
  replaceFrozen(run: Run): void {
    if (this.#frozen !== null) this.#tier.allowEviction(this.#frozen.endOrdinal)
    this.#frozen = null
    this.#runs = [...this.#runs, run]
  }

  replaceRuns(old: readonly Run[], merged: Run): void {
    const kept = this.#runs.filter((run) => !old.includes(run))
    this.#runs = [...kept, merged].sort((a, b) => a.firstNumber - b.firstNumber)
    for (const { run } of old) this.runReader.forget(run)
  }

  /** Sets that are new, by number. */
  addSets(sets: readonly IndexedSet[]): void {
    const records = new Uint8Array(recordBytes * sets.length)
    const signed = new Uint8Array(sets.length)
    for (const [i, { contentHash, supershingles, simhash }] of sets.entries()) {
      records.set(contentHash.subarray(0, 8), recordBytes * i)
      if (supershingles === null || simhash === null) continue
      records.set(supershingles, recordBytes * i + 8)
      records.set(simhash, recordBytes * i + 8 + supershingles.length)
      signed[i] = 1
    }
    this.#tier.add(
      Float64Array.from(sets, ({ set }) => set),
      records,
      signed,
    )
    // Two for one, so that the tier comes down to its capacity after each flush.
    this.#tier.evict(2 * sets.length)
  }

  addDocument({ number, id, urlKey: url, site }: IndexedDocument): void {
    const keys = [idKey(id)]
    if (url !== null) keys.push(urlKey(url))
    if (site !== null) keys.push(siteKey(site))
    this.#documents.add(number, keys)
  }

  /** Whether the number is in a run, or is being written to one. */
  isInRun(number: number): boolean {
    return number <= ((this.#frozen ?? this.#runs.at(-1))?.lastNumber ?? 0)
  }

  markSetGone(set: SetNumber): void {
    this.#countGone(set)
    this.#tier.markGone(set)
  }

  markDocumentGone(number: DocumentNumber): void {
    this.#countGone(number)
    if (this.#frozen !== null && number <= this.#frozen.lastNumber) this.#frozen.documents.markGone(number)
    else this.#documents.markGone(number)
  }

  /** At most `count` numbers of documents in the list that are greater than `after`, in increasing order. */
  readDocuments(key: PostingKey, after: number, count: number): DocumentNumber[] {
    const numbers = this.#readRuns(key, after, Number.POSITIVE_INFINITY, count)
    if (numbers.length < count) this.#frozen?.documents.read(key, after, count - numbers.length, numbers)
    if (numbers.length < count) this.#documents.read(key, after, count - numbers.length, numbers)
    return numbers
  }

  /** The first that `accept` gives for a document that may have the id; it is asked for the latest ones first. */
  findDocument<T>(id: string, accept: (number: DocumentNumber) => T | undefined): T | undefined {
    const key = idKey(id)
    for (const delta of [this.#documents, this.#frozen?.documents]) {
      for (const number of delta?.newestFirst(key) ?? []) {
        const accepted = accept(number)
        if (accepted !== undefined) return accepted
      }
    }
    for (let i = this.#runs.length - 1; i >= 0; i--) {
      const numbers: number[] = []
      // A few at most: what was replaced before a run was written is not in it.
      this.runReader.read(
        this.#runs[i] as Run,
        key,
        0,
        Number.POSITIVE_INFINITY,
        Number.POSITIVE_INFINITY,
        numbers,
      )
      for (const number of numbers) {
        const accepted = accept(number)
        if (accepted !== undefined) return accepted
      }
    }
    return undefined
  }

  /** The first set that may have the content and that `accept` accepts; null where there is none. */
  findSet(contentHash: Uint8Array, accept: (set: SetNumber) => boolean): SetNumber | null {
    const inMemory = this.#tier.setsWithContent(contentHash).find(accept)
    if (inMemory !== undefined) return inMemory
    const through = this.#tier.coveredAfter
    if (through === 0) return null
    const key = contentKey(contentHash)
    return this.#readRuns(key, 0, through, Number.POSITIVE_INFINITY).find(accept) ?? null
  }

  /** What the runs have of a probe, for sets that are not in memory. */
  probeRuns(query: ProbeQuery): MergedPostings {
    const merge = mergePostings(query)
    let step = merge.next([])
    while (!step.done) {
      const { key, after, count } = step.value
      step = merge.next(this.#readRuns(key, after, this.#tier.coveredAfter, count))
    }
    return step.value
  }

  get memory(): MemoryTier {
    return this.#tier
  }

  #countGone(number: number): void {
    const run = this.#runOf(number)
    if (run !== undefined) run.gone++
    else if (this.#frozen !== null && number <= this.#frozen.lastNumber) this.#frozen.gone++
  }

  #readRuns(key: PostingKey, after: number, through: number, count: number): number[] {
    const numbers: number[] = []
    for (const run of this.#runs) {
      if (run.lastNumber <= after) continue
      if (run.firstNumber > through || numbers.length >= count) break
      this.runReader.read(run, key, after, through, count - numbers.length, numbers)
    }
    return numbers
  }

  #loadSets(db: Database.Database, flushed: number, sets: number): void {
    const nextRows = db.prepare<[number, number], SetRows>(documentSql.setsAfter)
    this.#tier.reserve(Math.min(sets, this.#tier.capacity))
    let after = this.#tier.coveredAfter
    while (true) {
      const rows = nextRows.get(after, setsReadAtOnce)
      if (rows === undefined || rows.lastNumber === null) break
      const numbers = Float64Array.from(rows.numbers.split(','), Number)
      const before = this.#tier.endOrdinal
      this.#tier.add(numbers, rows.records, Uint8Array.from(rows.signed, Number))
      const unflushed = numbers.findIndex((number) => number > flushed)
      if (unflushed !== 0) this.#deltaOrdinal = unflushed < 0 ? this.#tier.endOrdinal : before + unflushed
      after = rows.lastNumber
    }
    this.#tier.allowEviction(this.#deltaOrdinal)
  }

  /** The run that covers the number, undefined where none does yet. */
  #runOf(number: number): Run | undefined {
    return this.#runs.find(({ lastNumber }) => number <= lastNumber)
  }
}
