import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { postingTables } from '../../../src/store/sqlite/posting-table.ts'
import { documentSql, postingSql } from '../../../src/store/sqlite/sql.ts'

const migration = new URL('../../../migrations/sqlite/0001-documents-and-postings.sql', import.meta.url)
const db = new Database(':memory:')
db.exec(readFileSync(migration, 'utf8'))

/** The steps of the plan that read a whole table, or sort. */
const costlySteps = (sql: string): string[] =>
  db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...[...sql.matchAll(/\?/g)].map(() => null))
    .map(({ detail }) => detail)
    .filter((detail) => /\bSCAN\b|TEMP B-TREE/.test(detail))

describe('Query plans', () => {
  for (const [name, sql] of Object.entries(documentSql)) {
    test(`${name} neither reads a whole table nor sorts`, () => {
      expect(costlySteps(sql)).toEqual([])
    })
  }

  for (const table of postingTables) {
    const sql = postingSql(table)
    test(`Reading and deleting in ${table.name} neither reads a whole table nor sorts`, () => {
      for (const one of [sql.readFromRun, sql.readFromRuns(1), sql.readFromRuns(30), sql.skip, sql.delete])
        expect(costlySteps(one)).toEqual([])
    })

    test(`Merging in ${table.name} sorts the rows of one slice and reads no whole table`, () => {
      for (const onlyExisting of [false, true])
        expect(costlySteps(sql.copy(8, onlyExisting))).toEqual(['USE TEMP B-TREE FOR ORDER BY'])
    })
  }

  test('A plan that is costly is seen', () => {
    expect(costlySteps('SELECT id FROM document WHERE site = ? ORDER BY title')).toHaveLength(2)
  })
})
