import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { DittographError } from '../../errors.ts'
import { publishFile } from '../publish-file.ts'
import { lockDatabase } from './database-lock.ts'
import { checkMigrations, type Migration, migrate, readMigrations } from './migrate.ts'
import { toDittographError } from './sqlite-error.ts'

const migrationDirectory = new URL('../../../migrations/sqlite/', import.meta.url)

/** "Ditt" in ASCII, in the header of the file: no other program's database is taken for ours. */
export const applicationId = 0x4469_7474

const pageSize = 8192
const cacheKib = 64 * 1024
/** Pages in the write-ahead log that start a checkpoint: 8 MiB, so that no commit has to copy much more. */
const checkpointPages = 1024
/** The log is cut to this after a checkpoint, should it have grown beyond. */
const logSizeLimit = 64 * 1024 * 1024
/** Up to this size a start reads the whole file for damage, in a fraction of a second. */
const wholeCheckLimit = 16 * 1024 * 1024
/** SQLite waits synchronously, so its own patience is short; writes try again without blocking others. */
export const busyTimeoutMs = 100

export type DatabaseOptions = {
  /** Of the file, or `:memory:`. */
  readonly path: string
  /** Under which rules the signatures are made; a database is filled under one scheme. */
  readonly scheme: string
  readonly synchronous: 'full' | 'normal'
  readonly now: () => number
}

export type OpenDatabase = {
  readonly db: Database.Database
  /** Closes the database and gives up the lock. */
  readonly close: () => void
}

const unusable = (detail: string, cause?: unknown): DittographError =>
  new DittographError('database_unusable', detail, { cause })

/**
 * Opens the database, creates it where there is none and applies migrations. Refuses with `schema_too_new`,
 * `scheme_mismatch` or `database_unusable` what it should not touch, and has not written to it then.
 */
export const openDatabase = (options: DatabaseOptions): OpenDatabase => {
  const migrations = readMigrations(migrationDirectory)
  if (options.path === ':memory:') {
    const db = new Database(options.path)
    create(db, migrations, options)
    configure(db, options)
    return { db, close: () => db.close() }
  }
  const file = fileOf(options.path)
  const unlock = asDittographError(() => lockDatabase(file))
  try {
    return asDittographError(() => {
      if (!existsSync(file)) createFile(file, migrations, options)
      const stored = inspect(file, migrations)
      if (stored !== options.scheme) throw mismatch(stored, options.scheme)
      const db = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs })
      try {
        db.pragma('journal_mode = WAL')
        configure(db, options)
        migrate(db, migrations, options.now())
      } catch (reason) {
        db.close()
        throw reason
      }
      const close = () => {
        try {
          db.pragma('wal_checkpoint(TRUNCATE)')
        } finally {
          db.close()
          unlock()
        }
      }
      return { db, close }
    })
  } catch (reason) {
    unlock()
    throw reason
  }
}

export const asDittographError = <T>(work: () => T): T => {
  try {
    return work()
  } catch (reason) {
    throw toDittographError(reason)
  }
}

/** The path without symbolic links, so that a file has one lock and one log whatever it is called. */
const fileOf = (path: string): string => {
  const absolute = resolve(path)
  const directory = dirname(absolute)
  try {
    makeDirectory(directory)
    return existsSync(absolute) ? realpathSync(absolute) : join(realpathSync(directory), basename(absolute))
  } catch (reason) {
    throw unusable('The directory of the database does not exist and cannot be created', reason)
  }
}

/** One level after the other: below a directory that takes none, as /proc, Node's own recursion never ends. */
const makeDirectory = (directory: string): void => {
  if (existsSync(directory)) return
  makeDirectory(dirname(directory))
  mkdirSync(directory)
}

/** A new database appears whole or not at all: an empty file is never a database that was just begun. */
const createFile = (file: string, migrations: readonly Migration[], options: DatabaseOptions): void => {
  if (existsSync(`${file}-wal`))
    throw unusable(
      'The database file is missing, but its write-ahead log is there: restore the file, or remove the log to ' +
        'start with an empty database',
    )
  const begun = `${file}-new`
  for (const suffix of ['', '-journal']) rmSync(begun + suffix, { force: true })
  const db = new Database(begun)
  try {
    create(db, migrations, options)
  } finally {
    db.close()
  }
  publishFile(begun, file)
}

const create = (db: Database.Database, migrations: readonly Migration[], options: DatabaseOptions): void => {
  db.pragma(`page_size = ${pageSize}`)
  migrate(db, migrations, options.now(), () => {
    db.pragma(`application_id = ${applicationId}`)
    db.prepare(`INSERT INTO setting (name, value) VALUES ('scheme', ?)`).run(options.scheme)
  })
}

const configure = (db: Database.Database, { synchronous }: DatabaseOptions): void => {
  db.pragma(`synchronous = ${synchronous}`)
  db.pragma('foreign_keys = ON')
  db.pragma('temp_store = MEMORY')
  db.pragma(`cache_size = -${cacheKib}`)
  db.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  db.pragma(`journal_size_limit = ${logSizeLimit}`)
}

/**
 * The scheme that the database was filled under. Reads whatever may be a reason to refuse it, over a connection that
 * cannot write.
 */
const inspect = (file: string, migrations: readonly Migration[]): string => {
  const status = statSync(file)
  if (!status.isFile()) throw unusable('The path of the database is that of a directory or a device')
  const { size } = status
  if (size === 0)
    throw unusable('The database file is empty: restore it, or remove it to start with an empty database')
  const hasLog = existsSync(`${file}-wal`)
  const db = new Database(file, { readonly: true, timeout: busyTimeoutMs })
  try {
    if (db.pragma('application_id', { simple: true }) !== applicationId)
      throw unusable('The file is a database of another program')
    checkMigrations(db, migrations)
    const scheme = db.prepare<[], string>(`SELECT value FROM setting WHERE name = 'scheme'`).pluck().get()
    if (scheme === undefined) throw unusable('The database does not say under which scheme it was filled')
    // Pages that are in the log only need not be in the file yet.
    const isCut = size < Number(db.pragma('page_count', { simple: true })) * pageSize && !hasLog
    if (isCut) throw unusable('The database file was cut short: restore it from a backup')
    if (size <= wholeCheckLimit && db.pragma('quick_check(1)', { simple: true }) !== 'ok')
      throw unusable('The database file is damaged: restore it from a backup')
    return scheme
  } finally {
    db.close()
  }
}

/** The same for a file that exists. Throws what `openDatabase` does, but for `scheme_mismatch`. */
export const readScheme = (file: string): string =>
  asDittographError(() => inspect(file, readMigrations(migrationDirectory)))

const mismatch = (stored: string, scheme: string): DittographError =>
  new DittographError(
    'scheme_mismatch',
    `The database was filled under the scheme "${stored}", and the settings ask for "${scheme}". Signatures ` +
      'of two schemes cannot be compared: run "dittograph resign" with the new settings, which makes the signatures ' +
      'again from the kept texts and says when to start; restore the settings TOKENIZER, SITE_RULE and HASH_SEED ' +
      'that the database was filled with; or name a new database and send the documents to it again. Nothing was changed.',
  )
