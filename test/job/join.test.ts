import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServices } from '../../src/compose.ts'
import { defaultThresholds } from '../../src/detect/decide.ts'
import type { JoinRequest, JoinSummary, PairItem } from '../../src/service/job-service.ts'
import { allPairs, joinRequest, openInDirectory, storeFamilies, succeeded } from '../fixture/jobs.ts'
import { allViews, bruteForce, options, walk } from '../fixture/services.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

const { directory, remove } = temporaryDirectory()
let running: RunningServices
beforeAll(async () => {
  running = await openInDirectory(directory)
  await storeFamilies(running, 7, 15)
})
afterAll(async () => {
  await running.close()
  remove()
})

const keyOf = ({ a, b }: Pick<PairItem, 'a' | 'b'>): string => JSON.stringify([a, b])
const sorted = (pairs: readonly PairItem[]): PairItem[] =>
  [...pairs].sort((p, q) => (keyOf(p) < keyOf(q) ? -1 : 1))

/** What queries for the near-duplicates of each document answer, as pairs. */
const pairsByQueries = async ({ kind: _, exact, ...request }: JoinRequest): Promise<PairItem[]> => {
  const query = exact === null ? request : { ...request, exact }
  const pairs = new Map<string, PairItem>()
  for (const { id } of await allViews(running))
    for (const page of await walk(running, id, options({ ...query, order: 'id', limit: 1000 })))
      for (const { id: other, bSimilarity, cSimilarity, similarity, sameSite } of page.duplicates) {
        const [a, b] = id < other ? [id, other] : [other, id]
        pairs.set(keyOf({ a, b }), { a, b, bSimilarity, cSimilarity, similarity, sameSite })
      }
  return sorted([...pairs.values()])
}

const joinPairs = async (request: JoinRequest): Promise<{ pairs: PairItem[]; result: JoinSummary }> => {
  const { id, result } = await succeeded(running, request)
  return { pairs: sorted(await allPairs(running, id)), result: result as JoinSummary }
}

const algorithms = ['shingling', 'simhash', 'combined', 'site-aware', 'identical'] as const
const requests: readonly Partial<JoinRequest>[] = [
  ...algorithms.flatMap((algorithm) =>
    (['any', 'same', 'different'] as const).map((site) => ({ algorithm, site })),
  ),
  { minResemblance: 0 },
  { minResemblance: 0.9 },
  { algorithm: 'shingling', minResemblance: 0.95, site: 'different' },
  ...[1, 4, 6].map((minSupershingles) => ({
    algorithm: 'shingling' as const,
    thresholds: { ...defaultThresholds, minSupershingles },
  })),
  ...[0, 340, 384].map((minAgreeingBits) => ({
    algorithm: 'simhash' as const,
    thresholds: { ...defaultThresholds, minAgreeingBits },
  })),
  ...(['jaccard', 'cosine', 'dice'] as const).flatMap((algorithm) =>
    (['shingles', 'tokens'] as const).map((features) => ({ algorithm, exact: { threshold: 0.8, features } })),
  ),
  { algorithm: 'overlap', exact: { threshold: 300, features: 'tokens' } },
  { algorithm: 'jaccard', exact: { threshold: 0.5, features: 'shingles' }, site: 'same' },
  {
    algorithm: 'cosine',
    exact: { threshold: 0.9, features: 'tokens' },
    minResemblance: 0.5,
    site: 'different',
  },
  { thresholds: { minSupershingles: 1, minAgreeingBits: 330, combinedMinAgreeingBits: 300 } },
]

describe('the pairs of a join', () => {
  test.each(requests.map((request) => [JSON.stringify(request), request] as const))(
    'are those that queries about each document find: %s',
    async (_name, changes) => {
      const request = joinRequest(changes)
      const { pairs, result } = await joinPairs(request)
      expect(pairs).toEqual(await pairsByQueries(request))
      expect(pairs.length).toBeGreaterThan(5)
      expect(result.pairs).toBe(pairs.length)
      expect(result.sameSitePairs).toBe(pairs.filter(({ sameSite }) => sameSite).length)
    },
  )

  test.each(['shingling', 'simhash', 'combined', 'identical'] as const)(
    'are those of a comparison of all stored signatures: %s',
    async (algorithm) => {
      const { pairs } = await joinPairs(joinRequest({ algorithm }))
      const views = await allViews(running)
      const expected = views.flatMap((view) =>
        bruteForce(views, view, algorithm)
          .filter((other) => view.id < other)
          .map((other) => keyOf({ a: view.id, b: other })),
      )
      expect(pairs.map(keyOf)).toEqual(expected.sort())
    },
  )

  test.each([1, 2, 7])(
    'come in the same order, each once, whatever the size of the pages: %i',
    async (limit) => {
      const { id } = await succeeded(running, joinRequest({ algorithm: 'shingling', site: 'different' }))
      const whole = await allPairs(running, id)
      expect(await allPairs(running, id, limit)).toEqual(whole)
      expect(new Set(whole.map(keyOf)).size).toBe(whole.length)
    },
  )
})
