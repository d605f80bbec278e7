import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { containment, cosine, jaccard, resemblance } from '../../src/detect/resemblance.ts'
import { fingerprintTerms } from '../../src/signature/fingerprint.ts'
import { shingleSet } from '../../src/signature/shingle.ts'
import { expandTerms, goldenCases, type TermList } from '../golden/signatures.ts'

const setOf = (list: TermList, k: number): Float64Array => shingleSet(fingerprintTerms(expandTerms(list)), k)

const sortedSet = fc
  .uniqueArray(fc.nat(30), { maxLength: 20 })
  .map((values) => Float64Array.from(values.sort((x, y) => x - y)))
const bag = fc.array(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), { maxLength: 12 })

describe('resemblance', () => {
  test.each(goldenCases.resemblance)(
    '$id: the fraction stated',
    ({ input, expect: [numerator, denominator] }) => {
      const { intersection, union, value } = resemblance(setOf(input.a, input.k), setOf(input.b, input.k))
      expect(value).toBe(numerator / denominator)
      expect(intersection * denominator).toBe(union * numerator)
    },
  )

  test('counts what is in both sets and in either', () => {
    fc.assert(
      fc.property(sortedSet, sortedSet, (a, b) => {
        const both = [...a].filter((value) => b.includes(value)).length
        const either = new Set([...a, ...b]).size
        expect(resemblance(a, b)).toEqual({
          intersection: both,
          union: either,
          value: either === 0 ? 0 : both / either,
        })
        expect(containment(a, b)).toBe(a.length === 0 ? 0 : both / a.length)
      }),
      { seed: 60, numRuns: 500 },
    )
  })
})

/** Every occurrence of a term as an element of its own. */
const numbered = (terms: readonly string[]): Set<string> =>
  new Set(terms.map((term, i) => `${term} ${terms.slice(0, i).filter((other) => other === term).length}`))

describe('jaccard', () => {
  test('is that of the numbered occurrences', () => {
    fc.assert(
      fc.property(bag, bag, (a, b) => {
        const [ofA, ofB] = [numbered(a), numbered(b)]
        const either = new Set([...ofA, ...ofB]).size
        const both = ofA.size + ofB.size - either
        expect(jaccard(a, b)).toBe(either === 0 ? 0 : both / either)
      }),
      { seed: 61, numRuns: 500 },
    )
  })
})

describe('cosine', () => {
  test.each(goldenCases.cosine)('$id: exactly as stated', ({ input, expect: expected }) => {
    expect(cosine(expandTerms(input.a), expandTerms(input.b))).toBe(expected)
  })

  test('is that of the vectors of counts', () => {
    fc.assert(
      fc.property(bag, bag, (a, b) => {
        const terms = [...new Set([...a, ...b])]
        const [x, y] = [a, b].map((page) =>
          terms.map((term) => page.filter((other) => other === term).length),
        )
        const dot = (u: number[] = [], v: number[] = []) =>
          u.reduce((sum, ui, i) => sum + ui * (v[i] ?? 0), 0)
        const lengths = Math.hypot(...(x ?? [])) * Math.hypot(...(y ?? []))
        expect(cosine(a, b)).toBeCloseTo(lengths === 0 ? 0 : dot(x, y) / lengths, 12)
      }),
      { seed: 62, numRuns: 500 },
    )
  })

  test('of a bag with itself, or with any multiple of itself, is exactly 1', () => {
    fc.assert(
      fc.property(bag, (a) => {
        fc.pre(a.length > 0)
        expect(cosine(a, a)).toBe(1)
        expect(cosine(a, [...a, ...a, ...a])).toBe(1)
      }),
      { seed: 63, numRuns: 200 },
    )
  })
})
