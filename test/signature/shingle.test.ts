import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprintTerms } from '../../src/signature/fingerprint.ts'
import { type ShingleFingerprints, shingleSet, shingles } from '../../src/signature/shingle.ts'
import { expandTerms, goldenCases } from '../golden/signatures.ts'
import { fingerprint, shinglesOf } from './oracle.ts'
import { createRandom, randomTokens } from './statistics.ts'

const valuesOf = ({ low, high }: ShingleFingerprints): bigint[] =>
  Array.from(low, (value, i) => (BigInt(high[i] ?? 0) << 32n) | BigInt(value))

const termsAndSize = fc.tuple(
  fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 }),
  fc.integer({ min: 1, max: 10 }),
)

describe('shingles', () => {
  test.each(goldenCases.shingles)('$id: as many as stated', ({ input, expect: expected }) => {
    const values = valuesOf(shingles(fingerprintTerms(expandTerms(input.tokens)), input.k))
    expect({ count: values.length, distinct: new Set(values).size }).toEqual(expected)
  })

  test('equal their definition', () => {
    fc.assert(
      fc.property(termsAndSize, ([terms, k]) => {
        expect(valuesOf(shingles(fingerprintTerms(terms), k))).toEqual(shinglesOf(terms.map(fingerprint), k))
      }),
      { seed: 6, numRuns: 100 },
    )
  })

  test('are equal exactly where the windows are equal', () => {
    fc.assert(
      fc.property(termsAndSize, ([terms, k]) => {
        const values = valuesOf(shingles(fingerprintTerms(terms), k))
        const windows = values.map((_, i) => terms.slice(i, i + k).join(' '))
        windows.forEach((window, i) => {
          expect(values.indexOf(values[i] ?? -1n)).toBe(windows.indexOf(window))
        })
      }),
      { seed: 7, numRuns: 200 },
    )
  })

  test('no token gives none', () => {
    expect(valuesOf(shingles(fingerprintTerms([]), 8))).toEqual([])
  })

  test('fewer than k tokens give one, whatever k is', () => {
    const seven = fingerprintTerms(expandTerms([{ range: ['t', 0, 7] }]))
    expect(valuesOf(shingles(seven, 8))).toHaveLength(1)
    expect(valuesOf(shingles(seven, 8))).toEqual(valuesOf(shingles(seven, 50)))
  })

  test('a short page is no shingle of any other length, nor its own beginning', () => {
    const lists = [1, 2, 3, 7, 8].map((n) => expandTerms([{ repeat: [['a'], n] }]))
    const values = lists.flatMap((terms) => valuesOf(shingles(fingerprintTerms(terms), 8)))
    expect(new Set(values).size).toBe(5)
  })

  test('every bit of every token of a window changes every bit of its shingle half the time', () => {
    const [trials, k] = [500, 8]
    const random = createRandom(8)
    const changes = new Int32Array(k * 64 * 64)
    for (let trial = 0; trial < trials; trial++) {
      const tokens = randomTokens(random, k)
      const { low, high } = shingles(tokens, k)
      for (let input = 0; input < k * 64; input++) {
        const lane = input % 64 < 32 ? tokens.low : tokens.high
        const position = Math.floor(input / 64)
        const bit = 1 << (input % 32)
        lane[position] = (lane[position] ?? 0) ^ bit
        const flipped = shingles(tokens, k)
        lane[position] = (lane[position] ?? 0) ^ bit
        for (let output = 0; output < 64; output++) {
          const [before, after] = output < 32 ? [low, flipped.low] : [high, flipped.high]
          changes[64 * input + output] =
            (changes[64 * input + output] ?? 0) +
            ((((before[0] ?? 0) ^ (after[0] ?? 0)) >>> (output % 32)) & 1)
        }
      }
    }
    const farthest = changes.reduce((worst, count) => Math.max(worst, Math.abs(count - trials / 2)), 0)
    // Hoeffding: one cell exceeds this with probability below 1.2e-11, any of the 32,768 with 4e-7.
    expect(farthest).toBeLessThan(7.2 * Math.sqrt(trials / 4))
  })
})

describe('shingleSet', () => {
  test('holds the low 53 bits of the distinct shingles in increasing order', () => {
    fc.assert(
      fc.property(termsAndSize, ([terms, k]) => {
        const distinct = new Set(
          shinglesOf(terms.map(fingerprint), k).map((value) => value & (2n ** 53n - 1n)),
        )
        const sorted = [...distinct].map(Number).sort((x, y) => x - y)
        expect([...shingleSet(fingerprintTerms(terms), k)]).toEqual(sorted)
      }),
      { seed: 9, numRuns: 100 },
    )
  })
})
