import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { algorithms, decide, decidingSimilarity, defaultThresholds } from '../../src/detect/decide.ts'
import { goldenCases } from '../golden/signatures.ts'

const evidence = fc.record({
  bSimilarity: fc.integer({ min: 0, max: 6 }),
  cSimilarity: fc.integer({ min: 0, max: 384 }),
  sameSite: fc.boolean(),
  identical: fc.constant(false),
})
const thresholds = fc.record({
  minSupershingles: fc.integer({ min: 1, max: 6 }),
  minAgreeingBits: fc.integer({ min: 0, max: 384 }),
  combinedMinAgreeingBits: fc.integer({ min: 0, max: 384 }),
})
const algorithm = fc.constantFrom(...algorithms)

describe('decide', () => {
  test.each(goldenCases.decide)(
    '$id: B = $input.B, C = $input.C, same site $input.sameSite',
    ({ input, expect: expected }) => {
      const pair = { bSimilarity: input.B, cSimilarity: input.C, sameSite: input.sameSite, identical: false }
      expect({
        B: decide('shingling', pair, defaultThresholds),
        C: decide('simhash', pair, defaultThresholds),
        combined: decide('combined', pair, defaultThresholds),
        siteAware: decide('site-aware', pair, defaultThresholds),
      }).toEqual(expected)
    },
  )

  test('every threshold is the least value that passes', () => {
    fc.assert(
      fc.property(evidence, thresholds, (pair, least) => {
        const isB = pair.bSimilarity >= least.minSupershingles
        const isC = pair.cSimilarity >= least.minAgreeingBits
        const isCombined = isB && pair.cSimilarity >= least.combinedMinAgreeingBits
        expect(algorithms.map((name) => decide(name, pair, least))).toEqual([
          isB,
          isC,
          isCombined,
          pair.sameSite ? isCombined : isC,
          false,
        ])
      }),
      { seed: 44, numRuns: 1000 },
    )
  })

  test('identical pages are near-duplicates under every algorithm and all thresholds', () => {
    fc.assert(
      fc.property(algorithm, evidence, thresholds, (name, pair, least) => {
        expect(decide(name, { ...pair, identical: true }, least)).toBe(true)
      }),
      { seed: 45, numRuns: 300 },
    )
  })

  test('more agreement never turns a near-duplicate into none', () => {
    fc.assert(
      fc.property(algorithm, evidence, evidence, thresholds, (name, a, b, least) => {
        const more = {
          ...a,
          bSimilarity: Math.max(a.bSimilarity, b.bSimilarity),
          cSimilarity: Math.max(a.cSimilarity, b.cSimilarity),
        }
        expect(decide(name, a, least) && !decide(name, more, least)).toBe(false)
      }),
      { seed: 46, numRuns: 500 },
    )
  })
})

describe('decidingSimilarity', () => {
  const pair = { bSimilarity: 3, cSimilarity: 288, sameSite: true, identical: false }

  test.each([
    ['shingling', pair, 0.5],
    ['simhash', pair, 0.75],
    ['combined', pair, 0.5],
    ['site-aware', pair, 0.5],
    ['site-aware', { ...pair, sameSite: false }, 0.75],
    ['identical', pair, 0],
  ] as const)('of %s for %o is %d', (name, evidenceOfPair, similarity) => {
    expect(decidingSimilarity(name, evidenceOfPair)).toBe(similarity)
  })

  test.each(algorithms)('of identical pages is 1 under %s', (name) => {
    expect(decidingSimilarity(name, { ...pair, identical: true })).toBe(1)
  })
})
