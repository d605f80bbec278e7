import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServices } from '../../src/compose.ts'
import type { ClusterItem, ClustersSummary, JoinRequest, PairItem } from '../../src/service/job-service.ts'
import { canonicalCriteria } from '../../src/service/job-service.ts'
import {
  allClusters,
  allPairs,
  joinRequest,
  openInDirectory,
  storeFamilies,
  succeeded,
} from '../fixture/jobs.ts'
import { allViews, storeAll, textInput } from '../fixture/services.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

const { directory, remove } = temporaryDirectory()
let running: RunningServices
beforeAll(async () => {
  running = await openInDirectory(directory)
  await storeFamilies(running, 11, 20)
})
afterAll(async () => {
  await running.close()
  remove()
})

const clustersOf = async (
  services: RunningServices,
  join: JoinRequest,
  linkage: 'components' | 'star',
  policy = canonicalCriteria as readonly (typeof canonicalCriteria)[number][],
): Promise<{ pairs: PairItem[]; clusters: ClusterItem[]; summary: ClustersSummary }> => {
  const { id } = await succeeded(services, join)
  const pairs = await allPairs(services, id)
  const job = await succeeded(services, { kind: 'clusters', job: id, linkage, policy })
  const clusters = await allClusters(services, job.id)
  return { pairs, clusters, summary: job.result as ClustersSummary }
}

const neighboursBy = (pairs: readonly PairItem[]): Map<string, Map<string, PairItem>> => {
  const neighbours = new Map<string, Map<string, PairItem>>()
  for (const pair of pairs)
    for (const [of, other] of [
      [pair.a, pair.b],
      [pair.b, pair.a],
    ] as const)
      neighbours.set(of, (neighbours.get(of) ?? new Map()).set(other, pair))
  return neighbours
}

/** Connected components of single documents, by walking from one to the next. */
const componentsByWalking = (pairs: readonly PairItem[]): string[][] => {
  const neighbours = neighboursBy(pairs)
  const seen = new Set<string>()
  const components: string[][] = []
  for (const start of neighbours.keys()) {
    if (seen.has(start)) continue
    seen.add(start)
    const component = [start]
    for (const id of component)
      for (const other of neighbours.get(id)?.keys() ?? []) {
        if (seen.has(other)) continue
        seen.add(other)
        component.push(other)
      }
    components.push(component.sort())
  }
  return components
}

const median = (values: readonly number[]): number | undefined =>
  [...values].sort((p, q) => p - q)[Math.ceil(values.length / 2) - 1]

const bySize = (p: readonly string[], q: readonly string[]): number =>
  q.length - p.length || ((p[0] ?? '') < (q[0] ?? '') ? -1 : 1)

const requests = (['shingling', 'simhash', 'site-aware'] as const).flatMap((algorithm) =>
  (['any', 'same', 'different'] as const).map((site) => ({ algorithm, site })),
)

