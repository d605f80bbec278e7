import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bSimilarity, cSimilarity } from '../../src/detect/similarity.ts'
import { fingerprintTerms, hashTokens } from '../../src/signature/fingerprint.ts'
import { sign } from '../../src/signature/sign.ts'
import { expandTerms, goldenCases } from '../golden/signatures.ts'

const sketch = fc.uint8Array({ minLength: 48, maxLength: 48 })
const signature = fc.record({ supershingles: sketch, simhash: sketch })

const bitsOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')

const compare = ({ a, b }: (typeof goldenCases.bc_exact)[number]['input']) => {
  const [tokensOfA, tokensOfB] = [fingerprintTerms(expandTerms(a)), fingerprintTerms(expandTerms(b))]
  const [ofA, ofB] = [sign(tokensOfA), sign(tokensOfB)]
  return {
    identical: Buffer.compare(hashTokens(tokensOfA), hashTokens(tokensOfB)) === 0,
    // A page without tokens has no signature, and hence nothing to agree in.
    B: ofA === null || ofB === null ? 0 : bSimilarity(ofA, ofB),
    C: ofA === null || ofB === null ? 0 : cSimilarity(ofA, ofB),
  }
}

describe('bSimilarity and cSimilarity', () => {
  test.each(goldenCases.bc_exact)('$id: exactly as stated', ({ input, expect: expected }) => {
    expect(compare(input)).toMatchObject(expected)
  })

  test.each(goldenCases.bc_range)('$id: in the range stated', ({ input, expect: expected }) => {
    const { B, C } = compare(input)
    expect(B).toBeGreaterThanOrEqual(expected.B[0])
    expect(B).toBeLessThanOrEqual(expected.B[1])
    expect(C).toBeGreaterThanOrEqual(expected.C[0])
    expect(C).toBeLessThanOrEqual(expected.C[1])
  })

  test('C-similarity counts the equal bits', () => {
    fc.assert(
      fc.property(signature, signature, (a, b) => {
        const bitsOfB = bitsOf(b.simhash)
        expect(cSimilarity(a, b)).toBe([...bitsOf(a.simhash)].filter((bit, i) => bit === bitsOfB[i]).length)
      }),
      { seed: 40, numRuns: 200 },
    )
  })

  test('B-similarity counts the positions at which all eight bytes are equal', () => {
    const flips = fc.uniqueArray(fc.nat(383), { maxLength: 12 })
    fc.assert(
      fc.property(signature, flips, (a, flipped) => {
        const supershingles = Uint8Array.from(a.supershingles)
        for (const bit of flipped)
          supershingles[bit >>> 3] = (supershingles[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
        const damaged = new Set(flipped.map((bit) => Math.floor(bit / 64)))
        expect(bSimilarity(a, { ...a, supershingles })).toBe(6 - damaged.size)
      }),
      { seed: 41, numRuns: 300 },
    )
  })

  test('the same supershingle at another position does not count', () => {
    const simhash = new Uint8Array(48)
    const supershingles = Uint8Array.from({ length: 48 }, (_, i) => Math.floor(i / 8))
    const moved = {
      simhash,
      supershingles: Uint8Array.from([...supershingles.slice(8), ...supershingles.slice(0, 8)]),
    }
    expect(bSimilarity({ simhash, supershingles }, moved)).toBe(0)
  })

  test('read sketches that lie anywhere in a buffer', () => {
    fc.assert(
      fc.property(signature, signature, fc.nat(7), (a, b, offset) => {
        const buffer = new Uint8Array(offset + 96)
        buffer.set(b.supershingles, offset)
        buffer.set(b.simhash, offset + 48)
        const inside = {
          supershingles: buffer.subarray(offset, offset + 48),
          simhash: buffer.subarray(offset + 48),
        }
        expect(cSimilarity(a, inside)).toBe(cSimilarity(a, b))
        expect(bSimilarity(b, inside)).toBe(6)
      }),
      { seed: 42, numRuns: 100 },
    )
  })

  test('are symmetric', () => {
    fc.assert(
      fc.property(signature, signature, (a, b) => {
        expect([bSimilarity(a, b), cSimilarity(a, b)]).toEqual([bSimilarity(b, a), cSimilarity(b, a)])
      }),
      { seed: 43, numRuns: 100 },
    )
  })
})
