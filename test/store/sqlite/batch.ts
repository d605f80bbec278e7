import type { PutOperation } from '../../../src/store/store.ts'
import { put, utf8 } from '../sample.ts'

/** So small that a few batches go through flushes and merges of several levels. */
export const tinyRuns = { flushSets: 16, fanOut: 2, sliceRows: 100 } as const

export const documentsInBatch = 8

/** The batch with a number: some documents are identical to one another, and to some of the batch before. */
export const writtenBatch = (batch: number, text: string | null = null): PutOperation[] =>
  Array.from({ length: documentsInBatch }, (_, i) =>
    put(`id ${batch}.${i}`, `content ${batch * 6 + Math.min(i, 6)}`, {
      urlKey: `key ${batch}.${i}`,
      site: `site ${batch % 3}`,
      text: text === null ? null : utf8(text),
    }),
  )
