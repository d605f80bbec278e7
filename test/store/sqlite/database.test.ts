import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { put } from '../sample.ts'
import { tinyRuns, writtenBatch } from './batch.ts'
import { makeOlderDatabase } from './older.ts'
import { inTemporaryDirectory, runChild } from './temporary.ts'

/** Makes a database with some documents and runs, closes it and gives its path. */
const filledDatabase = async (directory: string, scheme = 'test'): Promise<string> => {
  const path = join(directory, 'test.db')
  const store = await openSqliteStore({ path, scheme, ...tinyRuns })
  for (let batch = 0; batch < 6; batch++) await store.write(writtenBatch(batch))
  await store.close()
  return path
}

const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const withDatabase = (path: string, work: (db: Database.Database) => void): void => {
  const db = new Database(path)
  try {
    work(db)
  } finally {
    db.close()
  }
}

const refusal = async (path: string, scheme = 'test') => {
  const before = digest(path)
  const reason: unknown = await openSqliteStore({ path, scheme }).then(
    (store) => store.close(),
    (error: unknown) => error,
  )
  expect(digest(path)).toBe(before)
  if (!(reason instanceof Error)) throw new Error('The database was opened')
  return { code: 'code' in reason ? reason.code : undefined, message: reason.message }
}

describe('A new database', () => {
  test('is made with its directories, in write-ahead mode, with every migration recorded', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'some', 'where', 'test.db')
      const store = await openSqliteStore({ path, scheme: 'a scheme', now: () => 1_700_000_000_000 })
      withDatabase(path, (db) => {
        const files = readdirSync(new URL('../../../migrations/sqlite/', import.meta.url)).sort()
        expect(db.pragma('user_version', { simple: true })).toBe(files.length)
        expect(db.prepare('SELECT * FROM applied_migration').all()).toEqual(
          files.map((file, i) => ({
            version: i + 1,
            name: file.slice(5, -4),
            sha256: digest(`migrations/sqlite/${file}`),
            applied_at: 1_700_000_000_000,
          })),
        )
        expect(db.prepare(`SELECT value FROM setting WHERE name = 'scheme'`).pluck().get()).toBe('a scheme')
        expect(db.pragma('journal_mode', { simple: true })).toBe('wal')
        expect(db.pragma('page_size', { simple: true })).toBe(8192)
      })
      await store.close()
      expect(readdirSync(join(directory, 'some', 'where')).sort()).toEqual(['test.db', 'test.db-lock'])
    })
  })

  test('is begun again where its making was cut short', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      writeFileSync(`${path}-new`, 'half of a database')
      const store = await openSqliteStore({ path, scheme: 'test' })
      await store.write([put('a', 'x')])
      await store.close()
      expect(existsSync(`${path}-new`)).toBe(false)
    })
  })

  test('is not made over the log of one that is missing', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = await filledDatabase(directory)
      rmSync(path)
      writeFileSync(`${path}-wal`, 'frames')
      await expect(openSqliteStore({ path, scheme: 'test' })).rejects.toMatchObject({
        code: 'database_unusable',
      })
      expect(existsSync(path)).toBe(false)
    })
  })
})

describe('A database of an older schema', () => {
  test('is migrated when it is opened, and all that it holds is found', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const puts = Array.from({ length: 6 }, (_, batch) => writtenBatch(batch, 'text')).flat()
      makeOlderDatabase(path, 'test', puts)
      withDatabase(path, (db) => expect(db.pragma('user_version', { simple: true })).toBe(1))
      const store = await openSqliteStore({ path, scheme: 'test', now: () => 1_700_000_000_000 })
      expect((await store.counts()).documents).toBe(48)
      expect((await store.list({ after: 0, limit: 100 })).map(({ id }) => id)).toEqual(
        puts.map(({ id }) => id),
      )
      for (const { id, contentHash, signature } of puts) {
        const set = (await store.get(id))?.set
        expect(await store.findSet(contentHash)).toBe(set)
        if (signature === null) throw new Error('Every document has a signature')
        const query = { signature, minSupershingles: 6, bands: true, after: 0, limit: 100 }
        expect((await store.probe(query)).candidates.map((candidate) => candidate.set)).toEqual([set])
      }
      await store.write([put('later', 'later')])
      await store.close()
      withDatabase(path, (db) => {
        const applied = db.prepare('SELECT version, applied_at FROM applied_migration').raw().all()
        expect(applied).toEqual([
          [1, 1],
          [2, 1_700_000_000_000],
        ])
      })
    })
  })
})

