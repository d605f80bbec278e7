import Database from 'better-sqlite3'
import { migrate, readMigrations } from '../../../src/store/sqlite/migrate.ts'
import type { PutOperation } from '../../../src/store/store.ts'

const migrations = readMigrations(new URL('../../../migrations/sqlite/', import.meta.url))

/** The first schema, filled as its program did before it wrote a run: `gap` numbers from one document to the next. */
export const makeOlderDatabase = (
  path: string,
  scheme: string,
  puts: readonly PutOperation[],
  gap = 2,
): void => {
  const db = new Database(path)
  db.pragma('page_size = 8192')
  migrate(db, migrations.slice(0, 1), 1)
  db.pragma(`application_id = ${0x4469_7474}`)
  db.prepare('INSERT INTO setting VALUES (?, ?), (?, ?)').run('scheme', scheme, 'checked_at', '1')
  const insertSet = db.prepare('INSERT INTO identity_set VALUES (?, ?, ?, ?, ?)')
  const insertDocument = db.prepare('INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const insertText = db.prepare('INSERT INTO document_text VALUES (?, CAST(? AS TEXT))')
  const setOf = new Map<string, number>()
  let number = 1000
  for (const { id, url, urlKey, site, title, now, fetchedAt, metadata, text, ...content } of puts) {
    number += gap
    const hash = Buffer.from(content.contentHash).toString('hex')
    const { supershingles = null, simhash = null } = content.signature ?? {}
    if (!setOf.has(hash)) {
      insertSet.run(number - 1, content.contentHash, content.tokenCount, supershingles, simhash)
      setOf.set(hash, number - 1)
    }
    insertDocument.run(number, id, setOf.get(hash), url, urlKey, site, title, now, now, fetchedAt, metadata)
    insertText.run(number, text)
  }
  const signed = db.prepare('SELECT count(*) FROM identity_set WHERE simhash IS NOT NULL').pluck().get()
  db.prepare('UPDATE total SET documents = ?, sets = ?, signed_sets = ?, greatest_number = ?').run(
    puts.length,
    setOf.size,
    signed,
    number,
  )
  db.close()
}
