import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { checkMigrations, migrate, readMigrations } from './migrate.ts'
import { toDittographError } from './sqlite-error.ts'

const migrationDirectory = new URL('../../../migrations/jobs/', import.meta.url)

/**
 * The database of the records of jobs; created, with its directory, where it is missing. Throws an error of the kind
 * `refused-at-start` where it cannot be used. `now` in milliseconds since 1970.
 */
export const openJobDatabase = (file: string, now: number): Database.Database => {
  const migrations = readMigrations(migrationDirectory)
  try {
    if (!existsSync(dirname(file))) mkdirSync(dirname(file))
    const db = new Database(file)
    try {
      db.pragma('synchronous = FULL')
      checkMigrations(db, migrations)
      migrate(db, migrations, now)
    } catch (reason) {
      db.close()
      throw reason
    }
    return db
  } catch (reason) {
    throw toDittographError(reason)
  }
}
