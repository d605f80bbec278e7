import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { migrate, readMigrations } from '../../../src/store/sqlite/migrate.ts'
import { documentSql, featureSql, postingSql, reindexSql } from '../../../src/store/sqlite/sql.ts'

const db = new Database(':memory:')
migrate(db, readMigrations(new URL('../../../migrations/sqlite/', import.meta.url)), 0)

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
}

describe('Query plans', () => {
  for (const [name, sql] of Object.entries({ ...documentSql, ...postingSql, ...featureSql, ...reindexSql })) {
    test(`${name} neither reads a whole table nor sorts`, () => {
      expect(costlySteps(sql)).toEqual(readInOrder[name] ?? [])
    })
  }

  test('A plan that is costly is seen', () => {
    expect(costlySteps('SELECT id FROM document WHERE site = ? ORDER BY title')).toHaveLength(2)
  })
})
