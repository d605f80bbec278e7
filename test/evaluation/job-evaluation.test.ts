import { describe, expect, test } from 'vitest'
import { evaluateJob, selectionOf } from '../../src/evaluation/job-evaluation.ts'
import { describeJob } from '../../src/evaluation/job-statistics.ts'
import type { Label } from '../../src/evaluation/label.ts'
import { PairTally } from '../../src/evaluation/pair-tally.ts'
import { SimilarityTally } from '../../src/evaluation/similarity-tally.ts'
import { TermDifferenceTally } from '../../src/evaluation/term-differences.ts'

/** A join by shingling: B, C, same site, label, term difference. */
const join: readonly [number, number, boolean, Label | null, number][] = [
  [2, 320, true, 'incorrect', 300],
  [2, 350, true, 'undecided', 40],
  [2, 356, true, 'correct', 12],
  [2, 360, false, null, 0],
  [3, 372, true, 'correct', 2],
  [3, 375, false, 'correct', 2],
  [4, 380, false, 'correct', 2],
  [6, 384, false, 'correct', 0],
  [6, 354, true, 'incorrect', 250],
]

const tallies = () => {
  const pairs = new PairTally()
  const similarities = new SimilarityTally()
  const termDifferences = new TermDifferenceTally()
  for (const [bSimilarity, cSimilarity, sameSite, label, difference] of join) {
    pairs.add({ bSimilarity, cSimilarity, sameSite }, label)
    similarities.add(bSimilarity / 6, sameSite, label)
    if (label !== null) termDifferences.add({ count: difference, exact: difference < 300 }, label)
  }
  return { pairs, similarities, termDifferences: termDifferences.result() }
}

describe('the evaluation of a join', () => {
  const evaluation = evaluateJob(tallies())

  test('gives precision over all, same-site and different-site pairs that were judged', () => {
    const { all, sameSite, differentSites } = evaluation.precision
    expect(all.precision).toMatchObject({ value: 5 / 8, sampleSize: 8 })
    expect(all.decidedPrecision).toMatchObject({ value: 5 / 7, sampleSize: 7 })
    expect(all).toMatchObject({ pairs: 9, unjudged: 1 })
    expect(sameSite.precision).toMatchObject({ value: 2 / 5, sampleSize: 5 })
    expect(differentSites.precision).toMatchObject({ value: 1, sampleSize: 3 })
  })

  test('gives precision by B-similarity, by range of C-similarity and by similarity', () => {
    expect(evaluation.bySupershingles.map((row) => [row.bSimilarity, row.pairs, row.correct])).toEqual([
      [2, 4, 1],
      [3, 2, 2],
      [4, 1, 1],
      [6, 2, 1],
    ])
    expect(evaluation.byAgreeingBits.map((row) => [row.from, row.to, row.pairs])).toEqual([
      [382, 384, 1],
      [379, 381, 1],
      [372, 375, 2],
      [355, 371, 2],
      [340, 354, 2],
      [0, 339, 1],
    ])
    expect(evaluation.bySimilarity.map((row) => [row.from, row.to, row.pairs])).toEqual([
      [0.3, 0.35, 4],
      [0.5, 0.55, 2],
      [0.65, 0.7, 1],
      [0.95, 1, 2],
    ])
  })

  test('gives for every cut-off what is left of the correct pairs, and how precise it is', () => {
    const at = (bits: number) => evaluation.cutOffs.find((row) => row.minAgreeingBits === bits)
    expect(at(320)?.correctKept).toMatchObject({ value: 1, sampleSize: 5 })
    expect(at(355)).toMatchObject({ correct: 5, incorrect: 0, undecided: 0, unjudged: 1 })
    expect(at(357)?.correctKept).toMatchObject({ value: 4 / 5 })
    expect(at(384)).toMatchObject({ pairs: 1, correct: 1 })
    expect(evaluation.cutOffs).toHaveLength(65)
  })

  test('describes term differences by median, shares and buckets, those over 200 by label', () => {
    const { termDifferences } = evaluation
    expect(termDifferences).toMatchObject({
      pairs: 8,
      mean: (300 + 40 + 12 + 2 + 2 + 2 + 0 + 250) / 8,
      median: 2,
      of2: { value: 3 / 8 },
      below42: { value: 6 / 8 },
      inexact: 1,
      over200: { incorrect: 2, correct: 0 },
    })
    expect(termDifferences.buckets.filter((one) => one.pairs > 0).map((one) => [one.from, one.to])).toEqual([
      [0, 0],
      [2, 2],
      [9, 16],
      [33, 64],
      [129, 256],
      [257, 512],
    ])
  })

  test('of nothing has no numbers, and samples of size 0', () => {
    const empty = evaluateJob({
      pairs: new PairTally(),
      similarities: new SimilarityTally(),
      termDifferences: new TermDifferenceTally().result(),
    })
    expect(empty.precision.all.precision).toEqual({ value: null, low: null, high: null, sampleSize: 0 })
    expect(empty.bySupershingles).toEqual([])
    expect(empty.termDifferences).toMatchObject({ pairs: 0, mean: null, median: null })
  })

  test('is plain data: JSON gives it back as it was', () => {
    expect(JSON.parse(JSON.stringify(evaluation))).toEqual(evaluation)
  })
})

describe('the statistics of a join', () => {
  const statistics = describeJob(tallies().pairs, new Map([[1, 18]]))

  test('count pairs by B-similarity, with their mean C-similarity and share of one site', () => {
    expect(statistics.pairs).toBe(9)
    expect(statistics.sameSite).toMatchObject({ value: 5 / 9, sampleSize: 9 })
    const [two] = statistics.bySupershingles
    expect(two).toMatchObject({
      bSimilarity: 2,
      share: { value: 4 / 9 },
      sameSite: { value: 3 / 4, sampleSize: 4 },
      meanAgreeingBits: { value: (320 + 350 + 356 + 360) / 4, sampleSize: 4 },
    })
  })

  test('cross C-similarity with B-similarity', () => {
    const row = statistics.byAgreeingBits.find(({ from }) => from === 340)
    expect(row).toMatchObject({
      meanSupershingles: { value: 4, sampleSize: 2 },
      pairsBySupershingles: [0, 0, 1, 0, 0, 0, 1],
    })
    expect(statistics.agreeingBits.map(({ cSimilarity }) => cSimilarity)).toEqual([
      320, 350, 354, 356, 360, 372, 375, 380, 384,
    ])
  })

  test('are plain data: JSON gives them back as they were', () => {
    expect(JSON.parse(JSON.stringify(statistics))).toEqual(statistics)
  })
})

test('an algorithm selects what its thresholds say, and site-aware looks at the site first', () => {
  const pair = (bSimilarity: number, cSimilarity: number, sameSite: boolean) => ({
    bSimilarity,
    cSimilarity,
    sameSite,
  })
  expect(selectionOf('combined')(pair(2, 355, false))).toBe(true)
  expect(selectionOf('combined')(pair(2, 354, false))).toBe(false)
  expect(selectionOf('site-aware')(pair(6, 371, false))).toBe(false)
  expect(selectionOf('site-aware')(pair(6, 371, true))).toBe(true)
  expect(selectionOf('site-aware')(pair(0, 372, false))).toBe(true)
})