describe('A database that should not be touched', () => {
  test('is refused where its schema is newer, with both versions named', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = await filledDatabase(directory)
      withDatabase(path, (db) => db.pragma('user_version = 999'))
      const { code, message } = await refusal(path)
      expect(code).toBe('schema_too_new')
      expect(message).toMatch(/version 999\b.*up to 2\b/)
      withDatabase(path, (db) => expect(db.pragma('user_version', { simple: true })).toBe(999))
    })
  })

  test('is refused where only its log says that the schema is newer, and log and file stay', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = await filledDatabase(directory)
      const copy = join(directory, 'copy.db')
      withDatabase(path, (db) => {
        db.pragma('user_version = 999')
        copyFileSync(path, copy)
        copyFileSync(`${path}-wal`, `${copy}-wal`)
      })
      const log = digest(`${copy}-wal`)
      expect((await refusal(copy)).code).toBe('schema_too_new')
      expect(digest(`${copy}-wal`)).toBe(log)
    })
  })

  test('is refused where it was filled under another scheme, with both schemes and both ways out named', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = await filledDatabase(directory, 'tokenizer=literal k=8')
      const { code, message } = await refusal(path, 'tokenizer=practical k=8')
      expect(code).toBe('scheme_mismatch')
      for (const part of [
        '"tokenizer=literal k=8"',
        '"tokenizer=practical k=8"',
        'TOKENIZER',
        'send the documents',
      ])
        expect(message).toContain(part)
      const store = await openSqliteStore({ path, scheme: 'tokenizer=literal k=8' })
      expect((await store.counts()).documents).toBe(48)
      await store.close()
    })
  })

  test('is refused where a migration that it has reads otherwise now', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = await filledDatabase(directory)
      withDatabase(path, (db) => db.exec(`UPDATE applied_migration SET sha256 = 'other' WHERE version = 1`))
      expect((await refusal(path)).code).toBe('database_unusable')
    })
  })

  test('is refused where it is of another program, with or without a schema version', async () => {
    await inTemporaryDirectory(async (directory) => {
      for (const version of [0, 1, 7]) {
        const path = join(directory, `foreign ${version}.db`)
        withDatabase(path, (db) => {
          db.exec('CREATE TABLE document (id TEXT)')
          db.pragma(`user_version = ${version}`)
        })
        expect((await refusal(path)).code).toBe('database_unusable')
      }
    })
  })

  const damages: [string, (path: string) => void][] = [
    [
      'is no database',
      (path) => writeFileSync(path, 'This is a letter and no database at all.\n'.repeat(100)),
    ],
    ['is empty', (path) => truncateSync(path, 0)],
    ['was cut short', (path) => truncateSync(path, 8192 * 5)],
    ['was cut short within its first page', (path) => truncateSync(path, 1000)],
    [
      'has garbage in the middle',
      (path) => {
        const bytes = readFileSync(path)
        bytes.fill(0xa5, 8192 * 3, 8192 * 6)
        writeFileSync(path, bytes)
      },
    ],
  ]
  for (const [how, damage] of damages) {
    test(`is refused where the file ${how}`, async () => {
      await inTemporaryDirectory(async (directory) => {
        const path = await filledDatabase(directory)
        damage(path)
        expect((await refusal(path)).code).toBe('database_unusable')
      })
    })
  }
})

describe('A database in use', () => {
  test('is refused to another process and to another store of this one, whatever name it is called by', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = await filledDatabase(directory)
      const alias = join(directory, 'alias.db')
      symlinkSync(path, alias)
      const store = await openSqliteStore({ path, scheme: 'test' })
      for (const name of [path, alias]) {
        expect(await runChild(['open', name])).toEqual(['database_unusable'])
        await expect(openSqliteStore({ path: name, scheme: 'test' })).rejects.toMatchObject({
          code: 'database_unusable',
          message: expect.stringContaining('Another process'),
        })
      }
      await store.write([put('a', 'x')])
      await store.close()
      expect(await runChild(['open', alias])).toEqual(['open'])
    })
  })

  test('can be opened at once when the process that had it was killed', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const refusals: Promise<string[]>[] = []
      let killed = false
      await runChild(['write', path, '0'], (line, kill) => {
        if (line !== 'open') return
        refusals.push(
          runChild(['open', path]).finally(() => {
            killed = true
            kill()
          }),
        )
      })
      expect(killed).toBe(true)
      expect(await Promise.all(refusals)).toEqual([['database_unusable']])
      const store = await openSqliteStore({ path, scheme: 'test' })
      await store.close()
    })
  })

  test('can be read by other programs', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = await filledDatabase(directory)
      const store = await openSqliteStore({ path, scheme: 'test' })
      await store.write([put('a', 'x')])
      withDatabase(path, (db) => expect(db.prepare('SELECT count(*) FROM document').pluck().get()).toBe(49))
      await store.close()
    })
  })
})

describe('A directory without the right to write', () => {
  /** As a user who is not root, to whom nothing is forbidden. */
  const asNobody = async (work: () => Promise<void>): Promise<void> => {
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(65_534)
    try {
      await work()
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  }

  test('is refused at the start, whether or not it has a database', async () => {
    await inTemporaryDirectory(async (directory) => {
      const filled = join(directory, 'filled')
      const empty = join(directory, 'empty')
      for (const one of [filled, empty]) mkdirSync(one)
      const path = await filledDatabase(filled)
      for (const one of [directory, filled, empty]) chmodSync(one, 0o555)
      await asNobody(async () => {
        for (const file of [path, join(empty, 'test.db'), join(empty, 'deeper', 'test.db')])
          await expect(openSqliteStore({ path: file, scheme: 'test' })).rejects.toMatchObject({
            code: 'database_unusable',
            message: expect.stringMatching(/directory/),
          })
      })
      for (const one of [directory, filled, empty]) chmodSync(one, 0o755)
      expect(readdirSync(empty)).toEqual([])
    })
  })
})
