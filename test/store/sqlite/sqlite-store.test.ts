import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { bytesPerSet } from '../../../src/store/memory-tier.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/store/sqlite/sqlite-store.ts'
import { wordIndex } from '../feature-sample.ts'
import { contentHashOf, put, sharingSupershingles, signatureOf } from '../sample.ts'
import { type StoreHarness, storeContract, walkList, walkMembers, walkProbe } from '../store-contract.ts'
import { tinyRuns, writtenBatch } from './batch.ts'
import { inTemporaryDirectory, temporaryDirectory } from './temporary.ts'

const openHarness = async (options: Partial<SqliteStoreOptions>): Promise<StoreHarness> => {
  const { directory, remove } = temporaryDirectory()
  const open = () =>
    openSqliteStore({ path: join(directory, 'test.db'), scheme: 'test', synchronous: 'normal', ...options })
  let store = await open()
  return {
    store,
    hasFeatureIndex: store.hasExactIndex,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    destroy: async () => {
      await store.close()
      remove()
    },
  }
}

storeContract('SQLite store', () => openHarness({}))
// So small that every test goes through flushes and merges of several levels.
storeContract('SQLite store of tiny runs', () => openHarness({ flushSets: 3, fanOut: 2, sliceRows: 16 }))
// What is in a run is looked up there, or the oldest of it is.
storeContract('SQLite store of tiny runs without memory', () =>
  openHarness({ flushSets: 3, fanOut: 2, sliceRows: 2, indexMemoryBytes: 0 }),
)
storeContract('SQLite store of tiny runs with memory for 5 sets', () =>
  openHarness({ flushSets: 3, fanOut: 3, sliceRows: 5, indexMemoryBytes: 5 * bytesPerSet }),
)

storeContract('SQLite store of tiny runs with an index of features', () =>
  openHarness({ flushSets: 3, fanOut: 2, sliceRows: 5, exactIndex: wordIndex, flushFeatures: 20 }),
)

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

const runsOf = (path: string): { level: number; numbers: number; gone: number; state: string }[] => {
  const db = new Database(path, { readonly: true })
  const runs = db
    .prepare(
      `SELECT level, numbers, state,
        (SELECT count(*) FROM gone_number WHERE number BETWEEN first_no AND last_no) AS gone
      FROM posting_run ORDER BY run`,
    )
    .all()
  db.close()
  return runs as ReturnType<typeof runsOf> // the columns that were asked for
}

/** Postings of supershingles, of bands and of look-ups in runs of any state. */
const rowCounts = (path: string): number[] => {
  const db = new Database(path, { readonly: true })
  const counts = ['slot < 6', 'slot BETWEEN 6 AND 18', 'slot BETWEEN 19 AND 22'].map(
    (condition) =>
      db
        .prepare(`SELECT coalesce(sum(postings), 0) FROM posting_block WHERE ${condition}`)
        .pluck()
        .get() as number,
  )
  db.close()
  return counts
}

/** Waits until background work has nothing left to do. */
const settled = async (path: string): Promise<void> => {
  const state = () => JSON.stringify([runsOf(path), rowCounts(path)])
  let before: string
  do {
    before = state()
    await turns(200)
  } while (state() !== before)
}

describe('Large identity sets and posting lists', () => {
  test('20,000 sets that share a supershingle are walked in pages, each listed once', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', synchronous: 'normal', flushSets: 3000 })
      const hot = signatureOf('hot')
      const stored: number[] = []
      for (let from = 0; from < 20_000; from += 500) {
        const batch = Array.from({ length: 500 }, (_, i) => {
          const content = `content ${from + i}`
          return put(`id ${from + i}`, content, {
            signature: sharingSupershingles(signatureOf(content), hot, [2]),
            text: null,
          })
        })
        for (const result of await store.write(batch)) if (result.kind === 'put') stored.push(result.set)
      }
      const walk = await walkProbe(store, hot, { minSupershingles: 1, bands: false, limit: 777 })
      expect(walk.candidates.map(({ set }) => set)).toEqual(stored)
      expect(walk.examined).toBe(20_000)
      const tooFew = await walkProbe(store, hot, { minSupershingles: 2, bands: true, limit: 5000 })
      expect(tooFew).toEqual({ candidates: [], examined: 20_000 })
      await store.close()
    })
  })

  test('20,000 identical documents are one set with one set of postings, and are walked by members', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', synchronous: 'normal', flushSets: 3000 })
      const ids = Array.from({ length: 20_000 }, (_, i) => `id ${i}`)
      for (let from = 0; from < ids.length; from += 500)
        await store.write(ids.slice(from, from + 500).map((id) => put(id, 'same', { site: 's', text: null })))
      expect(await store.counts()).toEqual({ documents: 20_000, sets: 1, postings: 19 })
      const { candidates, examined } = await walkProbe(store, signatureOf('same'), {
        minSupershingles: 1,
        bands: true,
        limit: 10,
      })
      expect(examined).toBe(1)
      const sets = candidates.map(({ set }) => set)
      expect((await walkMembers(store, sets, 999)).map(({ id }) => id)).toEqual(ids)
      const listed = await walkList(store, { site: 's', limit: 1000 })
      expect(listed.map(({ id }) => id)).toEqual(ids)
      expect(new Set(listed.slice(1).map(({ identicalTo }) => identicalTo))).toEqual(new Set(['id 0']))
      await store.close()
    })
  })
})

