import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { analyzeText } from '../../src/analysis/analyze.ts'
import type { RunningServices } from '../../src/compose.ts'
import { termDifference } from '../../src/detect/difference.ts'
import { DegreeTally } from '../../src/evaluation/degrees.ts'
import { evaluateJob } from '../../src/evaluation/job-evaluation.ts'
import { describeJob } from '../../src/evaluation/job-statistics.ts'
import { type Label, labels } from '../../src/evaluation/label.ts'
import { PairTally } from '../../src/evaluation/pair-tally.ts'
import { SimilarityTally } from '../../src/evaluation/similarity-tally.ts'
import { TermDifferenceTally } from '../../src/evaluation/term-differences.ts'
import type { JoinRequest, PairItem } from '../../src/service/job-service.ts'
import { allPairs, joinRequest, openInDirectory, storeFamilies, succeeded } from '../fixture/jobs.ts'
import { seededRandom } from '../fixture/pages.ts'
import { allPages, storeAll, textInput } from '../fixture/services.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

const { directory, remove } = temporaryDirectory()
let running: RunningServices
beforeAll(async () => {
  running = await openInDirectory(directory)
  await storeFamilies(running, 5, 30)
}, 60_000)
afterAll(async () => {
  await running.close()
  remove()
})

const byBoth = ({ a, b }: { a: string; b: string }): string => `${a}\n${b}`

/** Joins that stand for their pairs in every way: all, of one site, of different sites, within a set and between two. */
const requests: readonly Partial<JoinRequest>[] = [
  { algorithm: 'site-aware' },
  { algorithm: 'site-aware', site: 'different', minResemblance: 0 },
  { algorithm: 'simhash', site: 'same' },
  { algorithm: 'combined', site: 'different' },
  { algorithm: 'shingling' },
  { algorithm: 'identical', site: 'same' },
  { algorithm: 'identical', site: 'different' },
]

const joined = async (request: Partial<JoinRequest>): Promise<{ id: string; pairs: PairItem[] }> => {
  const { id } = await succeeded(running, joinRequest(request))
  return { id, pairs: await allPairs(running, id) }
}

/** Some of the pairs with labels, and some that are no pair of the join. */
const judgeSome = async (pairs: readonly PairItem[], seed: number): Promise<Map<string, Label>> => {
  const random = seededRandom(seed)
  const judged = new Map<string, Label>()
  const ids = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))].sort()
  const others = ids.slice(1, 10).map((b) => ({ a: ids[0] ?? '', b }))
  for (const pair of [...pairs.filter(() => random() < 0.4), ...others]) {
    const label = labels[Math.floor(random() * labels.length)] ?? 'correct'
    const [a, b] = random() < 0.5 ? [pair.a, pair.b] : [pair.b, pair.a]
    await running.services.evaluation.judge(a, b, { label, reason: null })
    judged.set(byBoth(pair), label)
  }
  return judged
}

const forgetAll = async (): Promise<void> => {
  const { evaluation } = running.services
  for (const { judgements } of await allPages((cursor) => evaluation.judgements({ limit: 7, cursor })))
    for (const { a, b } of judgements) await evaluation.forget(b, a)
}

const termsOf = async (id: string): Promise<readonly string[]> =>
  analyzeText(await running.services.documents.text(id), {
    tokenizer: 'practical',
    siteRule: 'public-suffix',
  }).terms

const expectStatistics = async (id: string, pairs: readonly PairItem[]): Promise<void> => {
  const tally = new PairTally()
  const degrees = new DegreeTally<string>()
  for (const pair of pairs) {
    tally.add(pair, null)
    degrees.add(pair.a, pair.b)
  }
  expect(await running.services.evaluation.statistics(id)).toEqual(describeJob(tally, degrees.counts()))
}

/** Each judged pair of the join counts, and no other. */
const expectEvaluation = async (id: string, pairs: readonly PairItem[]): Promise<void> => {
  const judged = await judgeSome(pairs, 3)
  const tally = new PairTally()
  const similarities = new SimilarityTally()
  const differences = new TermDifferenceTally()
  for (const pair of pairs) {
    const label = judged.get(byBoth(pair)) ?? null
    tally.add(pair, label)
    similarities.add(pair.similarity, pair.sameSite, label)
    if (label !== null) differences.add(termDifference(await termsOf(pair.a), await termsOf(pair.b)), label)
  }
  const expected = evaluateJob({ pairs: tally, similarities, termDifferences: differences.result() })
  expect(await running.services.evaluation.evaluation(id)).toEqual(expected)
  await forgetAll()
}

