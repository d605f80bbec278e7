import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { DeleteOperation, Store } from '../../../src/store/store.ts'
import { walkFeatures, wordFeatures, wordIndex, wordsOf } from '../feature-sample.ts'
import { NaiveStore } from '../naive-store.ts'
import { signatureOf } from '../sample.ts'
import { walkList, walkProbe } from '../store-contract.ts'
import { documentsInBatch, largeText, tinyRuns, writtenBatch } from './batch.ts'
import { inTemporaryDirectory, runChild } from './temporary.ts'

/** What every document is found by: its set by content, the sets of its signature and its features, URL and site. */
const findings = async (store: Store) => {
  const all = await walkList(store, { limit: 1000 })
  const idsOf = async (sets: readonly number[]) => (await store.members(sets, 0, 1000)).map(({ id }) => id)
  const found: Record<string, unknown> = {}
  const texts = await store.texts(all.map(({ id }) => id))
  for (const [i, { id, contentHash, signature }] of all.entries()) {
    const text = Buffer.from(texts.get(id)?.text ?? []).toString()
    const set = await store.findSet(contentHash)
    const { candidates } = await walkProbe(store, signature ?? signatureOf(id), {
      minSupershingles: 1,
      bands: true,
      limit: 100,
    })
    const byUrl = await walkList(store, { url: `key ${id.slice(3)}`, limit: 10 })
    found[id] = [
      await idsOf(set === null ? [] : [set]),
      await idsOf(candidates.map((one) => one.set)),
      // Of some documents only: counting all common features is most of the work of the test.
      i % 5 === 0 ? await idsOf(await walkFeatures(store, text, 0.5, 100)) : [],
      byUrl.length,
    ]
  }
  for (const site of ['site 0', 'site 1', 'site 2', 'other'])
    found[site] = (await walkList(store, { site, limit: 1000 })).map(({ id }) => id)
  return { found, counts: await store.counts() }
}

/** Copies the files as a crash would leave them, from outside this process (closing them here ends its locks). */
const copyDatabase = (from: string, to: string): void => {
  execFileSync('cp', [from, to])
  if (existsSync(`${from}-wal`)) execFileSync('cp', [`${from}-wal`, `${to}-wal`])
}

const stagesOf = (path: string): string[] => {
  const db = new Database(path)
  const stages = db.prepare(`SELECT state || ' of level ' || level FROM posting_run`).pluck().all()
  db.close()
  return stages as string[] // one text column
}

