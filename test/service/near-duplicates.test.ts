import { afterEach, describe, expect, test } from 'vitest'
import { analyze } from '../../src/analysis/analyze.ts'
import type { RunningServices } from '../../src/compose.ts'
import { algorithms } from '../../src/detect/decide.ts'
import { shingleSet } from '../../src/signature/shingle.ts'
import { editWords, randomWords, seededRandom } from '../fixture/pages.ts'
import {
  allViews,
  bruteForce,
  openInMemory,
  options,
  storeAll,
  textInput,
  walk,
} from '../fixture/services.ts'

let running: RunningServices
afterEach(() => running.close())

const idsOf = (pages: readonly { duplicates: readonly { id: string }[] }[]): string[] =>
  pages.flatMap((page) => page.duplicates.map((one) => one.id))

/** Families of pages: an original and copies with 0 to 12 edits, over two sites and pages without a URL. */
const families = (seed: number, count: number) => {
  const random = seededRandom(seed)
  const inputs = []
  for (let family = 0; family < count; family++) {
    const words = randomWords(random, 150 + Math.floor(random() * 600))
    for (let copy = 0; copy < 6; copy++) {
      const edits = copy === 0 ? 0 : Math.floor(random() * 13)
      const edited = editWords(random, words, edits, random() < 0.5 ? 'block' : 'scattered')
      const host = ['www.one.example', 'two.example', null][Math.floor(random() * 3)]
      const id = `f${family}-${copy}`
      inputs.push(textInput(id, edited.join(' '), host ? `https://${host}/${id}` : null))
    }
  }
  return inputs
}

