import { randomFillSync } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { SqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { PutOperation, WriteResult } from '../src/store/store.ts'

const batchSize = 500
const siteCount = 5000
const bytesEach = 16 + 48 + 48 + 32

/** Random documents as the service would store them, without texts: ids are derived from URLs of 5,000 sites. */
export const syntheticDocuments = (from: number, count: number): PutOperation[] => {
  const random = randomFillSync(Buffer.allocUnsafe(count * bytesEach))
  return Array.from({ length: count }, (_, i) => {
    const bytes = random.subarray(bytesEach * i, bytesEach * (i + 1))
    const site = `site-${bytes.readUInt32BE(112) % siteCount}.example`
    const url = `http://www.${site}/articles/${bytes.toString('hex', 116, 124)}/${from + i}.html`
    const hostDigits = (bytes.readUInt32BE(112) % siteCount).toString(16).padStart(8, '0')
    return {
      kind: 'put' as const,
      id: `${hostDigits}-${bytes.toString('hex', 124, 136)}`,
      url,
      urlKey: url,
      site,
      title: 'A synthetic document',
      tokenCount: 600,
      contentHash: bytes.subarray(0, 16),
      signature: { supershingles: bytes.subarray(16, 64), simhash: bytes.subarray(64, 112) },
      text: null,
      fetchedAt: null,
      metadata: null,
      now: Date.now(),
    }
  })
}

/** Stores so many documents, changed as told, in batches; `onBatch` sees each batch and what became of it. */
export const storeSynthetic = async (
  store: SqliteStore,
  count: number,
  change: (one: PutOperation, index: number) => PutOperation = (one) => one,
  onBatch: (batch: readonly PutOperation[], results: readonly WriteResult[]) => void = () => {},
): Promise<void> => {
  for (let from = 0; from < count; from += batchSize) {
    const documents = syntheticDocuments(from, Math.min(batchSize, count - from))
    const batch = documents.map((one, i) => change(one, from + i))
    onBatch(batch, await store.write(batch))
  }
}

/** Resolves when the store has written and merged all that it does in the background. */
export const settle = async (store: SqliteStore, path: string): Promise<void> => {
  const db = new Database(path, { readonly: true })
  const unfinished = db.prepare(`SELECT count(*) FROM posting_run WHERE state <> 'ready'`).pluck()
  do {
    await store.check()
    await wait(50)
  } while (unfinished.get() !== 0)
  db.close()
}
