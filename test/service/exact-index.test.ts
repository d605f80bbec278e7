import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { analyze } from '../../src/analysis/analyze.ts'
import { openServices, type RunningServices, reindex } from '../../src/compose.ts'
import { loadConfig } from '../../src/config.ts'
import { intersectionSize } from '../../src/detect/resemblance.ts'
import { type Measure, similarity } from '../../src/join/measure.ts'
import type { DocumentInput, DuplicatesAnswer } from '../../src/service/service.ts'
import { type Features, featureSet } from '../../src/signature/features.ts'
import type { SqliteStoreOptions } from '../../src/store/sqlite/sqlite-store.ts'
import { editWords, randomWords, seededRandom } from '../fixture/pages.ts'
import { options, storeAll, textInput, walk } from '../fixture/services.ts'

/** A run for every few pages, and merges of two. */
const tinyRuns: Partial<SqliteStoreOptions> = { flushFeatures: 400, fanOut: 2, sliceRows: 300 }

let directory: string
let running: RunningServices | null = null
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dittograph-test-'))
})
afterEach(async () => {
  await running?.close()
  running = null
  await rm(directory, { recursive: true })
})

const configOf = (settings: Readonly<Record<string, string>> = {}) =>
  loadConfig({ DATABASE_URL: `sqlite:${join(directory, 'test.db')}`, EXACT_INDEX: 'true', ...settings })

const open = async (settings: Readonly<Record<string, string>> = {}): Promise<RunningServices> => {
  await running?.close()
  running = null
  running = await openServices(configOf(settings), { storeOptions: tinyRuns })
  return running
}

/** Closes the services, and opens them again over a database that was reindexed. */
const openReindexed = async (settings: Readonly<Record<string, string>> = {}): Promise<RunningServices> => {
  await running?.close()
  running = null
  await reindex(configOf(settings), () => undefined)
  return open(settings)
}

/** What is stored, by id. */
class Pages {
  readonly byId = new Map<string, DocumentInput>()
  readonly #features = new Map<DocumentInput, Record<Features, Float64Array>>()

  featuresOf(input: DocumentInput): Record<Features, Float64Array> {
    let known = this.#features.get(input)
    if (known === undefined) {
      const { tokens } = analyze(input.page, { tokenizer: 'practical', siteRule: 'public-suffix' })
      known = { shingles: featureSet(tokens, 'shingles'), tokens: featureSet(tokens, 'tokens') }
      this.#features.set(input, known)
    }
    return known
  }

  near(input: DocumentInput, measure: Measure, features: Features, threshold: number): [string, number][] {
    const own = this.featuresOf(input)[features]
    return [...this.byId.values()].flatMap((other): [string, number][] => {
      const theirs = this.featuresOf(other)[features]
      const value = similarity(measure, intersectionSize(own, theirs), own.length, theirs.length)
      return other === input || value < threshold ? [] : [[String(other.id), value]]
    })
  }
}

/** Thresholds that an index for 0.5 serves, and some at which two small sets are exactly. */
const searches: readonly (readonly [Measure, number])[] = [
  ['jaccard', 0.5],
  ['jaccard', 0.8],
  ['jaccard', 1],
  ['cosine', 0.71],
  ['cosine', 0.9],
  ['dice', 0.67],
  ['dice', 0.85],
  // Not served by the index: answered by a scan.
  ['cosine', 0.6],
  ['dice', 0.6],
  ['overlap', 5],
]

const found = (answers: readonly DuplicatesAnswer[]): [string, number][] =>
  answers.flatMap(({ duplicates }) => duplicates.map((one): [string, number] => [one.id, one.similarity]))

const byId = (a: [string, number], b: [string, number]): number => (a[0] < b[0] ? -1 : 1)