describe('near-duplicates of stored documents', () => {
  test.each([1, 2, 3])(
    'equal brute force over the signatures for every algorithm (seed %i)',
    async (seed) => {
      running = await openInMemory()
      await storeAll(running, families(seed, 25))
      const views = await allViews(running)
      let pairs = 0
      for (const view of views)
        for (const algorithm of algorithms) {
          const expected = bruteForce(views, view, algorithm)
          pairs += expected.length
          const inOrder = idsOf(
            await walk(running, view.id, options({ algorithm, minResemblance: 0, order: 'id', limit: 3 })),
          )
          expect(inOrder.toSorted(), `${algorithm} of ${view.id}, walked`).toEqual(expected)
          const bestFirst = await walk(running, view.id, options({ algorithm, minResemblance: 0, limit: 2 }))
          expect(idsOf(bestFirst).toSorted(), `${algorithm} of ${view.id}, best first`).toEqual(expected)
          expect(bestFirst.every((page) => page.complete && page.recall === 1)).toBe(true)
          const similarities = bestFirst.flatMap((page) => page.duplicates.map((one) => one.similarity))
          expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
        }
      expect(pairs).toBeGreaterThan(500)
    },
  )

  test('carry the true Jaccard coefficient of their shingle sets, and minResemblance drops lower pairs', async () => {
    running = await openInMemory()
    const inputs = families(4, 8)
    await storeAll(running, inputs)
    const shinglesOf = new Map(
      inputs.map((input) => {
        const { tokens } = analyze(input.page, { tokenizer: 'practical', siteRule: 'public-suffix' })
        return [input.id ?? '', new Set(shingleSet(tokens, 8))]
      }),
    )
    let compared = 0
    for (const [id, own] of shinglesOf) {
      const query = options({
        algorithm: 'shingling',
        thresholds: { minSupershingles: 1, minAgreeingBits: 372, combinedMinAgreeingBits: 355 },
      })
      const answer = await running.services.nearDuplicates.ofDocument(id, query)
      for (const one of answer.duplicates) {
        const theirs = shinglesOf.get(one.id) ?? new Set()
        const common = [...own].filter((shingle) => theirs.has(shingle)).length
        expect(one.resemblance).toBe(common / (own.size + theirs.size - common))
        compared++
      }
      const filtered = await running.services.nearDuplicates.ofDocument(id, { ...query, minResemblance: 0.9 })
      expect(filtered.duplicates).toEqual(answer.duplicates.filter((one) => (one.resemblance ?? 0) >= 0.9))
    }
    expect(compared).toBeGreaterThan(50)
  })

  test('change with the site filter exactly as the sites of the members say', async () => {
    running = await openInMemory()
    await storeAll(running, families(5, 10))
    const views = await allViews(running)
    for (const view of views) {
      const sites = new Map(views.map((other) => [other.id, other.site]))
      const onSameSite = (id: string) => view.site !== null && sites.get(id) === view.site
      for (const algorithm of algorithms) {
        const all = bruteForce(views, view, algorithm)
        const same = idsOf(await walk(running, view.id, options({ algorithm, site: 'same' })))
        const different = idsOf(await walk(running, view.id, options({ algorithm, site: 'different' })))
        expect(same.toSorted()).toEqual(all.filter(onSameSite))
        expect(different.toSorted()).toEqual(all.filter((id) => !onSameSite(id)))
      }
    }
  })

  test('of a page that is not stored are those that it has once it is stored', async () => {
    running = await openInMemory()
    const [first, ...others] = families(6, 6)
    if (first === undefined) throw new Error('no page')
    await storeAll(running, others)
    const before = await running.services.nearDuplicates.ofPage(first.page, options())
    await storeAll(running, [first])
    const after = await running.services.nearDuplicates.ofDocument('f0-0', options())
    expect(before.duplicates.length).toBeGreaterThan(0)
    expect(before.document).toBeNull()
    expect(before.duplicates).toEqual(after.duplicates)
  })

  test('a lower bound on agreeing bits is answered with the share of pairs that the bands find', async () => {
    running = await openInMemory()
    await storeAll(running, families(7, 3))
    const thresholds = { minSupershingles: 2, minAgreeingBits: 350, combinedMinAgreeingBits: 355 }
    const { recall } = await running.services.nearDuplicates.ofDocument('f0-0', options({ thresholds }))
    expect(recall).toBeGreaterThan(0.5)
    expect(recall).toBeLessThan(1)
  })

  test('a page without a token is a near-duplicate of nothing, not even of another one', async () => {
    running = await openInMemory()
    const [, second] = await storeAll(running, [textInput('a', '—'), textInput('b', '…')])
    expect(second).toMatchObject({ tokenCount: 0, identicalTo: 'a' })
    for (const algorithm of algorithms) {
      const answer = await running.services.nearDuplicates.ofDocument('a', options({ algorithm }))
      expect(answer.duplicates).toEqual([])
    }
  })

  test('across sites site-aware leaves out a page with the same words in another order, unless told not to', async () => {
    running = await openInMemory()
    const words = randomWords(seededRandom(12), 600)
    await storeAll(running, [
      textInput('a', words.join(' '), 'https://one.example/'),
      textInput('copy', `${words.join(' ')} more`, 'https://two.example/'),
      textInput('sorted', words.toSorted().join(' '), 'https://three.example/'),
    ])
    const found = async (changes: Parameters<typeof options>[0]) =>
      idsOf([await running.services.nearDuplicates.ofDocument('a', options(changes))])
    expect(await found({})).toEqual(['copy'])
    expect(await found({ minResemblance: 0 })).toEqual(['sorted', 'copy'])
    expect(await found({ algorithm: 'simhash' })).toEqual(['sorted', 'copy'])
    const { comparison } = running.services
    const { verdicts } = await comparison.ofDocuments('a', 'sorted')
    expect(verdicts.simhash?.nearDuplicate).toBe(true)
    expect(verdicts['site-aware']).toMatchObject({
      nearDuplicate: false,
      bounds: [
        { name: 'cSimilarity', met: true },
        { name: 'commonShingles', value: 0, margin: -1, met: false },
      ],
    })
  })

  test('a cursor is refused for another query, and when it was changed', async () => {
    running = await openInMemory()
    await storeAll(running, families(8, 2))
    const query = options({ algorithm: 'shingling', order: 'id', limit: 1 })
    const { nextCursor } = await running.services.nearDuplicates.ofDocument('f0-0', query)
    expect(nextCursor).not.toBeNull()
    const ask = (id: string, cursor: string | null) =>
      running.services.nearDuplicates.ofDocument(id, { ...query, cursor })
    await expect(ask('f1-0', nextCursor)).rejects.toMatchObject({ code: 'invalid_cursor' })
    await expect(ask('f0-0', `${nextCursor}x9`)).rejects.toMatchObject({ code: 'invalid_cursor' })
    await expect(ask('f0-0', 'W10')).rejects.toMatchObject({ code: 'invalid_cursor' })
  })
})

