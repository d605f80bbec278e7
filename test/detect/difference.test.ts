import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffHunks, type Hunk, termDifference } from '../../src/detect/difference.ts'
import { expandTerms, goldenCases } from '../golden/signatures.ts'
import { createRandom } from '../signature/statistics.ts'

/** Length of a shortest script of removals and insertions, from the longest common subsequence. */
const shortestScript = (a: readonly string[], b: readonly string[]): number => {
  let previous = new Array<number>(b.length + 1).fill(0)
  for (const term of a) {
    const row = [0]
    b.forEach((other, j) => {
      row.push(term === other ? (previous[j] ?? 0) + 1 : Math.max(previous[j + 1] ?? 0, row[j] ?? 0))
    })
    previous = row
  }
  return a.length + b.length - 2 * (previous[b.length] ?? 0)
}

/** What the hunks make of `a`; throws where they do not describe it. */
const apply = (a: readonly string[], hunks: readonly Hunk[]): string[] => {
  const result: string[] = []
  let from = 0
  for (const { aStart, aCount, bStart, bCount, removed, inserted } of hunks) {
    result.push(...a.slice(from, aStart))
    expect(removed).toEqual(a.slice(aStart, aStart + aCount))
    expect(bStart).toBe(result.length)
    expect(inserted).toHaveLength(bCount)
    result.push(...inserted)
    from = aStart + aCount
  }
  return [...result, ...a.slice(from)]
}

const editsOf = (hunks: readonly Hunk[]): number =>
  hunks.reduce((sum, { aCount, bCount }) => sum + aCount + bCount, 0)

const words = (letters: string, maxLength: number) =>
  fc.array(fc.constantFrom(...letters), { maxLength, size: 'max' })

const randomWords = (seed: number, count: number, vocabulary: number): string[] => {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => `w${random() % vocabulary}`)
}

describe('termDifference', () => {
  test.each(goldenCases.term_difference)('$id: exactly as stated', ({ input, expect: expected }) => {
    expect(termDifference(expandTerms(input.a), expandTerms(input.b))).toEqual({
      count: expected,
      exact: true,
    })
  })

  test.each(['ab', 'abc', 'abcdefgh'])('is the length of a shortest script over the terms %s', (letters) => {
    fc.assert(
      fc.property(words(letters, 40), words(letters, 40), (a, b) => {
        expect(termDifference(a, b)).toEqual({ count: shortestScript(a, b), exact: true })
      }),
      { seed: 64, numRuns: 400 },
    )
  })

  test('is exact for a long page with scattered edits', () => {
    const a = randomWords(65, 3000, 500)
    const b = a.flatMap((term, i) => (i % 100 === 7 ? [] : i % 90 === 3 ? [term, 'new'] : [term]))
    expect(termDifference(a, b)).toEqual({ count: shortestScript(a, b), exact: true })
  })

  test('is exact up to the limit of edits, and beyond it an upper bound that says so', () => {
    fc.assert(
      fc.property(words('abcd', 30), words('abcd', 30), fc.nat(40), (a, b, mostEdits) => {
        const shortest = shortestScript(a, b)
        const { count, exact } = termDifference(a, b, { mostEdits })
        expect(count).toBeGreaterThanOrEqual(shortest)
        if (shortest <= mostEdits) expect(exact).toBe(true)
        if (exact) expect(count).toBe(shortest)
      }),
      { seed: 66, numRuns: 600 },
    )
  })

  test('of unrelated pages beyond the limit counts all tokens', () => {
    const [a, b] = [randomWords(73, 60, 1e6), randomWords(74, 50, 1e6)]
    expect(termDifference(a, b, { mostEdits: 110 })).toEqual({ count: 110, exact: true })
    expect(termDifference(a, b, { mostEdits: 108 })).toEqual({ count: 110, exact: false })
  })

  test('is an upper bound that says so where the limit of steps is met', () => {
    fc.assert(
      fc.property(words('ab', 40), words('ab', 40), fc.nat(200), (a, b, mostSteps) => {
        const { count, exact } = termDifference(a, b, { mostSteps })
        expect(count).toBeGreaterThanOrEqual(shortestScript(a, b))
        if (exact) expect(count).toBe(shortestScript(a, b))
      }),
      { seed: 67, numRuns: 600 },
    )
    const [a, b] = [randomWords(68, 500, 3), randomWords(69, 500, 3)]
    expect(termDifference(a, b, { mostSteps: 100 })).toMatchObject({ exact: false })
  })

  test('gives up on pages that would keep it busy for hours', () => {
    // Few distinct terms and long pages: every diagonal is long and there are many of them.
    const a = randomWords(70, 1_000_000, 2)
    const b = randomWords(71, 1_000_000, 2)
    expect(termDifference(a, b).exact).toBe(false)
  })
})

describe('diffHunks', () => {
  test('turn one page into the other, are as few edits as the term difference, and never touch', () => {
    fc.assert(
      fc.property(words('abc', 40), words('abc', 40), fc.nat(30), (a, b, mostEdits) => {
        const { hunks } = diffHunks(a, b, { mostEdits })
        expect(apply(a, hunks)).toEqual(b)
        expect(editsOf(hunks)).toBe(termDifference(a, b, { mostEdits }).count)
        hunks.forEach((hunk, i) => {
          expect(hunk.aCount + hunk.bCount).toBeGreaterThan(0)
          const before = hunks[i - 1]
          if (before !== undefined) expect(hunk.aStart).toBeGreaterThan(before.aStart + before.aCount)
        })
      }),
      { seed: 72, numRuns: 500 },
    )
  })

  test('give the example of a replaced and two inserted tokens', () => {
    expect(diffHunks(['a', 'b', 'c', 'd'], ['a', 'X', 'c', 'Y', 'Z', 'd']).hunks).toEqual([
      { aStart: 1, aCount: 1, bStart: 1, bCount: 1, removed: ['b'], inserted: ['X'] },
      { aStart: 3, aCount: 0, bStart: 3, bCount: 2, removed: [], inserted: ['Y', 'Z'] },
    ])
  })

  test('of a page with itself are none', () => {
    expect(diffHunks(['a', 'b'], ['a', 'b'])).toEqual({ hunks: [], exact: true })
    expect(diffHunks([], [])).toEqual({ hunks: [], exact: true })
  })

  test('take terms named like properties of objects for what they are', () => {
    expect(termDifference(['__proto__', 'constructor'], ['constructor', 'toString'])).toEqual({
      count: 2,
      exact: true,
    })
  })
})