/** Every search, of some pages, equals brute force; returns how many pairs were found. */
const expectExact = async (services: RunningServices, pages: Pages, step: number): Promise<number> => {
  let pairs = 0
  const sample = [...pages.byId.values()].filter((_, i) => i % step === 0)
  for (const input of sample)
    for (const features of ['shingles', 'tokens'] as const)
      for (const [algorithm, threshold] of searches) {
        const expected = pages.near(input, algorithm, features, threshold)
        pairs += expected.length
        const query = options({ algorithm, exact: { threshold, features }, order: 'id' })
        const answers = await walk(services, String(input.id), query)
        expect(found(answers).toSorted(byId)).toEqual(expected.toSorted(byId))
        expect(answers.every(({ complete }) => complete)).toBe(true)
      }
  return pairs
}

/** Pages of 1 to 100 words; families of one with more and more edits. */
const families = (seed: number, count: number, name = ''): DocumentInput[] => {
  const random = seededRandom(seed)
  return Array.from({ length: count }, (_, family) => {
    const words = randomWords(random, 1 + Math.floor(random() ** 2 * 100), 60)
    return Array.from({ length: 4 }, (_, copy) => {
      const edited = editWords(random, words, copy * Math.ceil(words.length / 20), 'scattered')
      return textInput(`${name}${family}-${copy}`, edited.join(' '), `https://${copy}.example/${family}`)
    })
  }).flat()
}

const store = async (services: RunningServices, pages: Pages, inputs: readonly DocumentInput[]) => {
  // A few at a time, so that the background work gets its turns.
  for (let from = 0; from < inputs.length; from += 10) {
    const batch = inputs.slice(from, from + 10)
    await storeAll(services, batch)
    for (const input of batch) pages.byId.set(String(input.id), input)
  }
}

const examinedBy = async (services: RunningServices, id: string): Promise<number> => {
  const query = options({ algorithm: 'jaccard', exact: { threshold: 0.8, features: 'shingles' } })
  return (await services.services.nearDuplicates.ofDocument(id, query)).examined
}

