import { existsSync, linkSync, realpathSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import Database from 'better-sqlite3'
import { DittographError } from '../../errors.ts'
import { flushToDisk } from '../publish-file.ts'
import type { DocumentNumber, PutOperation } from '../store.ts'
import { asDittographError, busyTimeoutMs, readScheme } from './database.ts'
import { lockDatabase } from './database-lock.ts'
import type { CopyOperation, WriteOperation } from './document-writer.ts'
import { featureSql, resignSql } from './sql.ts'
import { isBusy, toDittographError } from './sqlite-error.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

/** What follows from the text and the URL of a document under a scheme. */
type ResignedPage = Pick<PutOperation, 'urlKey' | 'site' | 'tokenCount' | 'contentHash' | 'signature'>

export type ResignOptions = SqliteStoreOptions & {
  /** Of a page text as it was kept, in UTF-8, under the scheme of these options. */
  readonly sketch: (url: string | null, text: Uint8Array) => ResignedPage
  /** Documents without a text are not in the re-signed database; otherwise they are a reason to refuse. */
  readonly leaveOut?: boolean
  /** Whether the database as it was is kept beside the new one. */
  readonly keepOld?: boolean
  /** Called after each batch with how many documents have been copied, of how many. */
  readonly onProgress?: (done: number, documents: number) => void
}

/** `ready`: the service that runs goes on under the old scheme, and its next start under the new one ends the work. */
export type ResignOutcome =
  | { readonly state: 'not-needed' }
  | {
      readonly state: 'ready' | 'done'
      readonly from: string
      readonly documents: number
      readonly leftOut: number
      /** Of the file that is kept as it was; null where there is none. */
      readonly oldName: string | null
    }

type CopiedRow = {
  readonly number: DocumentNumber
  readonly id: string
  readonly url: string | null
  readonly title: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly fetchedAt: string | null
  readonly metadata: string | null
  readonly text: Buffer | null
}

type Totals = {
  readonly documents: number
  readonly greatestNumber: number
  readonly copied: number
  readonly checkedAt: string | null
}

const mostInBatch = 500
const mostBytesInBatch = 4 * 2 ** 20
/** Rows that one query compares: a read that took longer would keep the log of the service from being reset. */
const comparedAtOnce = 10_000
/**
 * What was changed so lately is looked at again: it could be changed once more with the same time. Writes wait for a few
 * seconds at most after they were given their time.
 */
const unsettledMs = 10_000
/** The last steps are taken while nobody can search; what came in meanwhile must take no longer than about this. */
const shortPassMs = 10_000
/** What runs and their merges need beyond the size of the database. */
const roomFactor = 1.1

const readyName = 'resign_ready'
/** Before documents get new numbers: which numbers and which state of the database they are based upon. */
const movingName = 'resign_moving'
const leaveOutName = 'resign_leave_out'

const refused = (detail: string, cause?: unknown): DittographError =>
  new DittographError('resign_refused', detail, { cause })

const resignedFile = (file: string): string => `${file}-resign`
const oldFile = (file: string): string => `${file}-old`

/**
 * Makes all signatures of a database again from its kept texts, under the scheme of the options, in a second database
 * beside it; see docs/adr/0015-resign.md. A service may run on the database meanwhile. Where none does, the new
 * database takes the place of the old one at the end. Whenever it is interrupted, the next call goes on from there.
 * Rejects with `resign_refused` where texts or room are missing, and with what `openSqliteStore` does.
 */
export const resignSqliteStore = async (options: ResignOptions): Promise<ResignOutcome> => {
  if (!existsSync(options.path)) throw refused('There is no such database')
  const file = realpathSync(options.path)
  const unlock = lockUnlessServed(file)
  try {
    const from = readScheme(file)
    if (from === options.scheme) return { state: 'not-needed' }
    const resigning = await Resigning.begin(file, options)
    const { documents, leftOut } = await resigning.run(unlock !== null)
    const oldName = unlock === null ? null : takePlace(file, options.keepOld ?? true)
    return { state: unlock === null ? 'ready' : 'done', from, documents, leftOut, oldName }
  } catch (reason) {
    throw toDittographError(reason)
  } finally {
    unlock?.()
  }
}

/**
 * To be called before a database is opened: where it has been re-signed under the scheme of the options while a service
 * ran, copies what that service has stored since and puts the new database in its place.
 */
export const takeOverResigned = async (options: ResignOptions): Promise<void> => {
  if (!existsSync(options.path)) return
  const file = realpathSync(options.path)
  if (!existsSync(resignedFile(file))) return
  const unlock = lockUnlessServed(file)
  if (unlock === null) return
  try {
    if (readScheme(file) === options.scheme || readScheme(resignedFile(file)) !== options.scheme) return
    if (readSetting(resignedFile(file), readyName) === undefined) return
    const resigning = await Resigning.begin(file, options)
    await resigning.run(true)
    takePlace(file, true)
  } catch (reason) {
    throw toDittographError(reason)
  } finally {
    unlock()
  }
}

/** Gives the lock up again; null where a service has it. */
const lockUnlessServed = (file: string): (() => void) | null => {
  try {
    return lockDatabase(file)
  } catch (reason) {
    if (reason instanceof DittographError && isBusy(reason.cause)) return null
    throw toDittographError(reason)
  }
}

const withDatabase = <T>(file: string, work: (db: Database.Database) => T, readonly = false): T => {
  const db = new Database(file, { readonly, fileMustExist: true, timeout: busyTimeoutMs })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const readSetting = (file: string, name: string): string | undefined =>
  withDatabase(file, (db) => db.prepare<[string], string>(featureSql.setting).pluck().get(name), true)

const writeSetting = (file: string, name: string, value: string): void => {
  withDatabase(file, (db) => db.prepare(featureSql.setSetting).run(name, value))
}

/** Copies documents from a database to the one that is to take its place. */
class Resigning {
  readonly #target: string
  readonly #options: ResignOptions
  /** Of the database, with the other one attached: reads only. */
  readonly #source: Database.Database
  readonly #sourceDocument: Database.Statement<[number], CopiedRow>
  readonly #targetContent: Database.Statement<[number], Buffer>
  #store: SqliteStore
  /** Numbers above this were given while this database was made. */
  readonly #greatestCopied: number
  #copied = 0

  private constructor(file: string, options: ResignOptions, store: SqliteStore, greatestCopied: number) {
    this.#target = resignedFile(file)
    this.#options = options
    this.#store = store
    this.#greatestCopied = greatestCopied
    this.#source = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs })
    this.#source.prepare('ATTACH ? AS target').run(this.#target)
    this.#sourceDocument = this.#source.prepare(resignSql.document)
    this.#targetContent = this.#source.prepare<[number], Buffer>(resignSql.targetContent).pluck()
  }

  /** Goes on with what was begun, where it was. */
  static async begin(file: string, options: ResignOptions): Promise<Resigning> {
    const target = resignedFile(file)
    let greatestCopied = Number.POSITIVE_INFINITY
    if (existsSync(target)) {
      const scheme = readScheme(target)
      if (scheme !== options.scheme)
        throw refused(
          `Beside the database is an unfinished re-signing to the scheme "${scheme}", and the settings ask for ` +
            `"${options.scheme}": end it with its own settings, or remove the file ${basename(target)}`,
        )
      const moving = readSetting(target, movingName)
      if (moving !== undefined) {
        const [greatest, checkedAt] = moving.split('/')
        if (readSetting(file, 'checked_at') === checkedAt) greatestCopied = Number(greatest)
        // A service has run since: what it stored may have numbers below those that were given here.
        else for (const suffix of ['', '-wal', '-shm']) rmSync(target + suffix, { force: true })
      }
    }
    requireRoom(file, target)
    const store = await openTarget(options, target)
    try {
      if (options.leaveOut) writeSetting(target, leaveOutName, 'true')
      const leaveOut = readSetting(target, leaveOutName) !== undefined
      return new Resigning(file, { ...options, leaveOut }, store, greatestCopied)
    } catch (reason) {
      await store.close()
      throw reason
    }
  }

  /** `alone`: nobody writes to the database meanwhile, and nothing is left to do afterwards. */
  async run(alone: boolean): Promise<{ documents: number; leftOut: number }> {
    try {
      this.#copied = this.#totals().copied
      const pending = alone ? await this.#pass(Number.POSITIVE_INFINITY) : await this.#catchUp()
      const { documents, greatestNumber, checkedAt } = this.#totals()
      if (alone && pending.length > 0) await this.#move(pending, `${greatestNumber}/${checkedAt}`)
      const { copied } = this.#totals()
      await this.#store.close()
      if (alone) this.#raiseNumber(greatestNumber)
      writeSetting(this.#target, readyName, String(Date.now()))
      return { documents: copied, leftOut: documents - copied }
    } finally {
      this.#source.close()
      await this.#store.close()
    }
  }

  /** Until what has changed meanwhile takes a short time, or does not become less. */
  async #catchUp(): Promise<readonly DocumentNumber[]> {
    let last = Number.POSITIVE_INFINITY
    while (true) {
      const started = performance.now()
      const pending = await this.#pass(Date.now() - unsettledMs)
      const took = performance.now() - started
      if (took < shortPassMs || took > last) return pending
      last = took
    }
  }

  /**
   * Takes over what is new, changed or gone. What was changed after `settledBefore` is looked at again by the next
   * pass. Returns the numbers of documents whose content is another one now, which under the old scheme it was not: they
   * need a new number, and cannot have one as long as documents of lower numbers may come.
   */
  async #pass(settledBefore: number): Promise<readonly DocumentNumber[]> {
    const { resume, through } = this.#range()
    await this.#removeGone(through)
    const moved = await this.#takeChanges(resume, settledBefore)
    await this.#append(resume, settledBefore)
    return moved
  }

  #range(): { resume: DocumentNumber; through: DocumentNumber } {
    const last = this.#source.prepare<[], number>(resignSql.lastTarget).pluck().get() ?? 0
    return { resume: last, through: Math.min(last, this.#greatestCopied) }
  }

  async #removeGone(last: DocumentNumber): Promise<void> {
    const removed = this.#source.prepare<[number, number], string>(resignSql.removed).pluck()
    for (const { after, through } of this.#windows(resignSql.nthTargetAfter, last)) {
      const ids = removed.all(after, through)
      if (ids.length > 0) await this.#store.write(ids.map((id) => ({ kind: 'delete', id })))
    }
  }

  async #takeChanges(last: DocumentNumber, settledBefore: number): Promise<readonly DocumentNumber[]> {
    const changed = this.#source.prepare<[number, number], number>(resignSql.changed).pluck()
    const moved: DocumentNumber[] = []
    for (const { after, through } of this.#windows(resignSql.nthDocumentAfter, last)) {
      for (const number of changed.all(after, through)) {
        const row = this.#sourceDocument.get(number)
        if (row === undefined) continue
        const operation = this.#operationOf(row, settledBefore)
        if (operation === null) await this.#store.write([{ kind: 'delete', id: row.id }])
        else if (this.#targetContent.get(number)?.equals(operation.contentHash))
          await this.#store.write([operation])
        else moved.push(number)
      }
    }
    return moved
  }

  async #append(after: DocumentNumber, settledBefore: number): Promise<void> {
    const documentsAfter = this.#source.prepare<[number], CopiedRow>(resignSql.documentsAfter)
    const { documents } = this.#totals()
    for (let last = after; ; ) {
      const operations: WriteOperation[] = []
      let bytes = 0
      let rows = 0
      // Leaving the loop ends the read transaction.
      for (const row of documentsAfter.iterate(last)) {
        if (row.number === last + 1)
          throw refused(
            'The database was filled by a program that left no free numbers between documents, which they need to found ' +
              'sets of their own: send the documents to a new database',
          )
        last = row.number
        rows++
        const operation = this.#operationOf(row, settledBefore)
        if (operation !== null) operations.push(operation)
        bytes += row.text?.length ?? 0
        if (rows === mostInBatch || bytes > mostBytesInBatch) break
      }
      if (rows === 0) return
      await this.#store.write(operations)
      this.#copied += operations.length
      this.#options.onProgress?.(Math.min(this.#copied, documents), documents)
      // A turn of the event loop for the merges of the new database.
      await new Promise(setImmediate)
    }
  }

  /** Gives documents their new numbers, all in one transaction that has only one of them in memory at a time. */
  async #move(numbers: readonly DocumentNumber[], basis: string): Promise<void> {
    await this.#store.close()
    this.#raiseNumber(Number(basis.split('/')[0]))
    writeSetting(this.#target, movingName, basis)
    this.#store = await openTarget(this.#options, this.#target)
    const operations = { [Symbol.iterator]: () => this.#movedOperations(numbers) }
    await this.#store.write(operations)
  }

  *#movedOperations(numbers: readonly DocumentNumber[]): Generator<WriteOperation, void> {
    for (const number of numbers) {
      const row = this.#sourceDocument.get(number)
      const operation = row && this.#operationOf(row, Number.POSITIVE_INFINITY)
      if (operation) yield { ...operation, number: null }
    }
  }

  /** No number that the database ever gave is given again. */
  #raiseNumber(greatest: number): void {
    withDatabase(this.#target, (db) => db.prepare(resignSql.raiseGreatestNumber).run(greatest))
  }

  /** Null where the document is left out. */
  #operationOf(row: CopiedRow, settledBefore: number): CopyOperation | null {
    const { updatedAt, text, ...document } = row
    if (text === null) {
      if (this.#options.leaveOut) return null
      throw refused(
        `Of ${this.#countWithoutText()} documents no text is kept, so that they cannot be signed again: post them ` +
          'again with KEEP_TEXT=true, or leave them out with "dittograph resign --leave-out". The database was not changed.',
      )
    }
    const now = updatedAt < settledBefore ? updatedAt : 0
    return { kind: 'copy', ...document, ...this.#options.sketch(document.url, text), text, now }
  }

  #countWithoutText(): number {
    const count = this.#source.prepare<[number, number], number>(resignSql.countWithoutText).pluck()
    let sum = 0
    for (const { after, through } of this.#windows(resignSql.nthDocumentAfter, Number.MAX_SAFE_INTEGER))
      sum += count.get(after, through) ?? 0
    return sum
  }

  /** Ranges of numbers, one behind the other, with a bounded number of documents in each. */
  *#windows(nthAfter: string, last: number): Generator<{ readonly after: number; readonly through: number }> {
    const end = this.#source.prepare<[number, number], number>(nthAfter).pluck()
    for (let after = 0; after < last; ) {
      const through = Math.min(last, end.get(after, comparedAtOnce - 1) ?? last)
      yield { after, through }
      after = through
    }
  }

  #totals(): Totals {
    const totals = this.#source.prepare<[], Totals>(resignSql.copyTotals).get()
    if (totals === undefined) throw new DittographError('database_unusable', 'The database lost its totals')
    return totals
  }
}

