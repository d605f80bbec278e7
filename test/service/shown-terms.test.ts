import { describe, expect, test } from 'vitest'
import { ShownTerms } from '../../src/service/shown-terms.ts'
import { openInMemory } from '../fixture/services.ts'

const page = (characters: string) => ({ url: null, content: { kind: 'text', characters } }) as const

describe('the terms that are shown', () => {
  test('are all of them up to 100,000, and none behind the first one left out', () => {
    const shown = new ShownTerms()
    expect(shown.take(Array.from({ length: 99_999 }, () => 'a'))).toHaveLength(99_999)
    expect(shown.take(['b'])).toEqual(['b'])
    expect(shown.isTruncated).toBe(false)
    expect(shown.take(['c', 'd'])).toEqual([])
    expect(shown.take([''])).toEqual([])
    expect(shown.isTruncated).toBe(true)
  })

  test('have together at most 1,048,576 characters', () => {
    const shown = new ShownTerms()
    expect(shown.take(['a', 'b'.repeat(1_048_575)])).toHaveLength(2)
    expect(shown.isTruncated).toBe(false)
    expect(shown.take(['c'])).toEqual([])
    expect(shown.isTruncated).toBe(true)
  })
})

describe('an answer about a page of many tokens', () => {
  test('shows the first of them, says so, and counts all', async () => {
    const { services, close } = await openInMemory()
    const analysis = await services.comparison.analyze(page('a '.repeat(250_000)))
    expect(analysis).toMatchObject({ truncated: true, tokenCount: 250_000 })
    expect(analysis.tokens).toHaveLength(100_000)
    const short = await services.comparison.analyze(page('a b'))
    expect([short.tokens, short.truncated]).toEqual([['a', 'b'], false])
    const { diff } = await services.comparison.ofPages(page('a '.repeat(80_000)), page('b '.repeat(80_000)))
    expect(diff?.truncated).toBe(true)
    const [hunk] = diff?.hunks ?? []
    expect([hunk?.aCount, hunk?.bCount]).toEqual([80_000, 80_000])
    expect([hunk?.removed.length, hunk?.inserted.length]).toEqual([80_000, 20_000])
    await close()
  })

  test('that has more than a page may have is refused', async () => {
    const { services, close } = await openInMemory()
    const tooMany = page('a '.repeat(4 * 2 ** 20 + 1))
    await expect(services.comparison.analyze(tooMany)).rejects.toMatchObject({ code: 'page_too_large' })
    const [stored] = await services.documents.store(
      [{ id: 'a', page: tooMany, fetchedAt: null, metadata: null }],
      null,
    )
    expect(stored).toMatchObject({ code: 'page_too_large' })
    await close()
  })
})
