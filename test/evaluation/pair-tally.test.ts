import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Label, labels } from '../../src/evaluation/label.ts'
import { PairTally, type Selection, type SketchedPair } from '../../src/evaluation/pair-tally.ts'
import { SimilarityTally } from '../../src/evaluation/similarity-tally.ts'

const seed = 11
const label = fc.constantFrom(...labels, null)
const pairs = fc.array(
  fc.record({
    bSimilarity: fc.integer({ min: 0, max: 6 }),
    cSimilarity: fc.integer({ min: 0, max: 384 }),
    sameSite: fc.boolean(),
    label,
  }),
)

const countOneByOne = (list: readonly { label: Label | null }[]) => ({
  correct: list.filter((one) => one.label === 'correct').length,
  incorrect: list.filter((one) => one.label === 'incorrect').length,
  undecided: list.filter((one) => one.label === 'undecided').length,
  unjudged: list.filter((one) => one.label === null).length,
})

describe('a tally of pairs', () => {
  test('counts each selection as going through the pairs one by one does', () => {
    fc.assert(
      fc.property(pairs, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 384 }), (list, b, c) => {
        const tally = new PairTally()
        for (const pair of list) tally.add(pair, pair.label)
        const selections: Selection[] = [
          () => true,
          (pair) => pair.sameSite && pair.bSimilarity >= b,
          (pair) => !pair.sameSite && pair.cSimilarity >= c,
        ]
        for (const selection of selections)
          expect(tally.count(selection)).toEqual(countOneByOne(list.filter(selection)))
      }),
      { seed },
    )
  })

  test('gives each cell that holds a pair once', () => {
    const tally = new PairTally()
    const pair: SketchedPair = { bSimilarity: 6, cSimilarity: 384, sameSite: true }
    const other: SketchedPair = { bSimilarity: 0, cSimilarity: 0, sameSite: false }
    tally.add(pair, 'correct')
    tally.add(pair, 'correct')
    tally.add(pair, null)
    tally.add(other, 'undecided')
    expect([...tally]).toEqual([
      { pair: other, counts: { correct: 0, incorrect: 0, undecided: 1, unjudged: 0 } },
      { pair, counts: { correct: 2, incorrect: 0, undecided: 0, unjudged: 1 } },
    ])
  })

  test('refuses what is no similarity', () => {
    const tally = new PairTally()
    for (const changes of [{ bSimilarity: 7 }, { cSimilarity: 385 }, { bSimilarity: Number.NaN }])
      expect(() => tally.add({ bSimilarity: 1, cSimilarity: 1, sameSite: true, ...changes }, null)).toThrow(
        RangeError,
      )
  })
})

describe('a tally of similarities', () => {
  test('puts every multiple of 0.01 into its own step, whatever its binary fraction is', () => {
    for (let step = 0; step <= 100; step++) {
      const tally = new SimilarityTally()
      tally.add(Number((step / 100).toFixed(2)), false, 'correct')
      expect(tally.count(step, step + 1).correct, `${step}`).toBe(1)
    }
  })

  test('counts from a threshold up as going through the pairs one by one does', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            similarity: fc.double({ min: 0, max: 1, noNaN: true }),
            sameSite: fc.boolean(),
            label,
          }),
        ),
        fc.integer({ min: 0, max: 100 }),
        (list, threshold) => {
          const tally = new SimilarityTally()
          for (const one of list) tally.add(one.similarity, one.sameSite, one.label)
          const above = list.filter((one) => one.similarity >= threshold / 100 - 1e-11)
          expect(tally.count(threshold, 101)).toEqual(countOneByOne(above))
          expect(tally.count(threshold, 101, true)).toEqual(
            countOneByOne(above.filter((one) => one.sameSite)),
          )
        },
      ),
      { seed },
    )
  })
})
