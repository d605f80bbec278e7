import type Database from 'better-sqlite3'
import type { Features } from '../../signature/features.ts'
import { xxh64Text } from '../../signature/xxhash.ts'
import { halvesAt, halvesOf } from '../codec.ts'
import type { FeaturePostings } from '../feature-postings.ts'
import type { FeatureList, FeatureProbe } from '../feature-probe.ts'
import { MemoryTier, recordBytes } from '../memory-tier.ts'
import type { PostingKey } from '../posting.ts'
import type { PostingColumns } from '../posting-columns.ts'
import { type MergedPostings, mergePostings } from '../probe.ts'
import type { DocumentNumber, FeaturePage, ProbeQuery, SetNumber } from '../store.ts'
import { DocumentDelta } from './document-delta.ts'
import { FeatureDelta } from './feature-delta.ts'
import type { FeatureIndex } from './feature-index.ts'
import { type Run, RunReader } from './posting-run.ts'
import { allSlots, featureSlot, lookupSlot, plainSlots } from './posting-slot.ts'
import { documentSql, runSql } from './sql.ts'

/** What of a set, or of a document, is found by postings. */
export type IndexedSet = {
  readonly set: SetNumber
  readonly contentHash: Uint8Array
  readonly supershingles: Uint8Array | null
  readonly simhash: Uint8Array | null
  /** null where it has no tokens, or features are not indexed. */
  readonly features: FeaturePostings | null
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

/** A set as it is stored, with the text of a member that has one. */
export type SetWithTextRow = Omit<IndexedSet, 'features'> & { readonly text: Uint8Array | null }

type FeaturePart = {
  readonly lastNumber: number
  /** At least how many postings `readRange` goes through, without reading them. */
  readonly leastInRange: (list: FeatureList) => number
  /** Returns how many postings it went through. */
  readonly readRange: (
    list: FeatureList,
    after: SetNumber,
    visit: (low: number, set: SetNumber) => void,
  ) => number
}

/** Marks so many of the longest lists, never the first one; of those equally long the last ones. */
const longest = (lengths: Float64Array, count: number): Uint8Array => {
  const marks = new Uint8Array(lengths.length)
  if (count === 0) return marks
  const sorted = lengths.slice(1).sort()
  const bound = sorted[sorted.length - count] as number
  let longer = 0
  for (const length of sorted) if (length > bound) longer++
  let equal = count - longer
  for (let i = lengths.length - 1; i > 0; i--) {
    const length = lengths[i] as number
    if (length > bound || (length === bound && equal-- > 0)) marks[i] = 1
  }
  return marks
}

/** Postings gone through in a search by features that count as one set looked at. */
const postingsForOneSet = 64

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
  readonly features: FeatureDelta
  readonly endOrdinal: number
  readonly #tier: MemoryTier
  readonly #fromOrdinal: number

  constructor(tier: MemoryTier, fromOrdinal: number, documents: DocumentDelta, features: FeatureDelta) {
    this.#tier = tier
    this.#fromOrdinal = fromOrdinal
    this.endOrdinal = tier.endOrdinal
    this.documents = documents
    this.features = features
    this.firstNumber = Math.min(tier.firstNumberFrom(fromOrdinal), documents.firstNumber)
    this.lastNumber = Math.max(tier.lastNumber, documents.lastNumber)
    this.numbers = tier.countPresent(fromOrdinal, this.endOrdinal) + documents.presentCount
  }

  /** The postings of a slot by number, without what is gone. */
  postings(slot: number): PostingColumns {
    if (slot <= lookupSlot.contentHash) return this.#tier.postings(slot, this.#fromOrdinal, this.endOrdinal)
    if (slot === featureSlot.shingles) return this.features.postings('shingles')
    if (slot === featureSlot.tokens) return this.features.postings('tokens')
    return this.documents.postings(slot)
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
  #features = new FeatureDelta()
  /** Where in the tier the sets begin that are in no run and are not frozen. */
  #deltaOrdinal = 0
  #runs: readonly Run[] = []
  readonly runReader: RunReader
  /** null where features are not indexed, or not those of all sets. */
  readonly featureIndex: FeatureIndex | null

  /** With the runs that are ready, and nothing else yet. */
  constructor(db: Database.Database, memoryBytes: number, featureIndex: FeatureIndex | null) {
    this.runReader = new RunReader(db)
    this.featureIndex = featureIndex
    this.#runs = db.prepare<[], Run>(runSql.ready).all()
    this.#tier = new MemoryTier(memoryBytes)
  }

  /** Fills the memory tier and rebuilds from rows what is in no run; there are so many `sets`. */
  load(db: Database.Database, sets: number): void {
    const flushed = this.#runs.at(-1)?.lastNumber ?? 0
    if (sets > this.#tier.capacity) {
      const beforeNewest = db.prepare<[number], number>(documentSql.setBeforeNewest).pluck()
      this.#tier.coveredAfter = Math.min(flushed, beforeNewest.get(this.#tier.capacity) ?? 0)
    }
    this.#loadSets(db, flushed, sets)
    const documents = db.prepare<[number, number], IndexedDocument>(documentSql.documentsAfter)
    for (const document of documents.iterate(flushed, Number.MAX_SAFE_INTEGER)) this.addDocument(document)
    this.#loadFeatures(db, flushed)
  }

  /** How many slots runs are made with. */
  get slots(): number {
    return this.featureIndex === null ? plainSlots : allSlots
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

  /** Feature postings that are in no run and not frozen, in the slot that has more. */
  get deltaFeatures(): number {
    return this.#features.count
  }

  /** Sets the delta aside, to be written as a run, and starts a new one. */
  freezeDelta(): FrozenPostings {
    this.#frozen = new FrozenPostings(this.#tier, this.#deltaOrdinal, this.#documents, this.#features)
    this.#deltaOrdinal = this.#frozen.endOrdinal
    this.#documents = new DocumentDelta()
    this.#features = new FeatureDelta()
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
    for (const { set, features } of sets) if (features !== null) this.#features.add(set, features)
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
    if (this.isInRun(set)) this.#frozen?.features.markGone(set)
    else this.#features.markGone(set)
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

  /**
   * Candidates of a search by features with a number greater than `after`, in increasing order: those of one part of the
   * index after the other, until sets and work are `limit` or the parts are exhausted. Postings of a part are not in
   * the order of numbers, so that those of its lists are all read, or none where they are too many.
   */
  probeFeatures(probe: FeatureProbe, features: Features, after: SetNumber, limit: number): FeaturePage {
    const sets: SetNumber[] = []
    let postings = 0
    let frontier = after
    const pageTo = (end: SetNumber | null, scanThrough: SetNumber | null = null): FeaturePage => ({
      sets,
      examined: sets.length + postings / postingsForOneSet,
      frontier: end,
      scanThrough,
    })
    for (const { lastNumber, leastInRange, readRange } of this.#featureParts(features)) {
      if (lastNumber <= after) continue
      const lengths = Float64Array.from(probe.lists, leastInRange)
      const isUnread = longest(lengths, probe.spare)
      let least = postings
      for (const [i, length] of lengths.entries()) if (!isUnread[i]) least += length
      if (sets.length + least / postingsForOneSet > limit)
        return pageTo(frontier, frontier === after ? lastNumber : null)
      probe.begin(probe.spare)
      for (const [i, list] of probe.lists.entries())
        if (!isUnread[i]) postings += readRange(list, after, (low, set) => probe.meet(list, low, set))
      for (const set of probe.take()) {
        if (sets.length === limit) return pageTo(sets.at(-1) ?? after)
        sets.push(set)
      }
      frontier = lastNumber
    }
    return pageTo(null)
  }

  get memory(): MemoryTier {
    return this.#tier
  }

  /** Where feature postings are, in the order of the numbers that they cover. */
  #featureParts(features: Features): FeaturePart[] {
    const slot = featureSlot[features]
    const parts: FeaturePart[] = this.#runs.map((run) => ({
      lastNumber: run.lastNumber,
      leastInRange: (list) => this.runReader.leastInRange(run, slot, list),
      readRange: (list, after, visit) => this.runReader.readRange(run, slot, list, after, visit),
    }))
    const addDelta = (delta: FeatureDelta, lastNumber: number): void => {
      parts.push({
        lastNumber,
        // All postings of a delta are few, and in memory.
        leastInRange: () => 0,
        readRange: (list, after, visit) => delta.readRange(features, list, after, visit),
      })
    }
    if (this.#frozen !== null) addDelta(this.#frozen.features, this.#frozen.lastNumber)
    addDelta(this.#features, Number.POSITIVE_INFINITY)
    return parts
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
      const texts = rows.numbers.split(',')
      const numbers = new Float64Array(texts.length)
      const signed = new Uint8Array(texts.length)
      let flushedSets = 0
      for (let i = 0; i < texts.length; i++) {
        const number = Number(texts[i])
        numbers[i] = number
        signed[i] = rows.signed.charCodeAt(i) & 1
        if (number <= flushed) flushedSets++
      }
      this.#deltaOrdinal += flushedSets
      this.#tier.add(numbers, rows.records, signed)
      after = rows.lastNumber
    }
    this.#tier.allowEviction(this.#deltaOrdinal)
  }

  #loadFeatures(db: Database.Database, flushed: number): void {
    const poster = this.featureIndex?.poster
    if (poster === undefined) return
    const rows = db.prepare<[number, number], SetWithTextRow>(documentSql.setTextsAfter)
    for (const { set, supershingles, text } of rows.iterate(flushed, Number.MAX_SAFE_INTEGER))
      if (supershingles !== null) this.#features.add(set, poster.postingsOf(text))
  }

  /** The run that covers the number, undefined where none does yet. */
  #runOf(number: number): Run | undefined {
    return this.#runs.find(({ lastNumber }) => number <= lastNumber)
  }
}
