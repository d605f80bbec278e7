import type Database from 'better-sqlite3'
import { DittographError } from '../../errors.ts'
import { hasPrefixOf } from '../../join/bounds.ts'
import type { Signature } from '../../signature/signature.ts'
import { FeatureProbe } from '../feature-probe.ts'
import { NumberClock } from '../number-clock.ts'
import { signatureSlots } from '../posting.ts'
import type {
  Candidate,
  DocumentRecord,
  FeaturePage,
  FeatureQuery,
  KeptText,
  ListQuery,
  Member,
  ProbePage,
  ProbeQuery,
  ScanPage,
  ScanQuery,
  SetNumber,
  SetWithText,
  Store,
  StoreCounts,
  WriteResult,
} from '../store.ts'
import { busyTimeoutMs, openDatabase } from './database.ts'
import { DocumentWriter, type Totals, type WriteOperation } from './document-writer.ts'
import { type ExactIndexOptions, openFeatureIndex } from './feature-index.ts'
import { Maintenance } from './maintenance.ts'
import { type IndexedSet, PostingIndex, siteKey, urlKey } from './posting-index.ts'
import { documentSql, reindexSql } from './sql.ts'
import { isBusy, isFull, toDittographError } from './sqlite-error.ts'

export type SqliteStoreOptions = {
  /** Of the database file, whose directory is created where it is missing; or `:memory:`. */
  readonly path: string
  /** Names the rules under which signatures and tokens are made. A database is filled under one scheme. */
  readonly scheme: string
  /** `full` (default): what `write` resolved survives a power loss; `normal`: it survives a killed process. */
  readonly synchronous?: 'full' | 'normal'
  /** For the newest identity sets and their postings: those beyond are looked up in the database. */
  readonly indexMemoryBytes?: number
  /** Sets, or documents, whose postings are in memory only before they are written as a run. */
  readonly flushSets?: number
  /** Prefix postings for exact searches; null (default): none. */
  readonly exactIndex?: ExactIndexOptions | null
  /** Feature postings of one slot in memory, as `flushSets`. */
  readonly flushFeatures?: number
  /** Runs that are merged into one. */
  readonly fanOut?: number
  /** Postings that one step of background work writes. */
  readonly sliceRows?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/**
 * How long writes try again while another program holds the database, counted from the first of them that met it:
 * those that come later do not each wait anew.
 */
const busyPatienceMs = 4000
const busyPauseMs = 50
const numbersListedAtOnce = 64
/** Rows of sets that one call of `scan` may pass over. */
const setsScannedAtOnce = 8192
const passedOverForOne = 64

type Row = Omit<DocumentRecord, 'identicalTo' | 'signature'> & {
  readonly urlKey: string | null
  readonly first: string
} & { readonly [K in keyof Signature]: Signature[K] | null }

type ScannedRow = Pick<Row, 'set' | keyof Signature> & { readonly text: Buffer | null }

const signatureOf = ({ supershingles, simhash }: Pick<Row, keyof Signature>): Signature | null =>
  supershingles === null || simhash === null ? null : { supershingles, simhash }

const setWithTextOf = ({ set, text, ...row }: ScannedRow): SetWithText[] => {
  const signature = signatureOf(row)
  return signature === null ? [] : [{ set, signature, text }]
}

const recordOf = ({ urlKey: _, first, supershingles, simhash, ...row }: Row): DocumentRecord => ({
  ...row,
  identicalTo: first === row.id ? null : first,
  signature: signatureOf({ supershingles, simhash }),
})

/** The options with what was left out. */
export const withDefaults = (options: SqliteStoreOptions): Required<SqliteStoreOptions> => ({
  synchronous: 'full',
  indexMemoryBytes: 512 * 2 ** 20,
  flushSets: 131_072,
  exactIndex: null,
  flushFeatures: 2 ** 18,
  fanOut: 16,
  sliceRows: 16_384,
  now: Date.now,
  ...options,
})

/**
 * Opens the store, creating file, directory and tables where they are missing. Rebuilds in memory what is in no
 * run yet, at most some 65,000 sets. Rejects with an error of the kind `refused-at-start`, and leaves the file
 * untouched, where the database is newer, of another scheme, damaged, in use by another process, or cannot
 * be written.
 */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<SqliteStore> => {
  const settled = withDefaults(options)
  const { db, close } = openDatabase(settled)
  try {
    if (db.prepare(reindexSql.isBegun).get() !== undefined)
      throw new DittographError(
        'database_unusable',
        'A reindexing of the database was interrupted: run "dittograph reindex" again',
      )
    return new SqliteStore(db, close, settled)
  } catch (reason) {
    close()
    throw toDittographError(reason)
  }
}

/** See `Store` for what it promises, and docs/adr/0004-postings.md for how postings are kept. */
export class SqliteStore implements Store {
  readonly #db: Database.Database
  readonly #closeDatabase: () => void
  readonly #now: () => number
  readonly #index: PostingIndex
  readonly #maintenance: Maintenance
  readonly #writer: DocumentWriter
  readonly #totals: Totals
  readonly #applyImmediately: DocumentWriter['apply']
  readonly #recordOfId: Database.Statement<[number, string], Row>
  readonly #recordByNumber: Database.Statement<[number], Row>
  readonly #recordsAfter: Database.Statement<[number, number], Row>
  readonly #textOfId: Database.Statement<[number, string], KeptText>
  readonly #signatureOfSet: Database.Statement<[number], Pick<Row, keyof Signature>>
  readonly #scanWindow: Database.Statement<[number, number], { last: number | null; sets: number }>
  readonly #scanSets: Database.Statement<number[], ScannedRow>
  readonly #setText: Database.Statement<[number], ScannedRow>
  readonly #membersAfter: Database.Statement<[number, number, number], Member>
  readonly #touch: Database.Statement<[string]>
  /** Settles when the last write handed in so far has settled. */
  #lastWrite: Promise<unknown> = Promise.resolve()
  /** When a write first met another program that held the database, since the last one that succeeded. */
  #busySince: number | null = null
  #closed = false

  constructor(db: Database.Database, closeDatabase: () => void, options: Required<SqliteStoreOptions>) {
    const { indexMemoryBytes, exactIndex, now, ...maintenance } = options
    this.#db = db
    this.#closeDatabase = closeDatabase
    this.#now = now
    this.#recordOfId = db.prepare(documentSql.recordOfId)
    this.#recordByNumber = db.prepare(documentSql.recordByNumber)
    this.#recordsAfter = db.prepare(documentSql.recordsAfter)
    this.#textOfId = db.prepare(documentSql.textOfId)
    this.#signatureOfSet = db.prepare(documentSql.signatureOfSet)
    this.#scanWindow = db.prepare(documentSql.scanWindow)
    this.#setText = db.prepare(documentSql.setText)
    this.#scanSets = db.prepare(documentSql.scanSets)
    this.#membersAfter = db.prepare(documentSql.membersAfter)
    this.#touch = db.prepare(documentSql.touch)
    this.#makeSureOfRights()

    const totals = db.prepare<[], Totals & { greatestNumber: number }>(documentSql.totals).get()
    if (totals === undefined) throw new DittographError('database_unusable', 'The database lost its totals')
    const { greatestNumber, ...counted } = totals
    this.#totals = counted
    this.#index = new PostingIndex(db, indexMemoryBytes, openFeatureIndex(db, exactIndex, counted.sets))
    this.#index.load(db, counted.sets)
    this.#writer = new DocumentWriter(db, this.#index, new NumberClock(greatestNumber, now))
    const apply: DocumentWriter['apply'] = (operations) => this.#writer.apply(operations)
    this.#applyImmediately = db.transaction(apply).immediate
    this.#maintenance = new Maintenance({ db, index: this.#index, ...maintenance })
    this.#maintenance.wake(0)
  }

  /** Whether searches by features are answered from an index: it was asked for, and all sets are in it. */
  get hasExactIndex(): boolean {
    return this.#index.featureIndex !== null
  }

  /** See `Store`; may go through the operations again where another program holds the database. */
  write(operations: Iterable<WriteOperation>): Promise<readonly WriteResult[]> {
    const written = this.#lastWrite.then(() => this.#writeInTurn(operations))
    this.#lastWrite = written.catch(() => undefined)
    return written
  }

  async get(id: string): Promise<DocumentRecord | null> {
    return this.#guard(() => {
      const row = this.#index.findDocument(id, (number) => this.#recordOfId.get(number, id))
      return row === undefined ? null : recordOf(row)
    })
  }

  async texts(ids: readonly string[]): Promise<ReadonlyMap<string, KeptText>> {
    return this.#guard(() => {
      const texts = new Map<string, KeptText>()
      for (const id of ids) {
        const text = this.#index.findDocument(id, (number) => this.#textOfId.get(number, id))
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
      const { memory } = this.#index
      if (query.after >= memory.coveredAfter) return memory.probe(query)
      const { qualified, examined, last, frontier } = this.#index.probeRuns(query)
      const candidates: Candidate[] = []
      for (const set of qualified) {
        const row = this.#signatureOfSet.get(set)
        const signature = row === undefined ? null : signatureOf(row)
        if (signature !== null) candidates.push({ set, signature })
      }
      if (frontier !== null) return { candidates, examined, frontier }
      const rest = memory.probe({ ...query, after: last, limit: query.limit - examined })
      return {
        candidates: [...candidates, ...rest.candidates],
        examined: examined + rest.examined,
        frontier: rest.frontier,
      }
    })
  }

  async scan({ minTokens, maxTokens, after, limit }: ScanQuery): Promise<ScanPage> {
    return this.#guard(() => {
      const window = this.#scanWindow.get(after, setsScannedAtOnce)
      if (window === undefined || window.last === null) return { sets: [], examined: 0, frontier: null }
      const rows = this.#scanSets.all(after, window.last, minTokens, maxTokens, limit)
      const sets = rows.flatMap(setWithTextOf)
      const last = rows.length === limit ? rows.at(-1)?.set : undefined
      const isEnd = last === undefined && window.sets < setsScannedAtOnce
      return {
        sets,
        examined: sets.length + window.sets / passedOverForOne,
        frontier: isEnd ? null : (last ?? window.last),
      }
    })
  }

  async probeFeatures({ features, values, bounds, after, limit }: FeatureQuery): Promise<FeaturePage | null> {
    return this.#guard(() => {
      const index = this.#index.featureIndex
      if (index === null || !hasPrefixOf(bounds, index.least)) return null
      if (values.length === 0) return { sets: [], examined: 0, frontier: null, scanThrough: null }
      const probe = new FeatureProbe(values, index.orders[features], bounds, index.least)
      return this.#index.probeFeatures(probe, features, after, limit)
    })
  }

  async setTexts(sets: readonly SetNumber[]): Promise<readonly SetWithText[]> {
    return this.#guard(() =>
      sets.flatMap((set) => {
        const row = this.#setText.get(set)
        return row === undefined ? [] : setWithTextOf(row)
      }),
    )
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
      this.#withoutWaiting(() => this.#touch.run(String(this.#now())))
      this.#busySince = null
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#maintenance.stop(closedError())
    await this.#lastWrite
    this.#closeDatabase()
  }

  async #writeInTurn(operations: Iterable<WriteOperation>): Promise<readonly WriteResult[]> {
    if (this.#closed) throw closedError()
    await this.#maintenance.keepUp()
    while (true) {
      try {
        const write = () => this.#writeAtOnce(operations)
        const results = this.#guard(() => (this.#busySince === null ? write() : this.#withoutWaiting(write)))
        this.#busySince = null
        return results
      } catch (reason) {
        if (!(reason instanceof DittographError) || !isBusy(reason.cause)) throw reason
        this.#busySince ??= performance.now()
        if (performance.now() - this.#busySince > busyPatienceMs) throw reason
      }
      await new Promise((resolve) => setTimeout(resolve, busyPauseMs))
    }
  }

  /** Without a turn of the event loop between commit and index, so that nobody sees one without the other. */
  #writeAtOnce(operations: Iterable<WriteOperation>): readonly WriteResult[] {
    const { results, sets, documents, goneSets, goneDocuments, added } = this.#applyImmediately(operations)
    this.#index.addSets([...sets.values()])
    for (const document of documents.values()) this.#index.addDocument(document)
    for (const set of goneSets) this.#index.markSetGone(set)
    for (const number of goneDocuments) this.#index.markDocumentGone(number)
    this.#totals.documents += added.documents
    this.#totals.sets += added.sets
    this.#totals.signedSets += added.signedSets
    this.#maintenance.wake(results.length, featurePostingsOf(sets.values()))
    return results
  }

  #listByPosting({ url, site, after, limit }: ListQuery, key: ReturnType<typeof urlKey>): DocumentRecord[] {
    const records: DocumentRecord[] = []
    let last = after
    while (true) {
      const count = Math.max(numbersListedAtOnce, limit - records.length)
      const numbers = this.#index.readDocuments(key, last, count)
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

  /** A right that is missing shows at the start and not with the first document. A full disk is no reason not to read. */
  #makeSureOfRights(): void {
    try {
      this.#touch.run(String(this.#now()))
    } catch (reason) {
      if (!isFull(reason)) throw reason
    }
  }

  /** SQLite waits for another program synchronously; here it does not. */
  #withoutWaiting<T>(work: () => T): T {
    this.#db.pragma('busy_timeout = 0')
    try {
      return work()
    } finally {
      this.#db.pragma(`busy_timeout = ${busyTimeoutMs}`)
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

const featurePostingsOf = (sets: Iterable<IndexedSet>): number => {
  let count = 0
  for (const { features } of sets)
    if (features !== null) count += features.shingles.lows.length + features.tokens.lows.length
  return count
}

const closedError = (): DittographError => new DittographError('store_busy', 'The store is closing')