describe('pages that were crawled again and again', () => {
  test('do not keep near-duplicates from being found by the versions that are gone', async () => {
    running = await openInMemory({ QUERY_WORK_LIMIT: '100' })
    const words = randomWords(seededRandom(13), 400).join(' ')
    for (let round = 0; round < 40; round++)
      await storeAll(
        running,
        Array.from({ length: 50 }, (_, i) => textInput(`again-${i}`, `${words} visit${round}-${i}`)),
      )
    for (let i = 0; i < 50; i++) await running.services.documents.delete(`again-${i}`)
    await storeAll(running, [textInput('live-1', words), textInput('live-2', `${words} last`)])
    const answer = await running.services.nearDuplicates.ofDocument('live-1', options())
    expect(answer).toMatchObject({ duplicates: [{ id: 'live-2' }], complete: true })
  })
})

describe('hot clusters', () => {
  const size = 20_000
  const workLimit = 1000

  test('20,000 identical pages are one set; an answer keeps its work bound and a walk lists each once', async () => {
    running = await openInMemory({ QUERY_WORK_LIMIT: String(workLimit) })
    const words = randomWords(seededRandom(1), 120).join(' ')
    await storeAll(
      running,
      Array.from({ length: size }, (_, i) => textInput(`same-${i}`, words)),
    )
    const answer = await running.services.nearDuplicates.ofDocument('same-777', options())
    expect(answer.duplicates).toHaveLength(50)
    expect(answer.complete).toBe(false)
    expect(answer.examined).toBeLessThan(workLimit + 1024)
    const pages = await walk(running, 'same-777', options({ order: 'id', limit: 1000 }))
    expect(new Set(idsOf(pages)).size).toBe(size - 1)
    expect(idsOf(pages)).toHaveLength(size - 1)
    expect(Math.max(...pages.map((page) => page.examined))).toBeLessThan(workLimit + 1024)
  })

  test('20,000 nearly identical pages: bounded answers, and a walk lists every near-duplicate once', async () => {
    running = await openInMemory({ QUERY_WORK_LIMIT: String(workLimit) })
    const words = randomWords(seededRandom(2), 250).join(' ')
    await storeAll(
      running,
      Array.from({ length: size }, (_, i) => textInput(`near-${i}`, `${words} visit${i}`)),
    )
    const views = await allViews(running)
    const view = views[777]
    if (view === undefined) throw new Error('not stored')
    for (const algorithm of ['shingling', 'simhash'] as const) {
      const answer = await running.services.nearDuplicates.ofDocument(view.id, options({ algorithm }))
      expect(answer.complete).toBe(false)
      expect(answer.duplicates).toHaveLength(50)
      expect(answer.examined).toBeLessThan(workLimit + 1024)
      const pages = await walk(running, view.id, options({ algorithm, order: 'id', limit: 1000 }))
      const expected = bruteForce(views, view, algorithm)
      expect(expected.length).toBeGreaterThan(size / 2)
      expect(idsOf(pages).toSorted()).toEqual(expected)
      expect(Math.max(...pages.map((page) => page.examined))).toBeLessThan(workLimit + 1024)
    }
  })
})