const openTarget = async (options: ResignOptions, target: string): Promise<SqliteStore> => {
  try {
    return await openSqliteStore({ ...options, path: target, synchronous: 'normal' })
  } catch (reason) {
    if (reason instanceof DittographError && isBusy(reason.cause))
      throw refused('This database is being re-signed by another process: wait until it ends', reason)
    throw reason
  }
}

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0)
const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1)

const requireRoom = (file: string, target: string): void => {
  const wanted = roomFactor * (sizeOf(file) + sizeOf(`${file}-wal`)) - sizeOf(target)
  const { bavail, bsize } = statfsSync(dirname(file))
  const free = bavail * bsize
  if (free < wanted)
    throw refused(
      `The re-signed database needs ${gibibytes(wanted)} GiB beside the old one, and ${gibibytes(free)} GiB are free`,
    )
}

/**
 * Puts the re-signed database in the place of the other one, in one step: whoever is interrupted leaves the one or the
 * other. Returns the name under which the old one is kept.
 */
const takePlace = (file: string, keepOld: boolean): string | null => {
  for (const one of [file, resignedFile(file)]) {
    closeLog(one)
    flushToDisk(one)
  }
  const isKept = keepOld && link(file, oldFile(file))
  renameSync(resignedFile(file), file)
  flushToDisk(dirname(file))
  withDatabase(file, (db) => {
    for (const name of [readyName, movingName, leaveOutName]) db.prepare(featureSql.forgetSetting).run(name)
  })
  return isKept ? basename(oldFile(file)) : null
}

/**
 * Writes the log into the database and removes it: a log that stayed would be taken for that of the file that comes in
 * its place. It cannot be removed while anybody else has the file open.
 */
const closeLog = (file: string): void => {
  const mode = asDittographError(() =>
    withDatabase(file, (db) => {
      try {
        return db.pragma('journal_mode = DELETE', { simple: true })
      } catch (reason) {
        if (isBusy(reason)) return 'wal'
        throw reason
      }
    }),
  )
  if (mode !== 'delete')
    throw refused(
      'Another program has the database open, so that the re-signed one cannot take its place: close that program and begin again',
    )
}

/** Whether the file system can give a file a second name. */
const link = (file: string, name: string): boolean => {
  rmSync(name, { force: true })
  try {
    linkSync(file, name)
    return true
  } catch {
    return false
  }
}
