import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { DittographError } from '../../errors.ts'

export type Migration = {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** Hexadecimal, of the file. */
  readonly sha256: string
}

/**
 * The migrations of a directory of `NNNN-name.sql` files, by version. Throws where versions do not run from 1
 * without a gap: somebody's file is missing.
 */
export const readMigrations = (directory: URL): readonly Migration[] => {
  const migrations = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, directory), 'utf8')
      const sha256 = createHash('sha256').update(sql).digest('hex')
      return { version: Number(file.slice(0, 4)), name: file.slice(5, -4), sql, sha256 }
    })
  if (migrations.length === 0 || migrations.some(({ version }, i) => version !== i + 1))
    throw new Error(
      `The migrations are not numbered from 1 without gaps: ${migrations.map((m) => m.version)}`,
    )
  return migrations
}

/** Schema version of the database: how many migrations it has. */
export const schemaVersion = (db: Database.Database): number =>
  db.pragma('user_version', { simple: true }) as number // the pragma gives one integer

/**
 * Refuses a database that this program cannot bring to its own schema, without writing to it: `schema_too_new`
 * where it has migrations that the program does not know, `database_unusable` where one that was applied reads
 * otherwise now.
 */
export const checkMigrations = (db: Database.Database, migrations: readonly Migration[]): void => {
  const version = schemaVersion(db)
  if (version > migrations.length)
    throw new DittographError(
      'schema_too_new',
      `The database has schema version ${version}, and this program knows versions up to ${migrations.length}: ` +
        'start it with the program that wrote it, or a newer one. Nothing was changed.',
    )
  if (version === 0) return
  const applied = db
    .prepare<[], { version: number; sha256: string }>('SELECT version, sha256 FROM applied_migration')
    .all()
  for (const { version, name, sha256 } of migrations.slice(0, schemaVersion(db))) {
    if (applied.find((one) => one.version === version)?.sha256 !== sha256)
      throw new DittographError(
        'database_unusable',
        `Migration ${version} (${name}) is not the one that the database was made with. Nothing was changed.`,
      )
  }
}

/**
 * Applies what the database does not have yet and then `finish`, all in one exclusive transaction, with a record
 * of each in `applied_migration`. `now` in milliseconds since 1970.
 */
export const migrate = (
  db: Database.Database,
  migrations: readonly Migration[],
  now: number,
  finish: () => void = () => undefined,
): void => {
  const apply = db.transaction(() => {
    for (const { version, name, sql, sha256 } of migrations.slice(schemaVersion(db))) {
      if (version === 1)
        db.exec(`CREATE TABLE applied_migration (
          version INTEGER NOT NULL PRIMARY KEY,
          name TEXT NOT NULL,
          sha256 TEXT NOT NULL,
          applied_at INTEGER NOT NULL -- milliseconds since 1970
        ) STRICT`)
      db.exec(sql)
      db.prepare('INSERT INTO applied_migration VALUES (?, ?, ?, ?)').run(version, name, sha256, now)
      db.pragma(`user_version = ${version}`)
    }
    finish()
  })
  apply.exclusive()
}
