import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { checkMigrations, migrate, readMigrations, schemaVersion } from '../../../src/store/sqlite/migrate.ts'
import { inTemporaryDirectory } from './temporary.ts'

const inMigrations = async (
  files: Record<string, string>,
  body: (directory: URL) => void | Promise<void>,
): Promise<void> =>
  inTemporaryDirectory(async (directory) => {
    for (const [name, sql] of Object.entries(files)) writeFileSync(`${directory}/${name}`, sql)
    await body(pathToFileURL(`${directory}/`))
  })

const tablesOf = (db: Database.Database): unknown[] =>
  db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).pluck().all()

describe('Migrations', () => {
  test('are applied in order, each once, with version, name, hash and time on record', async () => {
    const files = {
      '0001-one.sql': 'CREATE TABLE a (x);',
      '0002-two.sql': 'ALTER TABLE a ADD COLUMN y; CREATE TABLE b (z)',
    }
    await inMigrations(files, (directory) => {
      const migrations = readMigrations(directory)
      const db = new Database(':memory:')
      migrate(db, migrations.slice(0, 1), 111)
      expect(schemaVersion(db)).toBe(1)
      db.exec('INSERT INTO a VALUES (42)')
      checkMigrations(db, migrations)
      migrate(db, migrations, 222)
      migrate(db, migrations, 333)
      expect(schemaVersion(db)).toBe(2)
      expect(tablesOf(db)).toEqual(['a', 'applied_migration', 'b'])
      expect(db.prepare('SELECT x, y FROM a').all()).toEqual([{ x: 42, y: null }])
      expect(db.prepare('SELECT version, name, applied_at FROM applied_migration').raw().all()).toEqual([
        [1, 'one', 111],
        [2, 'two', 222],
      ])
      checkMigrations(db, migrations)
    })
  })

  test('of which one fails leave the database as it was', async () => {
    await inMigrations(
      { '0001-one.sql': 'CREATE TABLE a (x);', '0002-two.sql': 'CREATE TABLE b (y); CREATE TABLE a (x)' },
      (directory) => {
        const migrations = readMigrations(directory)
        const db = new Database(':memory:')
        migrate(db, migrations.slice(0, 1), 1)
        expect(() => migrate(db, migrations, 2)).toThrow()
        expect([schemaVersion(db), tablesOf(db)]).toEqual([1, ['a', 'applied_migration']])
      },
    )
  })

  test('with a gap or without the first are not read', async () => {
    await inMigrations({ '0001-one.sql': '', '0003-three.sql': '' }, (directory) => {
      expect(() => readMigrations(directory)).toThrow(/without gaps/)
    })
    await inMigrations({ '0002-two.sql': '' }, (directory) => {
      expect(() => readMigrations(directory)).toThrow(/without gaps/)
    })
    await inMigrations({}, (directory) => {
      expect(() => readMigrations(directory)).toThrow()
    })
  })
})