describe('A crash', () => {
  test('loses nothing at whatever step of a flush, a merge or a deletion it comes', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      // Each batch fills a delta, and four deltas go through merges of two levels.
      const runs = { flushSets: documentsInBatch, fanOut: 2, sliceRows: 60, exactIndex: wordIndex }
      const store = await openSqliteStore({ path, scheme: 'test', ...runs })
      const naive = new NaiveStore(wordFeatures)
      const stages = new Set<string>()
      let crashes = 0
      const crash = async () => {
        const copy = join(directory, `copy ${crashes++}.db`)
        copyDatabase(path, copy)
        for (const stage of stagesOf(copy)) stages.add(stage)
        const reopened = await openSqliteStore({ path: copy, scheme: 'test', ...runs })
        expect(await findings(reopened)).toEqual(await findings(naive))
        await reopened.close()
      }
      /** Background work takes one step in a turn, also while a write waits for it. */
      const crashOften = async (isOver: (turn: number) => boolean) => {
        for (let turn = 0; !isOver(turn); turn++) {
          if (turn % 6 === 1) await crash()
          await new Promise(setImmediate)
        }
      }
      const removal: DeleteOperation[] = writtenBatch(1)
        .slice(0, 5)
        .map(({ id }) => ({ kind: 'delete', id }))
      const moved = writtenBatch(2).map((one) => ({ ...one, site: 'other' }))
      for (let batch = 0; batch < 5; batch++) {
        for (const operations of [writtenBatch(batch), ...(batch === 3 ? [removal, moved] : [])]) {
          let isWritten = false
          const writing = store.write(operations).then(() => {
            isWritten = true
          })
          await crashOften(() => isWritten)
          await writing
          await naive.write(operations)
        }
        await crashOften((turn) => turn === 60)
      }
      await crashOften((turn) => turn === 600)
      expect([...stages].sort()).toEqual([
        'building of level 0',
        'building of level 1',
        'building of level 2',
        'dropped of level 0',
        'dropped of level 1',
        'ready of level 0',
        'ready of level 1',
        'ready of level 2',
      ])
      await store.close()
    })
  }, 120_000)

  test('of a reindexing leaves a database that is refused, and found whole when it has been reindexed', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const open = (exactIndex: typeof wordIndex | null) =>
        openSqliteStore({ path, scheme: 'test', ...tinyRuns, exactIndex })
      const store = await open(null)
      const naive = new NaiveStore(wordFeatures)
      // More sets than a reindexing makes the postings of in one part.
      const batches = 50
      for (let batch = 0; batch < batches; batch++) {
        await store.write(writtenBatch(batch))
        await naive.write(writtenBatch(batch))
      }
      await store.close()
      for (let kills = 0; kills < 2; kills++) {
        const lines = await runChild(['reindex', path], (_, kill) => kill())
        expect(lines).not.toContain('reindexed')
        await expect(open(wordIndex)).rejects.toMatchObject({
          code: 'database_unusable',
          message: expect.stringContaining('dittograph reindex'),
        })
      }
      expect((await runChild(['reindex', path])).at(-1)).toBe('reindexed')
      const reopened = await open(wordIndex)
      expect(reopened.hasExactIndex).toBe(true)
      const similar = async (one: Store, content: number) => {
        const sets = await walkFeatures(one, wordsOf(content), 0.5, 100)
        return (await one.members(sets, 0, 100)).map(({ id }) => id)
      }
      for (let content = 0; content < 6 * batches; content += 25) {
        const expected = await similar(naive, content)
        expect(expected.length).toBeGreaterThan(2)
        expect(await similar(reopened, content)).toEqual(expected)
      }
      await reopened.close()
    })
  }, 120_000)

  test('of a killed process loses no acknowledged document and leaves no half of a batch', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      let next = 0
      for (const batchesBeforeKill of [3, 9, 20]) {
        const lines = await runChild(['write', path, String(next)], (line, kill) => {
          if (Number(line) >= next + batchesBeforeKill - 1) kill()
        })
        const acknowledged = Number(lines.at(-1))
        expect(acknowledged).toBeGreaterThanOrEqual(next + batchesBeforeKill - 1)
        const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
        const { documents } = await store.counts()
        expect(documents % documentsInBatch).toBe(0)
        const batches = documents / documentsInBatch
        expect(batches).toBeGreaterThan(acknowledged)
        const naive = new NaiveStore(wordFeatures)
        for (let batch = 0; batch < batches; batch++) await naive.write(writtenBatch(batch))
        expect(await findings(store)).toEqual(await findings(naive))
        await store.close()
        const db = new Database(path)
        expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
        expect(db.pragma('foreign_key_check')).toEqual([])
        db.close()
        next = batches
      }
    })
  }, 120_000)
})

describe('A full disk', () => {
  test('refuses writes and holds up background work, which both go on when there is room, with nothing lost', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const [code, batches, reading, end] = await runChild(['fill', path], undefined, 2000)
      expect([code, reading]).toEqual(['store_full', 'readable'])
      expect(Number(batches)).toBeGreaterThan(3)
      expect(Number(end)).toBe(Number(batches) + 6)
      const naive = new NaiveStore(wordFeatures)
      for (let batch = 0; batch < Number(end); batch++) await naive.write(writtenBatch(batch, largeText))
      const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
      expect(await findings(store)).toEqual(await findings(naive))
      await store.close()
    })
  }, 120_000)
})
