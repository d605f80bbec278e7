import type Database from 'better-sqlite3'
import type { NumberClock } from '../number-clock.ts'
import type {
  DeleteOperation,
  DeleteResult,
  DocumentNumber,
  PutOperation,
  PutResult,
  SetNumber,
  WriteResult,
} from '../store.ts'
import type { IndexedDocument, IndexedSet, PostingIndex } from './posting-index.ts'
import { documentSql, postingSql } from './sql.ts'

/** Rows that are counted, in the table `total` and in memory. */
export type Totals = { documents: number; sets: number; signedSets: number }

/** What is to be told to the index, and of totals, once the transaction is committed. */
export type WrittenBatch = {
  readonly results: readonly WriteResult[]
  /** New and still there at the end of the batch, by number. */
  readonly sets: ReadonlyMap<number, IndexedSet>
  readonly documents: ReadonlyMap<number, IndexedDocument>
  /** Numbers that the index knows and that are gone now. */
  readonly goneSets: readonly SetNumber[]
  readonly goneDocuments: readonly DocumentNumber[]
  /** By how much each total changed. */
  readonly added: Readonly<Totals>
}

type Batch = {
  readonly sets: Map<number, IndexedSet>
  /** Sets made in this batch, by content hash in hexadecimal: the index does not know them yet. */
  readonly setOfContent: Map<string, SetNumber>
  readonly documents: Map<number, IndexedDocument>
  /** Documents made in this batch. */
  readonly documentOfId: Map<string, DocumentNumber>
  readonly goneSets: SetNumber[]
  readonly goneDocuments: DocumentNumber[]
  readonly added: Totals
  greatestNumber: number
}

type StoredVersion = {
  readonly number: number
  readonly set: number
  readonly contentHash: Buffer
  readonly url: string | null
  readonly urlKey: string | null
  readonly site: string | null
  readonly title: string | null
  readonly createdAt: number
  readonly fetchedAt: string | null
  readonly metadata: string | null
}

/** A document as another database has it. */
export type CopyOperation = Omit<PutOperation, 'kind'> & {
  readonly kind: 'copy'
  /**
   * Greater than all that are stored, or that of this document where it keeps its content, URL and site; null for the
   * next one of the clock.
   */
  readonly number: DocumentNumber | null
  /** As `now`, which is the time when it was last changed: milliseconds since 1970. */
  readonly createdAt: number
}

export type WriteOperation = PutOperation | CopyOperation | DeleteOperation

/** Applies operations to the tables of documents and sets. */
export class DocumentWriter {
  readonly #index: PostingIndex
  readonly #clock: NumberClock
  readonly #storedVersion: Database.Statement<[number, string], StoredVersion>
  readonly #textByNumber: Database.Statement<[number], Buffer>
  readonly #setWithContent: Database.Statement<[number, Uint8Array], number>
  readonly #firstMember: Database.Statement<[number], string>
  readonly #deleteSetWithoutMembers: Database.Statement<[number], number>
  readonly #insertSet: Database.Statement<unknown[]>
  readonly #insertDocument: Database.Statement<unknown[]>
  readonly #updateDocument: Database.Statement<unknown[]>
  readonly #deleteDocument: Database.Statement<unknown[]>
  readonly #insertText: Database.Statement<unknown[]>
  readonly #deleteText: Database.Statement<unknown[]>
  readonly #addToTotals: Database.Statement<unknown[]>
  readonly #insertGone: Database.Statement<unknown[]>

  constructor(db: Database.Database, index: PostingIndex, clock: NumberClock) {
    this.#index = index
    this.#clock = clock
    this.#storedVersion = db.prepare<[number, string], StoredVersion>(documentSql.storedVersion)
    this.#textByNumber = db.prepare<[number], Buffer>(documentSql.textByNumber).pluck()
    this.#setWithContent = db.prepare<[number, Uint8Array], number>(documentSql.setWithContent).pluck()
    this.#firstMember = db.prepare<[number], string>(documentSql.firstMember).pluck()
    this.#deleteSetWithoutMembers = db.prepare<[number], number>(documentSql.deleteSetWithoutMembers).pluck()
    this.#insertSet = db.prepare(documentSql.insertSet)
    this.#insertDocument = db.prepare(documentSql.insertDocument)
    this.#updateDocument = db.prepare(documentSql.updateDocument)
    this.#deleteDocument = db.prepare(documentSql.deleteDocument)
    this.#insertText = db.prepare(documentSql.insertText)
    this.#deleteText = db.prepare(documentSql.deleteText)
    this.#addToTotals = db.prepare(documentSql.addToTotals)
    this.#insertGone = db.prepare(postingSql.insertGone)
  }

