import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningServices } from '../../src/compose.ts'
import { randomWords, seededRandom } from '../fixture/pages.ts'
import { allViews, openInMemory, options, storeAll, textInput } from '../fixture/services.ts'

let running: RunningServices
beforeEach(async () => {
  running = await openInMemory()
})
afterEach(() => running.close())

const words = (seed: number): string => randomWords(seededRandom(seed), 400).join(' ')
const duplicatesOf = async (id: string): Promise<string[]> =>
  (await running.services.nearDuplicates.ofDocument(id, options())).duplicates.map((one) => one.id)

describe('storing documents', () => {
  test('without an id: the same URL in another spelling replaces the page, another URL does not', async () => {
    const [first, second, third] = await storeAll(running, [
      textInput(null, words(1), 'https://Example.com:443/a#top'),
      textInput(null, words(2), 'https://example.com/a'),
      textInput(null, words(2), 'https://example.com/b'),
    ])
    expect(first?.status).toBe('created')
    expect(second).toMatchObject({ id: first?.id, status: 'replaced' })
    expect(third).toMatchObject({ status: 'created', identicalTo: first?.id })
    expect(third?.id).not.toBe(first?.id)
  })

  test('without an id and a URL: every document is a new one, its id in order of time', async () => {
    const stored = await storeAll(running, [textInput(null, words(1)), textInput(null, words(1))])
    const ids = stored.map((one) => one.id)
    expect(new Set(ids).size).toBe(2)
    expect(ids.toSorted()).toEqual(ids)
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  })

  test('of two inputs with one id in a batch the last wins', async () => {
    const stored = await storeAll(running, [textInput('x', words(1)), textInput('x', words(2))])
    expect(stored.map((one) => one.status)).toEqual(['created', 'replaced'])
    await storeAll(running, [textInput('like-1', words(1)), textInput('like-2', words(2))])
    expect(await duplicatesOf('x')).toEqual(['like-2'])
    expect(await duplicatesOf('like-1')).toEqual([])
  })

  test('a changed re-crawl is not found under its old text, in either direction, and found under the new', async () => {
    await storeAll(running, [
      textInput('p', words(1)),
      textInput('old', words(1)),
      textInput('new', words(2)),
    ])
    expect(await duplicatesOf('p')).toEqual(['old'])
    await storeAll(running, [textInput('p', words(2))])
    expect(await duplicatesOf('p')).toEqual(['new'])
    expect(await duplicatesOf('old')).toEqual([])
    expect(await duplicatesOf('new')).toEqual(['p'])
  })

  test('deleting the first of an identity set hands over to the next one', async () => {
    await storeAll(
      running,
      ['a', 'b', 'c'].map((id) => textInput(id, words(1))),
    )
    const identicalTo = async (id: string) => (await running.services.documents.get(id)).identicalTo
    expect(await Promise.all(['a', 'b', 'c'].map(identicalTo))).toEqual([null, 'a', 'a'])
    await running.services.documents.delete('a')
    expect(await Promise.all(['b', 'c'].map(identicalTo))).toEqual([null, 'b'])
    await expect(running.services.documents.get('a')).rejects.toMatchObject({ code: 'document_not_found' })
    await expect(running.services.documents.delete('a')).rejects.toMatchObject({ code: 'document_not_found' })
    expect(await duplicatesOf('b')).toEqual(['c'])
  })

  test('an unchanged re-post keeps its place and takes the new metadata', async () => {
    await storeAll(running, [textInput('a', words(1))])
    const again = { ...textInput('a', words(1)), metadata: { depth: 3 }, fetchedAt: '2026-01-02T03:04:05Z' }
    const [result] = await storeAll(running, [again])
    expect(result).toMatchObject({ status: 'unchanged', identicalTo: null })
    const view = await running.services.documents.get('a')
    expect(view).toMatchObject({ metadata: { depth: 3 }, fetchedAt: '2026-01-02T03:04:05Z' })
  })

  test('near-duplicates in the result are those stored before: earlier inputs of the batch, not later ones', async () => {
    const inputs = ['a', 'b', 'c'].map((id) => textInput(id, words(1)))
    const stored = await running.services.documents.store(inputs, options({ limit: 10 }))
    const found = stored.map((one) => (one instanceof Error ? one : one.duplicates?.map((item) => item.id)))
    expect(found).toEqual([[], ['a'], ['a', 'b']])
  })

  test('a later input that replaces a document does not take it from the near-duplicates of an earlier one', async () => {
    await storeAll(running, [textInput('x', words(1))])
    const inputs = [textInput('new', words(1)), textInput('x', words(2)), textInput('like-x', words(2))]
    const stored = await running.services.documents.store(inputs, options({ limit: 10 }))
    expect(stored).toMatchObject([
      { identicalTo: 'x', duplicates: [{ id: 'x', identical: true }] },
      { status: 'replaced', duplicates: [] },
      { identicalTo: 'x', duplicates: [{ id: 'x' }] },
    ])
  })

  test('a list ends a page early where the metadata is large, and goes on behind it', async () => {
    const inputs = Array.from({ length: 150 }, (_, i) => ({
      ...textInput(`m${i}`, 'some words'),
      metadata: 'x'.repeat(60_000),
    }))
    await storeAll(running, inputs)
    const page = await running.services.documents.list({ limit: 1000, cursor: null })
    expect(page.documents.length).toBeLessThan(75)
    expect((await allViews(running)).map((view) => view.id)).toEqual(inputs.map((input) => input.id))
  })

  test('exactly one version is there after concurrent posts of one id', async () => {
    const posts = Array.from({ length: 20 }, (_, i) =>
      running.services.documents.store([textInput('same', words(i))], null),
    )
    await Promise.all(posts)
    expect(await allViews(running)).toHaveLength(1)
  })

  test('metadata of any JSON shape comes back as it was posted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (metadata) => {
        await storeAll(running, [{ ...textInput('m', 'some words'), metadata }])
        const view = await running.services.documents.get('m')
        expect(view.metadata).toEqual(metadata === null ? null : JSON.parse(JSON.stringify(metadata)))
      }),
      { seed: 3, numRuns: 100 },
    )
  })

  test('lists by URL in any spelling and by site, in pages that hold each document once', async () => {
    await storeAll(
      running,
      Array.from({ length: 25 }, (_, i) =>
        textInput(`d${i}`, words(i % 5), `https://w${i % 2}.example.com/${i % 3}`),
      ),
    )
    const { documents } = running.services
    const byUrl = await documents.list({ url: 'HTTPS://W0.example.com/0#x', limit: 50, cursor: null })
    expect(byUrl.documents.map((one) => one.id)).toEqual(['d0', 'd6', 'd12', 'd18', 'd24'])
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const page = await documents.list({ site: 'example.com', limit: 4, cursor })
      ids.push(...page.documents.map((one) => one.id))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(ids).toEqual(Array.from({ length: 25 }, (_, i) => `d${i}`))
  })

  test('texts are not kept with KEEP_TEXT=false, and everything but resemblance works', async () => {
    const without = await openInMemory({ KEEP_TEXT: 'false' })
    await storeAll(without, [textInput('a', words(1)), textInput('b', `${words(1)} more`)])
    await expect(without.services.documents.text('a')).rejects.toMatchObject({ code: 'text_not_kept' })
    const { duplicates } = await without.services.nearDuplicates.ofDocument('a', options())
    expect(duplicates).toMatchObject([{ id: 'b', resemblance: null }])
    await without.close()
  })
})