describe('searching with an exact index', () => {
  test('equals brute force through inserts, replaces, deletes, flushes, merges, restarts and a reindexing', async () => {
    const pages = new Pages()
    let services = await open()
    await store(services, pages, families(1, 30))
    let pairs = await expectExact(services, pages, 5)
    // Replaced by pages of other families, by their own text under another URL, and back; and deleted.
    const others = families(2, 30)
    await store(
      services,
      pages,
      others.filter((_, i) => i % 3 === 0),
    )
    await store(
      services,
      pages,
      families(1, 30).filter((_, i) => i % 7 === 0),
    )
    for (const id of [...pages.byId.keys()].filter((_, i) => i % 5 === 0)) {
      await services.services.documents.delete(id)
      pages.byId.delete(id)
    }
    pairs += await expectExact(services, pages, 7)
    services = await open()
    pairs += await expectExact(services, pages, 9)
    services = await openReindexed()
    pairs += await expectExact(services, pages, 7)
    await store(services, pages, families(3, 20, 'new '))
    pairs += await expectExact(services, pages, 7)
    services = await open()
    pairs += await expectExact(services, pages, 11)
    expect(pairs).toBeGreaterThan(1000)
  }, 120_000)

  test('looks at a few pages where a scan looks at all', async () => {
    const pages = new Pages()
    await store(await open(), pages, families(4, 60))
    const scanned = await open({ EXACT_INDEX: 'false' })
    const all = await examinedBy(scanned, '0-0')
    const indexed = await openReindexed()
    expect(await examinedBy(indexed, '0-0')).toBeLessThan(all / 5)
  })

  test('finds a page of which the features are frequent, by their order', async () => {
    const services = await open()
    const pages = new Pages()
    const common = Array.from({ length: 40 }, (_, i) => `common${i}`).join(' ')
    const inputs = Array.from({ length: 120 }, (_, i) =>
      textInput(`${i}`, `${common} ${Array.from({ length: 30 }, (_, j) => `rare${i}x${j}`).join(' ')}`),
    )
    await store(services, pages, [...inputs, textInput('near', `${common} rare7x1 rare7x2`)])
    const before = await examinedBy(services, '7')
    const reindexed = await openReindexed()
    expect(await examinedBy(reindexed, '7')).toBeLessThan(before / 2)
    await expectExact(reindexed, pages, 40)
  })

  test('goes on by cursor where the work bound was met, skipping and repeating nothing', async () => {
    const services = await open({ QUERY_WORK_LIMIT: '100' })
    const inputs = Array.from({ length: 350 }, (_, i) =>
      textInput(`${i}`, `same words in all pages here ${i}`),
    )
    await store(services, new Pages(), inputs)
    const query = options({ algorithm: 'jaccard', exact: { threshold: 0.5, features: 'tokens' } })
    expect((await services.services.nearDuplicates.ofDocument('0', query)).complete).toBe(false)
    const answers = await walk(services, '0', { ...query, order: 'id' })
    expect(answers.length).toBeGreaterThan(3)
    expect(new Set(found(answers).map(([id]) => id)).size).toBe(349)
    expect(found(answers)).toHaveLength(349)
    expect(answers.at(-1)?.complete).toBe(true)
  })

  test('scans the parts of the index that have too many lists for the work bound, and keeps to it', async () => {
    const pages = new Pages()
    const hot = Array.from({ length: 600 }, (_, i) => `hot${i}`).join(' ')
    const inputs = Array.from({ length: 120 }, (_, i) => textInput(`${i}`, `${i % 50} ${hot} ${i}`))
    const [first] = inputs
    if (first === undefined) throw new Error('There are no pages')
    await store(await open(), pages, inputs)
    const services = await open({ QUERY_WORK_LIMIT: '100' })
    for (const features of ['shingles', 'tokens'] as const) {
      const query = options({ algorithm: 'jaccard', exact: { threshold: 0.8, features }, order: 'id' })
      const answers = await walk(services, '0', query)
      expect(found(answers).toSorted(byId)).toEqual(
        pages.near(first, 'jaccard', features, 0.8).toSorted(byId),
      )
      expect(found(answers)).toHaveLength(119)
      // What is found counts as well.
      expect(answers.length).toBeGreaterThan(1)
      for (const { examined } of answers) expect(examined).toBeLessThanOrEqual(132)
    }
  })

  test('stays in force where the least threshold is raised', async () => {
    const pages = new Pages()
    await store(await open(), pages, families(9, 40))
    const services = await open({ EXACT_MIN_THRESHOLD: '0.8' })
    await store(services, pages, families(10, 10, 'more '))
    expect(await examinedBy(services, '0-0')).toBeLessThan(20)
    await expectExact(await open(), pages, 19)
  })

  test('is refused without kept texts, and says so', async () => {
    await expect(open({ KEEP_TEXT: 'false' })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/EXACT_INDEX.*KEEP_TEXT/),
    })
  })

  test('of pages of which no text is kept says that the answer is not complete', async () => {
    const pages = new Pages()
    const [first, second, ...more] = families(5, 5)
    if (first === undefined || second === undefined) throw new Error('There are no pages')
    await store(await open({ EXACT_INDEX: 'false', KEEP_TEXT: 'false' }), pages, [first])
    const services = await openReindexed()
    await store(services, pages, [second, ...more])
    const query = options({ algorithm: 'jaccard', exact: { threshold: 1, features: 'tokens' } })
    expect((await services.services.nearDuplicates.ofDocument(String(second.id), query)).complete).toBe(false)
    // Sent again it is found: now a text is kept.
    await store(services, pages, [first])
    await expectExact(services, pages, 1)
  })

  test.each([
    ['without the index', { EXACT_INDEX: 'false' }],
    ['for a lower least threshold', { EXACT_MIN_THRESHOLD: '0.4' }],
  ])('answers by scan, and exactly, after pages were stored %s', async (_, settings) => {
    const pages = new Pages()
    await store(await open(), pages, families(6, 10))
    await store(await open(settings), pages, families(7, 10, 'more '))
    const services = await open()
    await expectExact(services, pages, 9)
    expect(await examinedBy(services, '0-0')).toBeGreaterThan(1)
    await store(services, pages, families(8, 10, 'third '))
    await expectExact(await openReindexed(), pages, 9)
  })
})
