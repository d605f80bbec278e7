import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bSimilarity } from '../../src/detect/similarity.ts'
import { sign } from '../../src/signature/sign.ts'
import { supershingles } from '../../src/signature/supershingle.ts'
import { supershinglesOf } from './oracle.ts'
import {
  binomialProbabilities,
  concatenate,
  createRandom,
  mostStandardDeviations,
  randomTokens,
  zOfChiSquare,
} from './statistics.ts'

describe('supershingles', () => {
  test('equal their definition', () => {
    const eightyFour = fc.array(fc.integer({ min: 0, max: 0xffffffff }), { minLength: 84, maxLength: 84 })
    fc.assert(
      fc.property(eightyFour, (values) => {
        const digits = Buffer.from(supershingles(Uint32Array.from(values))).toString('hex')
        expect(digits).toBe(supershinglesOf(values.map(BigInt)).join(''))
      }),
      { seed: 14, numRuns: 50 },
    )
  })

  test('the same minvalues at another position give another supershingle', () => {
    const digits = Buffer.from(supershingles(new Uint32Array(84).fill(7))).toString('hex')
    expect(new Set(digits.match(/.{16}/g)).size).toBe(6)
  })

  // A common run of tokens and an end of their own: `shared` common shingles and `own` more in each.
  test.each([
    { shared: 80, own: 10, r: 0.8 },
    { shared: 56, own: 4, r: 0.875 },
    { shared: 90, own: 5, r: 0.9 },
    { shared: 76, own: 2, r: 0.95 },
    { shared: 98, own: 1, r: 0.98 },
    { shared: 900, own: 50, r: 0.9 },
  ])(
    'B-similarity is distributed as Binomial(6, r^14) for $shared + $own shingles, r = $r',
    ({ shared, own, r }) => {
      expect(shared / (shared + 2 * own)).toBeCloseTo(r, 12)
      const random = createRandom(1000 * shared + own)
      const counts = new Array<number>(7).fill(0)
      const pairs = shared < 500 ? 4000 : 1000
      for (let pair = 0; pair < pairs; pair++) {
        const common = randomTokens(random, shared + 7)
        const a = sign(concatenate(common, randomTokens(random, own)))
        const b = sign(concatenate(common, randomTokens(random, own)))
        if (a === null || b === null) throw new Error('a page with tokens has a signature')
        const agreeing = bSimilarity(a, b)
        counts[agreeing] = (counts[agreeing] ?? 0) + 1
      }
      expect(zOfChiSquare(counts, binomialProbabilities(6, r ** 14))).toBeLessThan(mostStandardDeviations)
    },
  )
})
