import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bandValues } from '../../src/detect/band.ts'
import { bSimilarity, cSimilarity } from '../../src/detect/similarity.ts'
import {
  acceptanceAt,
  acceptanceSize,
  joinSketches,
  type SketchJoinOptions,
  sketchTableOf,
} from '../../src/detect/sketch-join.ts'
import type { Signature } from '../../src/signature/signature.ts'

const seed = 20_060_806

/** Signatures of which many share supershingles and bands: few values at each position, and few bits that are flipped. */
const signature = fc
  .record({
    supershingles: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 6, maxLength: 6 }),
    base: fc.integer({ min: 0, max: 2 }),
    flipped: fc.uniqueArray(fc.integer({ min: 0, max: 383 }), { maxLength: 40 }),
  })
  .map(({ supershingles, base, flipped }): Signature => {
    const simhash = new Uint8Array(48).fill([0x00, 0xff, 0x5a][base] ?? 0)
    for (const bit of flipped) simhash[bit >>> 3] = (simhash[bit >>> 3] ?? 0) ^ (0x80 >>> (bit & 7))
    const bytes = new Uint8Array(48)
    for (const [position, value] of supershingles.entries())
      bytes[8 * position + (value === 2 ? 7 : 0)] = value
    return { supershingles: bytes, simhash }
  })

const joined = (signatures: readonly Signature[], options: SketchJoinOptions): number[][] => {
  const pairs: number[][] = []
  joinSketches(sketchTableOf(signatures), options, (...pair) => pairs.push(pair))
  return pairs
}

const bruteForce = (signatures: readonly Signature[], options: SketchJoinOptions): number[][] => {
  const pairs: number[][] = []
  for (const [a, of] of signatures.entries())
    for (const [b, other] of signatures.entries()) {
      if (b <= a) continue
      const [bSim, cSim] = [bSimilarity(of, other), cSimilarity(of, other)]
      const bands = bandValues(other.simhash)
      const isCandidate =
        (options.minSupershingles !== null && bSim >= options.minSupershingles) ||
        (options.bands && bandValues(of.simhash).some((value, band) => value === bands[band]))
      if (isCandidate && options.acceptance[acceptanceAt(bSim, cSim)] !== 0) pairs.push([a, b, bSim, cSim])
    }
  return pairs
}

const byPages = (p: readonly number[], q: readonly number[]): number =>
  (p[0] ?? 0) - (q[0] ?? 0) || (p[1] ?? 0) - (q[1] ?? 0)

/** Accepts from these similarities on; `either`: where one of them is enough. */
const acceptance = (leastB: number, leastC: number, either: boolean): Uint8Array => {
  const table = new Uint8Array(acceptanceSize)
  for (let b = 0; b <= 6; b++)
    for (let c = 0; c <= 384; c++)
      if (either ? b >= leastB || c >= leastC : b >= leastB && c >= leastC) table[acceptanceAt(b, c)] = 1
  return table
}

describe('the join of sketches', () => {
  test('gives every candidate pair that is accepted exactly once, with its similarities', () => {
    fc.assert(
      fc.property(
        fc.array(signature, { maxLength: 40 }),
        fc.option(fc.integer({ min: 1, max: 6 })),
        fc.boolean(),
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 330, max: 384 }),
        fc.boolean(),
        (signatures, minSupershingles, bands, leastB, leastC, either) => {
          const options = { minSupershingles, bands, acceptance: acceptance(leastB, leastC, either) }
          expect(joined(signatures, options).sort(byPages)).toEqual(bruteForce(signatures, options))
        },
      ),
      { seed, numRuns: 300 },
    )
  })

  test('finds pairs, so that the comparison with brute force is not one of nothing with nothing', () => {
    const signatures = fc.sample(signature, { seed, numRuns: 60 })
    const all = { acceptance: acceptance(0, 0, true) }
    expect(joined(signatures, { ...all, minSupershingles: 2, bands: false }).length).toBeGreaterThan(100)
    expect(joined(signatures, { ...all, minSupershingles: null, bands: true }).length).toBeGreaterThan(100)
  })

  test('reports steps that never decrease and end with all of them', () => {
    const signatures = fc.sample(signature, { seed, numRuns: 3000 })
    const reports: (readonly [number, number])[] = []
    joinSketches(
      sketchTableOf(signatures),
      { minSupershingles: null, bands: true, acceptance: acceptance(6, 384, false) },
      () => undefined,
      (...report) => reports.push(report),
    )
    expect(reports.length).toBeGreaterThan(5)
    expect(reports.map(([done]) => done)).toEqual(reports.map(([done]) => done).sort((a, b) => a - b))
    expect(reports.at(-1)).toEqual([39_000, 39_000])
  })
})
