import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'

const pageSize = 8192
const cacheKib = 32 * 1024

/**
 * A new SQLite file for the result of a job, at most `mostBytes` large: beyond that SQLite says that it is full. It is
 * thrown away unless the job succeeds, so that nothing has to be safe from a power loss before `publishFile`.
 */
export const createResultFile = (file: string, mostBytes: number, schema: string): Database.Database => {
  rmSync(file, { force: true })
  const db = new Database(file)
  db.pragma(`page_size = ${pageSize}`)
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  db.pragma(`cache_size = -${cacheKib}`)
  db.pragma('locking_mode = EXCLUSIVE')
  db.pragma(`max_page_count = ${Math.ceil(mostBytes / pageSize)}`)
  db.exec(schema)
  return db
}