/** A sample has each pair at most once, the same for a seed, and all of them where it may be that large. */
const expectSamples = async (id: string, pairs: readonly PairItem[]): Promise<void> => {
  const sample = (size: number, seed: number) => running.services.evaluation.sample(id, { size, seed })
  const inOrder = (some: readonly PairItem[]) => some.toSorted((x, y) => (byBoth(x) < byBoth(y) ? -1 : 1))
  const all = await sample(10_000, 1)
  expect(all.population).toBe(pairs.length)
  expect(inOrder(all.pairs.map(({ label: _, ...pair }) => pair))).toEqual(inOrder(pairs))
  expect((await sample(5, 1)).pairs).toEqual(all.pairs.slice(0, 5))
  expect((await sample(10_000, 2)).pairs).not.toEqual(all.pairs)
}

describe('of a join', () => {
  test.each(requests)(
    'statistics, samples and evaluation are those of its pairs, one by one: $algorithm, $site',
    async (request) => {
      const { id, pairs } = await joined(request)
      expect(pairs.length).toBeGreaterThan(10)
      await expectStatistics(id, pairs)
      await expectSamples(id, pairs)
      await expectEvaluation(id, pairs)
    },
  )

  test('by overlap there is everything but precision by similarity, which is no share there', async () => {
    const exact = { threshold: 100, features: 'shingles' } as const
    const { id, pairs } = await joined({ algorithm: 'overlap', exact, minResemblance: null })
    expect(pairs.length).toBeGreaterThan(10)
    const evaluation = await running.services.evaluation.evaluation(id)
    expect(evaluation.precision.all.pairs).toBe(pairs.length)
    expect(evaluation.bySimilarity).toEqual([])
  })

  test('a sample has no pair more often than others', async () => {
    const { id, pairs } = await joined({ algorithm: 'shingling' })
    const drawn = new Map(pairs.map((pair) => [byBoth(pair), 0]))
    const [size, rounds] = [10, 400]
    for (let seed = 0; seed < rounds; seed++)
      for (const pair of (await running.services.evaluation.sample(id, { size, seed })).pairs)
        drawn.set(byBoth(pair), (drawn.get(byBoth(pair)) ?? 0) + 1)
    const expected = (size * rounds) / pairs.length
    const chiSquare = [...drawn.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // Mean and standard deviation of the chi-square distribution; 5 of these are exceeded once in a million.
    const freedom = pairs.length - 1
    expect(pairs.length).toBeGreaterThan(50)
    expect(chiSquare).toBeLessThan(freedom + 5 * Math.sqrt(2 * freedom))
  })
})

describe('a judgement', () => {
  const judge = (a: string, b: string, label: Label, reason: string | null = null) =>
    running.services.evaluation.judge(a, b, { label, reason })
  const list = async () =>
    (await running.services.evaluation.judgements({ limit: 100, cursor: null })).judgements

  test('is about two documents in either order, replaces the one before, and can be deleted', async () => {
    await storeAll(running, [textInput('x', 'some words of x'), textInput('y', 'some words of y')])
    await judge('y', 'x', 'correct')
    const last = await judge('x', 'y', 'incorrect', 'two things')
    expect(last).toMatchObject({ a: 'x', b: 'y', label: 'incorrect', reason: 'two things', current: true })
    expect(await list()).toEqual([last])
    await running.services.evaluation.forget('y', 'x')
    expect(await list()).toEqual([])
    await expect(running.services.evaluation.forget('x', 'y')).rejects.toMatchObject({
      code: 'judgement_not_found',
    })
  })

  test('needs both documents', async () => {
    await expect(judge('x', 'unknown', 'correct')).rejects.toMatchObject({ code: 'document_not_found' })
  })

  test('holds through a restart, and for the contents that were judged alone', async () => {
    const text = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ')
    await storeAll(running, [textInput('p', text), textInput('q', text)])
    await judge('p', 'q', 'correct')
    await running.close()
    running = await openInDirectory(directory)
    const { id } = await joined({ algorithm: 'identical' })
    const correct = async () => (await running.services.evaluation.evaluation(id)).precision.all.correct
    expect(await correct()).toBe(1)
    await storeAll(running, [textInput('q', 'now it is something else')])
    expect(await list()).toMatchObject([{ a: 'p', b: 'q', current: false }])
    expect(await correct()).toBe(0)
    await storeAll(running, [textInput('q', text)])
    expect(await correct()).toBe(1)
    await running.services.jobs.delete(id)
    expect(await list()).toMatchObject([{ a: 'p', b: 'q', current: true }])
    await forgetAll()
  })
})