describe('Runs', () => {
  test('Full deltas become runs, and runs of one level one run of the next, without a posting lost', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
      for (let batch = 0; batch < 16; batch++) await store.write(writtenBatch(batch))
      await settled(path)
      // 8 deltas of 16 documents; 13 or 14 sets each, as batches repeat contents.
      const { sets } = await store.counts()
      expect(runsOf(path)).toEqual([{ level: 3, numbers: sets + 128, gone: 0, state: 'ready' }])
      expect(rowCounts(path)).toEqual([6 * sets, 13 * sets, sets + 3 * 128])
      await store.close()
    })
  })

  test('A run of which most is gone is written anew without that', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns, fanOut: 100 })
      const documents = Array.from({ length: 16 }, (_, i) => put(`id ${i}`, `content ${i}`, { site: 's' }))
      await store.write(documents)
      await settled(path)
      expect(runsOf(path)).toEqual([{ level: 0, numbers: 32, gone: 0, state: 'ready' }])
      await store.write(documents.slice(0, 8).map(({ id }) => ({ kind: 'delete', id })))
      await settled(path)
      expect(runsOf(path)).toEqual([{ level: 0, numbers: 32, gone: 16, state: 'ready' }])
      expect(rowCounts(path)).toEqual([6 * 16, 13 * 16, 3 * 16])
      await store.write([{ kind: 'delete', id: 'id 8' }])
      await settled(path)
      expect(runsOf(path)).toEqual([{ level: 0, numbers: 14, gone: 0, state: 'ready' }])
      expect(rowCounts(path)).toEqual([6 * 7, 13 * 7, 3 * 7])
      expect((await walkList(store, { site: 's', limit: 3 })).map(({ id }) => id)).toEqual(
        documents.slice(9).map(({ id }) => id),
      )
      await store.close()
    })
  })

  test('What is gone before its delta is written is not written', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
      await store.write(Array.from({ length: 15 }, (_, i) => put(`id ${i}`, `content ${i}`)))
      await store.write([{ kind: 'delete', id: 'id 0' }, { kind: 'delete', id: 'id 1' }, put('last', 'last')])
      await settled(path)
      expect(runsOf(path)).toEqual([{ level: 0, numbers: 28, gone: 0, state: 'ready' }])
      expect(rowCounts(path)).toEqual([6 * 14, 13 * 14, 2 * 14])
      await store.write(Array.from({ length: 16 }, (_, i) => put(`more ${i}`, `more content ${i}`)))
      await settled(path)
      expect(runsOf(path)).toEqual([{ level: 1, numbers: 60, gone: 0, state: 'ready' }])
      expect(rowCounts(path)).toEqual([6 * 30, 13 * 30, 2 * 30])
      await store.close()
    })
  })
})

