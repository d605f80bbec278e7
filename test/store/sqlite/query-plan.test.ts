import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { migrate, readMigrations } from '../../../src/store/sqlite/migrate.ts'
import { documentSql, featureSql, postingSql, reindexSql, resignSql } from '../../../src/store/sqlite/sql.ts'

const migrations = readMigrations(new URL('../../../migrations/sqlite/', import.meta.url))
const db = new Database(':memory:')
migrate(db, migrations, 0)
// The database that is filled when this one is re-signed.
const target = new Database(':memory:')
migrate(target, migrations, 0)
db.exec(`ATTACH ':memory:' AS target`)
for (const table of ['document', 'identity_set', 'total'])
  db.exec(
    String(target.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(table)).replace(
      'CREATE TABLE ',
      'CREATE TABLE target.',
    ),
  )

/** The steps of the plan that read a whole table, or sort. */
const costlySteps = (sql: string): string[] =>
  db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...[...sql.matchAll(/\?/g)].map(() => null))
    .map(({ detail }) => detail)
    .filter((detail) => /\bSCAN\b|TEMP B-TREE/.test(detail))

/** What reads sets in order on purpose, a bounded slice of them or as far as memory reaches, or a small table whole. */
const readInOrder: Readonly<Record<string, string[]>> = {
  setBeforeNewest: ['SCAN identity_set'],
  setsAfter: ['SCAN (subquery-1)'],
  dropRuns: ['SCAN posting_run'],
  scanWindow: ['SCAN (subquery-1)'],
  copyTotals: ['SCAN s', 'SCAN n'],
  raiseGreatestNumber: ['SCAN total'],
}

describe('Query plans', () => {
  const statements = { ...documentSql, ...postingSql, ...featureSql, ...reindexSql }
  const named = [...Object.entries(statements), ...Object.entries(resignSql)]
  for (const [name, sql] of named) {
    test(`${name} neither reads a whole table nor sorts`, () => {
      expect(costlySteps(sql)).toEqual(readInOrder[name] ?? [])
    })
  }

  test('A plan that is costly is seen', () => {
    expect(costlySteps('SELECT id FROM document WHERE site = ? ORDER BY title')).toHaveLength(2)
  })
})
