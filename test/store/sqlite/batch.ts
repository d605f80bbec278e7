import type { PutOperation } from '../../../src/store/store.ts'
import { wordIndex, wordsOf } from '../feature-sample.ts'
import { put, utf8 } from '../sample.ts'

/** So small that a few batches go through flushes and merges of several levels. */
export const tinyRuns = { flushSets: 16, fanOut: 2, sliceRows: 100, exactIndex: wordIndex } as const

export const documentsInBatch = 8

/** Appended to the texts of a batch, it soon fills a small disk. */
export const largeText = 'x'.repeat(5000)

/** The batch with a number: some documents are identical to one another, and to some of the batch before. */
export const writtenBatch = (batch: number, text = ''): PutOperation[] =>
  Array.from({ length: documentsInBatch }, (_, i) => {
    const content = batch * 6 + Math.min(i, 6)
    return put(`id ${batch}.${i}`, `content ${content}`, {
      urlKey: `key ${batch}.${i}`,
      site: `site ${batch % 3}`,
      text: utf8(`${wordsOf(content)} ${text}`),
    })
  })