describe('Background work', () => {
  test('writes and deletes no more than a slice of postings in one turn', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', flushSets: 100, fanOut: 3, sliceRows: 90 })
      const db = new Database(path, { readonly: true })
      const changes = db.prepare<[], number>('SELECT coalesce(sum(postings), 0) FROM posting_block').pluck()
      let before = 0
      let moves = 0
      for (let run = 0; run < 3; run++) {
        // Runs whose keys lie far apart: a slice that took all up to the farthest key would be too long.
        await store.write(
          Array.from({ length: 100 }, (_, i) => {
            const supershingles = new Uint8Array(48).fill(run)
            return put(`id ${run}.${i}`, `content ${run}.${i}`, {
              signature: { ...signatureOf(`content ${run}.${i}`), supershingles },
            })
          }),
        )
        for (let turn = 0; turn < 300; turn++) {
          await turns(1)
          const now = changes.get() ?? 0
          expect(Math.abs(now - before)).toBeLessThanOrEqual(90)
          if (now !== before) moves++
          before = now
        }
      }
      expect(moves).toBeGreaterThan(2 * ((300 * 19) / 90))
      db.close()
      await store.close()
    })
  })

  test('keeps pace with writes that come without a pause', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({
        path,
        scheme: 'test',
        synchronous: 'normal',
        ...tinyRuns,
        fanOut: 4,
      })
      const db = new Database(path, { readonly: true })
      const unflushed = db
        .prepare<[], number>(
          `SELECT count(*) FROM document WHERE doc_no >
            (SELECT coalesce(max(last_no), 0) FROM posting_run WHERE state = 'ready')`,
        )
        .pluck()
      const readyRuns = db
        .prepare<[], number>(`SELECT count(*) FROM posting_run WHERE state = 'ready'`)
        .pluck()
      for (let batch = 0; batch < 200; batch++) {
        await store.write(writtenBatch(batch))
        expect(unflushed.get()).toBeLessThanOrEqual(3 * tinyRuns.flushSets)
        // Four levels, each with the runs that wait for a merge and those that are in one.
        expect(readyRuns.get()).toBeLessThanOrEqual(4 * 2 * 4)
      }
      db.close()
      await store.close()
    })
  })

  test('that was interrupted is dropped when the database is opened again, and done anew', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      for (let round = 0; round < 6; round++) {
        const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
        await store.write(writtenBatch(2 * round))
        await store.write(writtenBatch(2 * round + 1))
        await turns(10 + 7 * round)
        await store.close()
        expect(runsOf(path).some(({ state }) => state === 'building')).toBe(true)
      }
      const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
      await settled(path)
      const { sets, documents } = await store.counts()
      expect(new Set(runsOf(path).map(({ state }) => state))).toEqual(new Set(['ready']))
      expect(rowCounts(path)).toEqual([6 * sets, 13 * sets, sets + 3 * documents])
      await store.close()
    })
  })
})

describe('Trouble', () => {
  test('While another program holds the database writes are store_busy and reads go on; then all goes on', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
      await store.write(writtenBatch(0))
      const other = new Database(path)
      other.exec('BEGIN IMMEDIATE')
      const write = store.write(writtenBatch(1))
      let turnsMeanwhile = 0
      const counting = setInterval(() => turnsMeanwhile++, 10)
      await expect(write).rejects.toMatchObject({ code: 'store_busy' })
      clearInterval(counting)
      // The wait does not hold up the event loop.
      expect(turnsMeanwhile).toBeGreaterThan(10)
      await expect(store.check()).rejects.toMatchObject({ code: 'store_busy' })
      expect((await store.get('id 0.0'))?.id).toBe('id 0.0')
      expect(await store.get('id 1.0')).toBeNull()
      // The patience is spent: later writes do not wait again.
      const started = performance.now()
      await expect(store.write(writtenBatch(2))).rejects.toMatchObject({ code: 'store_busy' })
      expect(performance.now() - started).toBeLessThan(1000)
      other.exec('COMMIT')
      expect(await store.write(writtenBatch(2))).toHaveLength(8)
      await store.check()
      other.close()
      await store.close()
    })
  })

  test('Background work that another program held up is done afterwards', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
      await store.write(writtenBatch(0))
      await store.write(writtenBatch(1))
      const other = new Database(path)
      other.exec('BEGIN IMMEDIATE')
      await turns(3)
      await expect(store.check()).rejects.toMatchObject({ code: 'store_busy' })
      expect(await store.findSet(contentHashOf('content 0'))).not.toBeNull()
      other.exec('COMMIT')
      other.close()
      while ((await store.check().catch(() => 'waits')) === 'waits')
        await new Promise((resolve) => setTimeout(resolve, 50))
      await settled(path)
      const { sets } = await store.counts()
      expect(runsOf(path)).toMatchObject([{ level: 0, state: 'ready' }])
      expect(rowCounts(path)[0]).toBe(6 * sets)
      await store.close()
    })
  })

  test('A store in memory needs no file', async () => {
    const store = await openSqliteStore({ path: ':memory:', scheme: 'test', ...tinyRuns })
    for (let batch = 0; batch < 8; batch++) await store.write(writtenBatch(batch))
    await turns(100)
    expect((await store.counts()).documents).toBe(64)
    expect(await store.findSet(contentHashOf('content 0'))).not.toBeNull()
    await store.close()
  })
})
