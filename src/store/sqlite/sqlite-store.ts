import type Database from 'better-sqlite3'
import { DittographError } from '../../errors.ts'
import type { Signature } from '../../signature/signature.ts'
import { NumberClock } from '../number-clock.ts'
import { signatureSlots } from '../posting.ts'
import { mergePostings } from '../probe.ts'
import type {
  Candidate,
  DeleteOperation,
  DocumentRecord,
  KeptText,
  ListQuery,
  Member,
  ProbePage,
  ProbeQuery,
  PutOperation,
  SetNumber,
  Store,
  StoreCounts,
  WriteResult,
} from '../store.ts'
import { openDatabase } from './database.ts'
import { DocumentWriter, type Totals } from './document-writer.ts'
import { Maintenance } from './maintenance.ts'
import { PostingIndex, siteKey, urlKey } from './posting-index.ts'
import { documentSql } from './sql.ts'
import { isBusy, toDittographError } from './sqlite-error.ts'

export type SqliteStoreOptions = {
  /** Of the database file, whose directory is created where it is missing; or `:memory:`. */
  readonly path: string
  /** Names the rules under which signatures and tokens are made. A database is filled under one scheme. */
  readonly scheme: string
  /** `full` (default): what `write` resolved survives a power loss; `normal`: it survives a killed process. */
  readonly synchronous?: 'full' | 'normal'
  /** Sets, or documents, whose postings are kept in memory before they are written as a run. */
  readonly flushSets?: number
  /** Runs that are merged into one. */
  readonly fanOut?: number
  /** Postings that one step of background work writes. */
  readonly sliceRows?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** How long a write tries again while another program holds the database. */
const busyPatienceMs = 2000
const busyPauseMs = 50
const numbersListedAtOnce = 64

type Row = Omit<DocumentRecord, 'identicalTo' | 'signature'> & {
  readonly urlKey: string | null
  readonly first: string
} & { readonly [K in keyof Signature]: Signature[K] | null }

const signatureOf = ({ supershingles, simhash }: Pick<Row, keyof Signature>): Signature | null =>
  supershingles === null || simhash === null ? null : { supershingles, simhash }

const recordOf = ({ urlKey: _, first, supershingles, simhash, ...row }: Row): DocumentRecord => ({
  ...row,
  identicalTo: first === row.id ? null : first,
  signature: signatureOf({ supershingles, simhash }),
})

/**
 * Opens the store, creating file, directory and tables where they are missing. Rebuilds in memory what is in no
 * run yet, at most some 65,000 sets. Rejects with an error of the kind `refused-at-start`, and leaves the file
 * untouched, where the database is newer, of another scheme, damaged, in use by another process, or cannot
 * be written.
 */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<SqliteStore> => {
  const { path, scheme, synchronous = 'full', now = Date.now } = options
  const { flushSets = 32_768, fanOut = 8, sliceRows = 4096 } = options
  const { db, close } = openDatabase({ path, scheme, synchronous, now })
  try {
    return new SqliteStore(db, close, { synchronous, flushSets, fanOut, sliceRows, now })
  } catch (reason) {
    close()
    throw toDittographError(reason)
  }
}

/** See `Store` for what it promises, and docs/adr/0004-postings.md for how postings are kept. */
export class SqliteStore implements Store {
  readonly #closeDatabase: () => void
  readonly #now: () => number
  readonly #index: PostingIndex
  readonly #maintenance: Maintenance
  readonly #writer: DocumentWriter
  readonly #totals: Totals
  readonly #applyImmediately: DocumentWriter['apply']
  readonly #recordById: Database.Statement<[string], Row>
  readonly #recordByNumber: Database.Statement<[number], Row>
  readonly #recordsAfter: Database.Statement<[number, number], Row>
  readonly #textById: Database.Statement<[string], KeptText>
  readonly #signatureOfSet: Database.Statement<[number], Pick<Row, keyof Signature>>
  readonly #membersAfter: Database.Statement<[number, number, number], Member>
  readonly #touch: Database.Statement<[string]>
  /** Settles when the last write handed in so far has settled. */
  #lastWrite: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(
    db: Database.Database,
    closeDatabase: () => void,
    options: Required<Omit<SqliteStoreOptions, 'path' | 'scheme'>>,
  ) {
    const { synchronous, flushSets, fanOut, sliceRows, now } = options
    this.#closeDatabase = closeDatabase
    this.#now = now
    this.#recordById = db.prepare(documentSql.recordById)
    this.#recordByNumber = db.prepare(documentSql.recordByNumber)
    this.#recordsAfter = db.prepare(documentSql.recordsAfter)
    this.#textById = db.prepare(documentSql.textById)
    this.#signatureOfSet = db.prepare(documentSql.signatureOfSet)
    this.#membersAfter = db.prepare(documentSql.membersAfter)
    this.#touch = db.prepare(documentSql.touch)
    // A right that is missing shows here and not with the first document.
    this.#touch.run(String(now()))

    const totals = db.prepare<[], Totals & { greatestNumber: number }>(documentSql.totals).get()
    if (totals === undefined) throw new DittographError('database_unusable', 'The database lost its totals')
    const { greatestNumber, ...counted } = totals
    this.#totals = counted
    this.#index = new PostingIndex(db)
    this.#writer = new DocumentWriter(db, this.#index, new NumberClock(greatestNumber, now))
    const apply: DocumentWriter['apply'] = (operations) => this.#writer.apply(operations)
    this.#applyImmediately = db.transaction(apply).immediate
    this.#maintenance = new Maintenance({ db, index: this.#index, flushSets, fanOut, sliceRows, synchronous })
    this.#maintenance.wake(0)
  }

  write(operations: readonly (PutOperation | DeleteOperation)[]): Promise<readonly WriteResult[]> {
    const written = this.#lastWrite.then(() => this.#writeInTurn(operations))
    this.#lastWrite = written.catch(() => undefined)
    return written
  }

  async get(id: string): Promise<DocumentRecord | null> {
    return this.#guard(() => {
      const row = this.#recordById.get(id)
      return row === undefined ? null : recordOf(row)
    })
  }

  async texts(ids: readonly string[]): Promise<ReadonlyMap<string, KeptText>> {
    return this.#guard(() => {
      const texts = new Map<string, KeptText>()
      for (const id of ids) {
        const text = this.#textById.get(id)
        if (text !== undefined) texts.set(id, text)
      }
      return texts
    })
  }

  async list(query: ListQuery): Promise<readonly DocumentRecord[]> {
    return this.#guard(() => {
      const { url, site, after, limit } = query
      if (url !== undefined) return this.#listByPosting(query, urlKey(url))
      if (site !== undefined) return this.#listByPosting(query, siteKey(site))
      return this.#recordsAfter.all(after, limit).map(recordOf)
    })
  }

  async findSet(contentHash: Uint8Array): Promise<SetNumber | null> {
    return this.#guard(() => this.#writer.findSet(contentHash))
  }

  async probe(query: ProbeQuery): Promise<ProbePage> {
    return this.#guard(() => {
      const merge = mergePostings(query)
      let step = merge.next([])
      while (!step.done)
        step = merge.next(this.#index.read(step.value.key, step.value.after, step.value.count))
      const { qualified, examined, frontier } = step.value
      const candidates: Candidate[] = []
      for (const set of qualified) {
        const row = this.#signatureOfSet.get(set)
        const signature = row === undefined ? null : signatureOf(row)
        if (signature !== null) candidates.push({ set, signature })
      }
      return { candidates, examined, frontier }
    })
  }

  async members(sets: readonly SetNumber[], after: number, limit: number): Promise<readonly Member[]> {
    return this.#guard(() => {
      const members: Member[] = []
      for (const [i, set] of sets.entries()) {
        if (members.length === limit) break
        const more = this.#membersAfter.all(set, i === 0 ? after : 0, limit - members.length)
        for (const member of more) members.push(member)
      }
      return members
    })
  }

  async counts(): Promise<StoreCounts> {
    return this.#guard(() => {
      const { documents, sets, signedSets } = this.#totals
      return { documents, sets, postings: signedSets * signatureSlots }
    })
  }

  async check(): Promise<void> {
    this.#guard(() => {
      if (this.#maintenance.failure !== null) throw this.#maintenance.failure
      this.#touch.run(String(this.#now()))
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#maintenance.stop(closedError())
    await this.#lastWrite
    this.#closeDatabase()
  }

  async #writeInTurn(
    operations: readonly (PutOperation | DeleteOperation)[],
  ): Promise<readonly WriteResult[]> {
    if (this.#closed) throw closedError()
    await this.#maintenance.keepUp()
    const started = performance.now()
    while (true) {
      try {
        return this.#guard(() => this.#writeAtOnce(operations))
      } catch (reason) {
        const isLast = performance.now() - started > busyPatienceMs
        if (isLast || !(reason instanceof DittographError) || !isBusy(reason.cause)) throw reason
      }
      await new Promise((resolve) => setTimeout(resolve, busyPauseMs))
    }
  }

  /** Without a turn of the event loop between commit and index, so that nobody sees one without the other. */
  #writeAtOnce(operations: readonly (PutOperation | DeleteOperation)[]): readonly WriteResult[] {
    const { results, sets, documents, gone, added } = this.#applyImmediately(operations)
    for (const set of sets.values()) this.#index.addSet(set)
    for (const document of documents.values()) this.#index.addDocument(document)
    for (const number of gone) this.#index.countGone(number)
    this.#totals.documents += added.documents
    this.#totals.sets += added.sets
    this.#totals.signedSets += added.signedSets
    this.#maintenance.wake(operations.length)
    return results
  }

  #listByPosting({ url, site, after, limit }: ListQuery, key: ReturnType<typeof urlKey>): DocumentRecord[] {
    const records: DocumentRecord[] = []
    let last = after
    while (true) {
      const count = Math.max(numbersListedAtOnce, limit - records.length)
      const numbers = this.#index.read(key, last, count)
      for (const number of numbers) {
        if (records.length === limit) return records
        const row = this.#recordByNumber.get(number)
        if (row === undefined) continue
        if (url !== undefined && row.urlKey !== url) continue
        if (site !== undefined && row.site !== site) continue
        records.push(recordOf(row))
      }
      if (numbers.length < count) return records
      last = numbers.at(-1) ?? last
    }
  }

  #guard<T>(work: () => T): T {
    if (this.#closed) throw closedError()
    try {
      return work()
    } catch (reason) {
      throw toDittographError(reason)
    }
  }
}

const closedError = (): DittographError => new DittographError('store_busy', 'The store is closing')
