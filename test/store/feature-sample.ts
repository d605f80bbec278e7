import { expect } from 'vitest'
import { intersectionSize } from '../../src/detect/resemblance.ts'
import { boundsOf, reaches } from '../../src/join/bounds.ts'
import { thresholdOf } from '../../src/join/threshold.ts'
import type { FeatureSource } from '../../src/store/feature-postings.ts'
import type { ScanPage, SetNumber, SetWithText, Store } from '../../src/store/store.ts'
import { bytesOf } from './sample.ts'

/** Words of a content with a number: it shares six of seven with the next one. */
export const wordsOf = (content: number): string =>
  Array.from({ length: 7 }, (_, i) => `w${content + i}`).join(' ')

/** The features of a text: its words of the form `w1`. */
export const wordFeatures: FeatureSource = (text) => {
  const words = new Set(
    Buffer.from(text)
      .toString()
      .match(/\bw\d+/g),
  )
  const values = Float64Array.from(
    [...words].map((word) => Buffer.from(bytesOf(6, word)).readUIntBE(0, 6)),
  ).sort()
  return { shingles: values, tokens: values }
}

/** The index of features of the tests. */
export const wordIndex = { source: wordFeatures, minThreshold: 0.5 }

/** Sets whose kept text reaches the threshold by jaccard, found page by page, or scanned, and verified; in order. */
export const walkFeatures = async (
  store: Store,
  text: string,
  threshold: number,
  limit: number,
): Promise<SetNumber[]> => {
  const values = wordFeatures(Buffer.from(text)).shingles
  const bounds = boundsOf('jaccard', thresholdOf(threshold))
  const found: SetNumber[] = []
  const verify = (sets: readonly SetWithText[]): void => {
    for (const { set, text } of sets) {
      if (text === null) continue
      const theirs = wordFeatures(text).shingles
      if (reaches(bounds, intersectionSize(values, theirs), values.length, theirs.length)) found.push(set)
    }
  }
  for (let after: SetNumber | null = 0; after !== null; ) {
    const page = await store.probeFeatures({ features: 'shingles', values, bounds, after, limit })
    if (page === null) throw new Error('The store has no index of features')
    expect(page.sets.length).toBeLessThanOrEqual(limit)
    for (const set of page.sets) expect(set).toBeGreaterThan(after)
    verify(await store.setTexts(page.sets))
    if (page.scanThrough === null) {
      if (page.frontier !== null) expect(page.frontier).toBeGreaterThan(after)
      after = page.frontier
      continue
    }
    expect(page.frontier).toBe(after)
    expect(page.scanThrough).toBeGreaterThan(after)
    while (after !== null && after < page.scanThrough) {
      const scanned: ScanPage = await store.scan({
        minTokens: 0,
        maxTokens: Number.MAX_SAFE_INTEGER,
        after,
        limit,
      })
      verify(scanned.sets)
      after = scanned.frontier
    }
  }
  return found
}
