import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { DittographError } from '../../../src/errors.ts'
import { isBusy, toDittographError } from '../../../src/store/sqlite/sqlite-error.ts'
import { inTemporaryDirectory } from './temporary.ts'

const errorOf = (work: () => unknown): unknown => {
  try {
    work()
  } catch (reason) {
    return reason
  }
  throw new Error('Nothing was thrown')
}

describe('Errors of SQLite', () => {
  test('A database at its largest size is store_full', () => {
    const db = new Database(':memory:')
    db.exec('CREATE TABLE t (x)')
    db.pragma('max_page_count = 3')
    const reason = errorOf(() => db.prepare('INSERT INTO t VALUES (zeroblob(100000))').run())
    expect(toDittographError(reason)).toMatchObject({ code: 'store_full', cause: reason })
    expect(isBusy(reason)).toBe(false)
  })

  test('A lock of another connection is store_busy', async () => {
    await inTemporaryDirectory(async (directory) => {
      const [one, two] = [0, 1].map(() => new Database(`${directory}/test.db`, { timeout: 0 }))
      one?.exec('BEGIN EXCLUSIVE')
      const reason = errorOf(() => two?.exec('BEGIN IMMEDIATE'))
      expect(isBusy(reason)).toBe(true)
      expect(toDittographError(reason)).toMatchObject({ code: 'store_busy', cause: reason })
      one?.close()
      two?.close()
    })
  })

  test('No message of this program holds SQL, a path or a value', () => {
    const db = new Database(':memory:')
    const codes = [
      'SQLITE_BUSY',
      'SQLITE_FULL',
      'SQLITE_IOERR_WRITE',
      'SQLITE_READONLY',
      'SQLITE_CORRUPT_INDEX',
    ]
    for (const code of codes) {
      const error = toDittographError(new Database.SqliteError('INSERT INTO secret at /some/path', code))
      expect(error).toBeInstanceOf(DittographError)
      expect(error.message).not.toMatch(/secret|INSERT|\//)
    }
    db.close()
  })

  test('An error of another kind stays as it is', () => {
    const reason = new TypeError('a fault of ours')
    expect(toDittographError(reason)).toBe(reason)
    const constraint = new Database.SqliteError('NOT NULL constraint failed', 'SQLITE_CONSTRAINT_NOTNULL')
    expect(toDittographError(constraint)).toBe(constraint)
  })
})