  /**
   * In order, within the transaction of the caller. The index is read, and not changed. Operations that are made only
   * when they are asked for need not be in memory together.
   */
  apply(operations: Iterable<WriteOperation>): WrittenBatch {
    const batch: Batch = {
      sets: new Map(),
      setOfContent: new Map(),
      documents: new Map(),
      documentOfId: new Map(),
      goneSets: [],
      goneDocuments: [],
      added: { documents: 0, sets: 0, signedSets: 0 },
      greatestNumber: 0,
    }
    const results = Array.from(operations, (operation) =>
      operation.kind === 'delete' ? this.#delete(operation, batch) : this.#put(operation, batch),
    )
    const { documents, sets, signedSets } = batch.added
    if (documents !== 0 || batch.greatestNumber > 0)
      this.#addToTotals.run(documents, sets, signedSets, batch.greatestNumber)
    for (const gone of [batch.goneSets, batch.goneDocuments])
      for (const number of gone) if (this.#index.isInRun(number)) this.#insertGone.run(number)
    return { ...batch, results }
  }

  /** The set with these tokens, as stored before the batch. */
  findSet(contentHash: Uint8Array): SetNumber | null {
    return this.#index.findSet(contentHash, (set) => this.#setWithContent.get(set, contentHash) !== undefined)
  }

  #put(put: PutOperation | CopyOperation, batch: Batch): PutResult {
    const stored = this.#findVersion(put.id, batch)
    const sameContent = stored?.contentHash.equals(put.contentHash) ?? false
    if (
      stored !== undefined &&
      sameContent &&
      stored.url === put.url &&
      stored.urlKey === put.urlKey &&
      stored.site === put.site &&
      (put.kind === 'put' || stored.number === put.number)
    ) {
      this.#updateVersion(stored, put)
      const { set } = stored
      return {
        kind: 'put',
        status: 'unchanged',
        set,
        identicalTo: this.#identicalTo(set, put.id),
        sequence: this.#clock.next(),
      }
    }
    if (stored !== undefined) this.#removeVersion(stored.number, put.id, batch)
    const [setNumber, number] = this.#numbersOf(put)
    const set = stored !== undefined && sameContent ? stored.set : this.#joinSet(put, setNumber, batch)
    const { id, url, urlKey, site, title, fetchedAt, metadata, now } = put
    const createdAt = put.kind === 'copy' ? put.createdAt : (stored?.createdAt ?? now)
    this.#insertDocument.run(number, id, set, url, urlKey, site, title, createdAt, now, fetchedAt, metadata)
    if (put.text !== null) this.#insertText.run(number, put.text)
    batch.documents.set(number, { number, id, urlKey, site })
    batch.documentOfId.set(id, number)
    batch.added.documents++
    batch.greatestNumber = number
    // Only now: a document that changed its URL alone may be the only member of its set.
    if (stored !== undefined) this.#removeSetWithoutMembers(stored.set, batch)
    return {
      kind: 'put',
      status: stored === undefined ? 'created' : 'replaced',
      set,
      identicalTo: this.#identicalTo(set, id),
      sequence: number,
    }
  }

  /**
   * For the set that the document founds, and for itself. The first one is left free where it joins a set, because
   * under another scheme it may found one: see docs/adr/0015-resign.md.
   */
  #numbersOf(put: PutOperation | CopyOperation): [set: SetNumber, document: DocumentNumber] {
    if (put.kind === 'put' || put.number === null) return [this.#clock.next(), this.#clock.next()]
    this.#clock.skipTo(put.number)
    return [put.number - 1, put.number]
  }

  #findVersion(id: string, batch: Batch): StoredVersion | undefined {
    const made = batch.documentOfId.get(id)
    if (made !== undefined) return this.#storedVersion.get(made, id)
    return this.#index.findDocument(id, (number) => this.#storedVersion.get(number, id))
  }

  #delete({ id }: DeleteOperation, batch: Batch): DeleteResult {
    const stored = this.#findVersion(id, batch)
    if (stored === undefined) return { kind: 'delete', deleted: false }
    this.#removeVersion(stored.number, id, batch)
    this.#removeSetWithoutMembers(stored.set, batch)
    return { kind: 'delete', deleted: true }
  }

  #identicalTo(set: SetNumber, id: string): string | null {
    const first = this.#firstMember.get(set) ?? id
    return first === id ? null : first
  }

  /** What may change without a new number; a re-crawl in which nothing at all changed writes nothing. */
  #updateVersion(stored: StoredVersion, put: PutOperation | CopyOperation): void {
    const { title, fetchedAt, metadata, text, now } = put
    const storedText = this.#textByNumber.get(stored.number) ?? null
    const sameText = storedText === null || text === null ? storedText === text : storedText.equals(text)
    const isSame =
      sameText && stored.title === title && stored.fetchedAt === fetchedAt && stored.metadata === metadata
    if (isSame && put.kind === 'put') return
    this.#updateDocument.run(title, now, fetchedAt, metadata, stored.number)
    if (sameText) return
    this.#deleteText.run(stored.number)
    if (text !== null) this.#insertText.run(stored.number, text)
  }

  /** The set with this content; one with the given number is made where there is none. */
  #joinSet(put: PutOperation | CopyOperation, set: SetNumber, batch: Batch): SetNumber {
    const { contentHash, tokenCount, signature } = put
    const content = Buffer.from(contentHash).toString('hex')
    const joined = batch.setOfContent.get(content) ?? this.findSet(contentHash)
    if (joined !== null) return joined
    const { supershingles, simhash } = signature ?? { supershingles: null, simhash: null }
    this.#insertSet.run(set, contentHash, tokenCount, supershingles, simhash)
    const features =
      signature === null ? null : (this.#index.featureIndex?.poster.postingsOf(put.text) ?? null)
    batch.sets.set(set, { set, contentHash, supershingles, simhash, features })
    batch.setOfContent.set(content, set)
    batch.added.sets++
    if (signature !== null) batch.added.signedSets++
    return set
  }

  #removeVersion(number: DocumentNumber, id: string, batch: Batch): void {
    this.#deleteDocument.run(number)
    batch.added.documents--
    batch.documentOfId.delete(id)
    if (!batch.documents.delete(number)) batch.goneDocuments.push(number)
  }

  #removeSetWithoutMembers(set: SetNumber, batch: Batch): void {
    const signed = this.#deleteSetWithoutMembers.get(set)
    if (signed === undefined) return
    batch.added.sets--
    batch.added.signedSets -= signed
    const made = batch.sets.get(set)
    if (made === undefined) batch.goneSets.push(set)
    else {
      batch.sets.delete(set)
      batch.setOfContent.delete(Buffer.from(made.contentHash).toString('hex'))
    }
  }
}
