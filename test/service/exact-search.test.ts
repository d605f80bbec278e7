import { afterEach, describe, expect, test } from 'vitest'
import { analyze } from '../../src/analysis/analyze.ts'
import type { RunningServices } from '../../src/compose.ts'
import { intersectionSize } from '../../src/detect/resemblance.ts'
import { measures, similarity } from '../../src/join/measure.ts'
import type { DocumentInput } from '../../src/service/service.ts'
import { type Features, featureSet } from '../../src/signature/features.ts'
import { editWords, randomWords, seededRandom } from '../fixture/pages.ts'
import { openInMemory, options, storeAll, textInput, walk } from '../fixture/services.ts'

let running: RunningServices
afterEach(() => running.close())

/** Families of pages of 1 to 80 words, many of them repeated, with more and more edits. */
const shortPages = (seed: number, families: number): DocumentInput[] => {
  const random = seededRandom(seed)
  return Array.from({ length: families }, (_, family) => {
    const words = randomWords(random, 1 + Math.floor(random() * 80), 60)
    return Array.from({ length: 5 }, (_, copy) => {
      const edited = editWords(random, words, copy * Math.ceil(words.length / 25), 'scattered')
      return textInput(`${family}-${copy}`, edited.join(' '), `https://${copy % 2}.example/${family}`)
    })
  }).flat()
}

const featuresOf = ({ page }: DocumentInput, features: Features): Float64Array =>
  featureSet(analyze(page, { tokenizer: 'practical', siteRule: 'public-suffix' }).tokens, features)

describe('exact set similarity', () => {
  test.each(measures)('by %s equals brute force over all pages, value and all', async (measure) => {
    running = await openInMemory()
    const inputs = shortPages(8, 20)
    await storeAll(running, inputs)
    let pairs = 0
    for (const features of ['shingles', 'tokens'] as const)
      for (const threshold of measure === 'overlap' ? [1, 7, 30] : [0.5, 0.8, 1])
        for (const input of inputs) {
          const own = featuresOf(input, features)
          const expected = inputs.flatMap((other) => {
            const theirs = featuresOf(other, features)
            const value = similarity(measure, intersectionSize(own, theirs), own.length, theirs.length)
            return other === input || value < threshold ? [] : [[other.id, value]]
          })
          pairs += expected.length
          const query = options({ algorithm: measure, exact: { threshold, features } })
          for (const order of ['similarity', 'id'] as const) {
            const pages = await walk(running, input.id ?? '', { ...query, order, limit: 3 })
            const found = pages.flatMap(({ duplicates }) => duplicates.map((one) => [one.id, one.similarity]))
            expect(found.toSorted()).toEqual(expected.toSorted())
            if (order === 'similarity')
              expect(found.map(([, value]) => Number(value))).toEqual(
                found.map(([, value]) => Number(value)).sort((a, b) => b - a),
              )
            expect(pages.every(({ complete, recall }) => complete && recall === 1)).toBe(true)
          }
        }
    expect(pairs).toBeGreaterThan(500)
  })

  test('of a page that is not stored counts what no stored page has', async () => {
    running = await openInMemory()
    await storeAll(running, [textInput('p', 'a b c d'), textInput('q', 'a b c d u1')])
    const query = options({ algorithm: 'jaccard', exact: { threshold: 0.7, features: 'tokens' } })
    const { page } = textInput(null, 'a b c d u1 u2')
    const { duplicates, thresholds } = await running.services.nearDuplicates.ofPage(page, query)
    expect(duplicates.map(({ id, similarity }) => [id, similarity])).toEqual([['q', 5 / 6]])
    expect(thresholds).toEqual({ threshold: 0.7 })
  })

  test('by jaccard of shingles is the resemblance', async () => {
    running = await openInMemory()
    const inputs = shortPages(5, 30)
    await storeAll(running, inputs)
    const query = options({ algorithm: 'jaccard', exact: { threshold: 0.5, features: 'shingles' } })
    const found = (await Promise.all(inputs.map(({ id }) => walk(running, id ?? '', query)))).flat()
    const duplicates = found.flatMap((page) => page.duplicates)
    expect(duplicates.length).toBeGreaterThan(10)
    for (const { similarity, resemblance } of duplicates) expect(similarity).toBe(resemblance)
  })

  test('finds nothing of a page without tokens, and no such page', async () => {
    running = await openInMemory()
    await storeAll(running, [textInput('none', '!'), textInput('other', '?'), textInput('some', 'a')])
    const query = options({ algorithm: 'dice', exact: { threshold: 0.5, features: 'tokens' } })
    for (const id of ['none', 'some'])
      expect((await walk(running, id, query)).flatMap(({ duplicates }) => duplicates)).toEqual([])
  })

  test('says that it is not complete where the work bound was met, and goes on by cursor', async () => {
    running = await openInMemory({ QUERY_WORK_LIMIT: '100' })
    const inputs = Array.from({ length: 300 }, (_, i) => textInput(`${i}`, `same words here ${i}`))
    await storeAll(running, inputs)
    const query = options({ algorithm: 'jaccard', exact: { threshold: 0.5, features: 'tokens' } })
    const best = await running.services.nearDuplicates.ofDocument('0', query)
    expect(best.complete).toBe(false)
    const pages = await walk(running, '0', { ...query, order: 'id' })
    expect(pages.length).toBeGreaterThan(2)
    expect(pages.flatMap(({ duplicates }) => duplicates).map(({ id }) => id)).toHaveLength(299)
    expect(pages.at(-1)?.complete).toBe(true)
  })

  test('needs kept texts: says so of the page asked about, and is not complete without those of others', async () => {
    running = await openInMemory({ KEEP_TEXT: 'false' })
    await storeAll(running, [textInput('a', 'some words')])
    const query = options({ algorithm: 'jaccard' })
    await expect(running.services.nearDuplicates.ofDocument('a', query)).rejects.toMatchObject({
      code: 'text_not_kept',
    })
    const { page } = textInput(null, 'some words')
    expect(await running.services.nearDuplicates.ofPage(page, query)).toMatchObject({
      duplicates: [],
      complete: false,
    })
  })
})
