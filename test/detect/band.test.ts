import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bandCount, bandRecall, bandValues } from '../../src/detect/band.ts'
import { cSimilarity } from '../../src/detect/similarity.ts'
import { goldenCases } from '../golden/signatures.ts'
import { createRandom } from '../signature/statistics.ts'

const widths = Array.from(
  { length: 13 },
  (_, i) => Math.floor((384 * (i + 1)) / 13) - Math.floor((384 * i) / 13),
)

const simhashOf = (ones: readonly number[]): Uint8Array => {
  const simhash = new Uint8Array(48)
  for (const bit of ones) simhash[bit >>> 3] = (simhash[bit >>> 3] ?? 0) | (0x80 >>> (bit & 7))
  return simhash
}

const flip = (simhash: Uint8Array, bits: readonly number[]): Uint8Array => {
  const mask = simhashOf(bits)
  return simhash.map((byte, i) => byte ^ (mask[i] ?? 0))
}

const sharedBands = (a: Uint8Array, b: Uint8Array): number => {
  const bandsOfB = bandValues(b)
  return bandValues(a).filter((value, band) => value === bandsOfB[band]).length
}

const agreeingBits = (a: Uint8Array, b: Uint8Array): number =>
  cSimilarity({ supershingles: a, simhash: a }, { supershingles: b, simhash: b })

const simhash = fc.uint8Array({ minLength: 48, maxLength: 48 })

describe('bandValues', () => {
  test('cut the 384 bits into 13 pieces, in order, none left out', () => {
    fc.assert(
      fc.property(simhash, (bytes) => {
        const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
        const pieces = Array.from(bandValues(bytes), (value, band) =>
          value.toString(2).padStart(widths[band] ?? 0, '0'),
        )
        expect(pieces.join('')).toBe(bits)
      }),
      { seed: 47, numRuns: 200 },
    )
  })

  test('any 12 differing bits or fewer leave a band intact', () => {
    // Half of the choices put the bits where they hurt most: each into a band of its own.
    const anywhere = fc.uniqueArray(fc.nat(383), { maxLength: 12 })
    const spread = fc
      .tuple(
        fc.shuffledSubarray([...Array(13).keys()], { maxLength: 12 }),
        fc.array(fc.nat(28), { minLength: 13, maxLength: 13 }),
      )
      .map(([bands, offsets]) => bands.map((band) => Math.floor((384 * band) / 13) + (offsets[band] ?? 0)))
    fc.assert(
      fc.property(simhash, fc.oneof(anywhere, spread), (bytes, bits) => {
        expect(sharedBands(bytes, flip(bytes, bits))).toBeGreaterThan(0)
      }),
      { seed: 48, numRuns: 1000 },
    )
  })

  test('13 differing bits can leave none intact', () => {
    const firsts = Array.from({ length: 13 }, (_, band) => Math.floor((384 * band) / 13))
    expect(sharedBands(simhashOf([]), simhashOf(firsts))).toBe(0)
  })

  test.each(goldenCases.bands)(
    '$id: pairs that share a band and agree in 384 - $input.d bits',
    ({ input, expect: expected }) => {
      const vectors = Object.entries(input.vectors).map(([name, ones]) => ({
        name,
        simhash: simhashOf(ones),
      }))
      const found = vectors.flatMap((a, i) =>
        vectors
          .slice(i + 1)
          .map((b) => [a, b] as const)
          .filter(([one, other]) => sharedBands(one.simhash, other.simhash) > 0)
          .map(([one, other]) => [one.name, other.name, agreeingBits(one.simhash, other.simhash)] as const)
          .filter(([, , agreeing]) => agreeing >= 384 - input.d),
      )
      expect(found).toEqual(expected)
    },
  )
})

/** C(n, k), exactly. */
const choose = (n: number, k: number): bigint => {
  let result = 1n
  for (let i = 0; i < k; i++) result = (result * BigInt(n - i)) / BigInt(i + 1)
  return k > n ? 0n : result
}

/** Ways to damage all bands with d bits, by inclusion and exclusion over the bands left intact. */
const waysToDamageAll = (d: number): bigint => {
  const wide = widths.filter((width) => width === 30).length
  let ways = 0n
  for (let i = 0; i <= wide; i++) {
    for (let j = 0; j <= 13 - wide; j++) {
      const term = choose(wide, i) * choose(13 - wide, j) * choose(384 - 30 * i - 29 * j, d)
      ways += (i + j) % 2 === 0 ? term : -term
    }
  }
  return ways
}

describe('bandRecall', () => {
  test('is exactly 1 for 372 agreeing bits and more', () => {
    for (let agreeing = 372; agreeing <= 384; agreeing++) expect(bandRecall(agreeing)).toBe(1)
    expect(bandRecall(371)).toBeLessThan(1)
  })

  test('equals inclusion and exclusion over the bands for every number of bits', () => {
    for (let d = 0; d <= 384; d++) {
      const missed = Number((waysToDamageAll(d) * 10n ** 18n) / choose(384, d)) / 1e18
      expect(bandRecall(384 - d)).toBeCloseTo(1 - missed, 12)
    }
  })

  test.each([14, 20, 29, 40])('is the share found of simulated pairs that differ in %i bits', (d) => {
    const random = createRandom(49 + d)
    const trials = 4000
    let found = 0
    for (let trial = 0; trial < trials; trial++) {
      const bits = new Set<number>()
      while (bits.size < d) bits.add(random() % 384)
      if (sharedBands(simhashOf([]), simhashOf([...bits])) > 0) found++
    }
    const recall = bandRecall(384 - d)
    // Chernoff: a correct recall fails with probability below 1e-6.
    expect(Math.abs(found - trials * recall)).toBeLessThan(
      5.5 * Math.sqrt(trials * recall * (1 - recall)) + 10,
    )
  })

  test('there are 13 bands', () => {
    expect(bandValues(simhashOf([]))).toHaveLength(bandCount)
    expect(bandCount).toBe(13)
  })
})
