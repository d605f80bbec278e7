import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Analyzer } from '../../src/analysis/analyzer.ts'
import { createExactJoin, partsOf } from '../../src/job/exact-join.ts'
import { takeSnapshot } from '../../src/store/sqlite/snapshot.ts'
import { joinRequest, openInDirectory, storeFamilies } from '../fixture/jobs.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

test('A join in many parts finds what one in a single part finds', async () => {
  const { directory, remove } = temporaryDirectory()
  const running = await openInDirectory(directory)
  await storeFamilies(running, 9, 12)
  const source = takeSnapshot(join(directory, 'test.db'), join(directory, 'scratch'))
  const analyzer = new Analyzer({ tokenizer: 'practical', siteRule: 'public-suffix' })
  const pairsOf = (mostFeatures: number, algorithm: 'jaccard' | 'overlap', threshold: number): string[] => {
    const pairs: string[] = []
    createExactJoin(mostFeatures)({
      request: joinRequest({ algorithm, exact: { threshold, features: 'tokens' } }),
      source,
      analyzer,
      add: ({ a, b, ...evidence }) =>
        pairs.push(JSON.stringify([Math.min(a, b), Math.max(a, b), Object.entries(evidence)])),
      report: () => undefined,
    })
    return pairs.sort()
  }
  for (const [algorithm, threshold] of [
    ['jaccard', 0.5],
    ['overlap', 100],
  ] as const) {
    const expected = pairsOf(1e9, algorithm, threshold)
    expect(new Set(expected).size).toBe(expected.length)
    expect(expected.length).toBeGreaterThan(20)
    for (const mostFeatures of [1, 1000, 5000])
      expect(pairsOf(mostFeatures, algorithm, threshold)).toEqual(expected)
  }
  source.close()
  await running.close()
  remove()
})

test('Sets are cut into parts of increasing size that hold what is allowed, each set with features in one', () => {
  const sizes = Uint32Array.from([5, 0, 3, 9, 3, 1, 20, 4])
  const parts = partsOf(sizes, 10)
  expect(parts.flatMap(({ sets }) => sets)).toEqual([5, 2, 4, 7, 0, 3, 6])
  for (const { sets, smallest, largest } of parts) {
    const own = sets.map((set) => sizes[set] ?? 0)
    expect([smallest, largest]).toEqual([Math.min(...own), Math.max(...own)])
    expect(own.reduce((sum, size) => sum + size, 0) <= 10 || sets.length === 1).toBe(true)
  }
  expect(partsOf(new Uint32Array(3), 10)).toEqual([])
})