describe('clusters', () => {
  test.each(requests)('by components are those of the single pairs: %o', async (request) => {
    const { pairs, clusters, summary } = await clustersOf(running, joinRequest(request), 'components')
    const expected = componentsByWalking(pairs)
    expect(clusters.map(({ members }) => [...members].sort()).sort(bySize)).toEqual(expected.sort(bySize))
    expect(clusters.map(({ size }) => size)).toEqual(expected.map(({ length }) => length))
    expect(summary).toMatchObject({ clusters: expected.length, documents: expected.flat().length })
    const neighbours = neighboursBy(pairs)
    const sites = new Map((await allViews(running)).map(({ id, site }) => [id, site]))
    for (const cluster of clusters) {
      const members = new Set(cluster.members)
      const own = pairs.filter(({ a }) => members.has(a)).map(({ similarity }) => similarity)
      const ownSites = new Set(cluster.members.flatMap((id) => sites.get(id) ?? []))
      const near = neighbours.get(cluster.canonical)?.size ?? 0
      expect(cluster).toMatchObject({
        size: members.size,
        pairs: own.length,
        leastSimilarity: Math.min(...own),
        medianSimilarity: median(own),
        sites: [...ownSites].sort(),
        siteCount: ownSites.size,
        notNearCanonical: members.size - 1 - near,
        warning: members.size - 1 > near ? 'chain' : null,
      })
      expect(cluster.members[0]).toBe(cluster.canonical)
    }
  })

  test.each(requests)('by star have members near the canonical document only: %o', async (request) => {
    const { pairs, clusters } = await clustersOf(running, joinRequest(request), 'star')
    const neighbours = neighboursBy(pairs)
    const placed = clusters.flatMap(({ members }) => members)
    expect(new Set(placed).size).toBe(placed.length)
    for (const { canonical, members, ...cluster } of clusters) {
      const similarities = members.slice(1).map((id) => neighbours.get(canonical)?.get(id)?.similarity)
      expect(similarities).not.toContain(undefined)
      expect(cluster).toMatchObject({
        size: members.length,
        pairs: members.length - 1,
        leastSimilarity: Math.min(...similarities.map(Number)),
        medianSimilarity: median(similarities.map(Number)),
        warning: null,
      })
    }
    // Nobody is left over who has a neighbour that is left over.
    const isPlaced = new Set(placed)
    for (const { a, b } of pairs) expect(isPlaced.has(a) || isPlaced.has(b)).toBe(true)
  })

  test('of one join are the same every time, in the same order, whatever the size of the pages', async () => {
    const { id } = await succeeded(running, joinRequest())
    for (const linkage of ['components', 'star'] as const) {
      const request = { kind: 'clusters', job: id, linkage, policy: canonicalCriteria } as const
      const first = await succeeded(running, request)
      const second = await succeeded(running, request)
      const clusters = await allClusters(running, first.id)
      expect(await allClusters(running, second.id)).toEqual(clusters)
      expect(await allClusters(running, first.id, 2)).toEqual(clusters)
    }
  })

  test('warn of a chain, which star linkage breaks', async () => {
    const { directory: own, remove: removeOwn } = temporaryDirectory()
    const services = await openInDirectory(own)
    // Each page has 8 of 300 words that the one before has not: neighbours are near, the ends are not.
    const words = Array.from({ length: 300 + 8 * 20 }, (_, i) => `word${i}`)
    const pages = Array.from({ length: 20 }, (_, i) => words.slice(8 * i, 8 * i + 300).join(' '))
    await storeAll(
      services,
      pages.map((page, i) => textInput(String(i).padStart(2, '0'), page)),
    )
    const join = joinRequest({ algorithm: 'shingling' })
    const { clusters } = await clustersOf(services, join, 'components')
    expect(clusters[0]).toMatchObject({ warning: 'chain', notNearCanonical: expect.any(Number) })
    const stars = await clustersOf(services, join, 'star')
    expect(stars.summary.clusters).toBeGreaterThan(1)
    expect(stars.summary.chains).toBe(0)
    await services.close()
    removeOwn()
  })

  test('choose the canonical document by the policy, in its order', async () => {
    const { directory: own, remove: removeOwn } = temporaryDirectory()
    const services = await openInDirectory(own)
    const words = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ')
    const page = (id: string, url: string | null, fetchedAt: string | null) => ({
      ...textInput(id, words, url),
      fetchedAt,
    })
    await storeAll(services, [
      page('d', 'http://a.example/', '2020-01-01T00:00:00Z'),
      page('c', 'https://a.example/a/long/path', '2021-01-01T02:00:00+02:00'),
      page('b', 'https://a.example/short', '2021-01-01T00:00:00Z'),
      page('a', 'https://a.example/x', '2022-01-01T00:00:00Z'),
      page('e', null, null),
    ])
    const canonical = async (policy: readonly (typeof canonicalCriteria)[number][]) => {
      const { clusters } = await clustersOf(services, joinRequest(), 'star', policy)
      return clusters.map((cluster) => cluster.canonical)
    }
    expect(await canonical(canonicalCriteria)).toEqual(['b'])
    expect(await canonical(['https', 'shortUrl'])).toEqual(['a'])
    expect(await canonical(['shortUrl'])).toEqual(['d'])
    expect(await canonical(['earliest'])).toEqual(['d'])
    expect(await canonical([])).toEqual(['a'])
    await services.close()
    removeOwn()
  })
})
