import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnalysisOptions } from '../../../src/analysis/analyze.ts'
import { Analyzer } from '../../../src/analysis/analyzer.ts'
import { schemeOf } from '../../../src/analysis/scheme.ts'
import { hashSeedOf } from '../../../src/hash-seed.ts'
import { type ResignOptions, resignSqliteStore, takeOverResigned } from '../../../src/store/sqlite/resign.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { DeleteOperation, DocumentRecord, PutOperation, Store } from '../../../src/store/store.ts'
import { tinyRuns } from './batch.ts'
import { makeOlderDatabase } from './older.ts'
import { inTemporaryDirectory } from './temporary.ts'

const oldRules: AnalysisOptions = { tokenizer: 'practical', siteRule: 'public-suffix' }
const newRules: AnalysisOptions = {
  tokenizer: 'literal',
  siteRule: 'dots',
  hashSeed: hashSeedOf('a secret that nobody knows'),
}
const analyzers = new Map([oldRules, newRules].map((rules) => [rules, new Analyzer(rules)]))
const analyzerOf = (rules: AnalysisOptions): Analyzer => analyzers.get(rules) as Analyzer

const optionsOf = (path: string, rules: AnalysisOptions): ResignOptions => ({
  path,
  scheme: schemeOf(rules),
  synchronous: 'normal',
  ...tinyRuns,
  sketch: (url, text) => analyzerOf(rules).sketchOfText(url, text),
})
const open = (path: string, rules: AnalysisOptions) => openSqliteStore(optionsOf(path, rules))

type Page = { readonly id: string; readonly url: string | null; readonly text: string }

const putOf = (
  rules: AnalysisOptions,
  { id, url, text }: Page,
  more: Partial<PutOperation>,
): PutOperation => ({
  kind: 'put',
  ...analyzerOf(rules).sketch({ url, content: { kind: 'html', characters: text } }),
  id,
  fetchedAt: null,
  metadata: null,
  now: 1_600_000_000_000,
  ...more,
})

const allOf = async (store: Store): Promise<DocumentRecord[]> => [
  ...(await store.list({ after: 0, limit: 100_000 })),
]

/** Ids of the documents in each set that shares a supershingle or a band with the document, in any order of sets. */
const candidatesOf = async (store: Store, { signature }: DocumentRecord): Promise<string[][]> => {
  if (signature === null) return []
  const query = { signature, minSupershingles: 1, bands: true, after: 0, limit: 100_000 }
  const { candidates } = await store.probe(query)
  const members = candidates.map(async ({ set }) =>
    (await store.members([set], 0, 100_000)).map(({ id }) => id),
  )
  return (await Promise.all(members)).sort()
}

/** What a document is, whatever numbers it got: bytes as digits, and what is found by its signature. */
const contentsOf = async (store: Store, records: readonly DocumentRecord[]) => {
  const texts = await store.texts(records.map(({ id }) => id))
  return Promise.all(
    records.map(async ({ number: _, set: __, createdAt: ___, updatedAt: ____, ...record }) => ({
      ...record,
      contentHash: Buffer.from(record.contentHash).toString('hex'),
      signature: record.signature && Buffer.from(record.signature.simhash).toString('hex'),
      candidates: await candidatesOf(store, { ...record } as DocumentRecord),
      text: Buffer.from(texts.get(record.id)?.text ?? []).toString(),
      ofSite: record.site === null ? [] : await idsOf(store, { site: record.site }),
    })),
  )
}
const idsOf = async (store: Store, filter: { site: string }) =>
  (await store.list({ ...filter, after: 0, limit: 100_000 })).map(({ id }) => id)

/** Stores the same documents under the rules in an empty database, in the same order. */
const fresh = async (
  records: readonly DocumentRecord[],
  pages: ReadonlyMap<string, Page>,
): Promise<Store> => {
  const store = await openSqliteStore({ path: ':memory:', scheme: schemeOf(newRules) })
  for (const { id, fetchedAt, metadata } of records)
    await store.write([putOf(newRules, pages.get(id) as Page, { fetchedAt, metadata })])
  return store
}

/** The database, which was closed under the old rules, is what it would be had all come under the new ones. */
const expectResigned = async (
  path: string,
  before: readonly DocumentRecord[],
  pages: ReadonlyMap<string, Page>,
): Promise<readonly DocumentRecord[]> => {
  const store = await open(path, newRules)
  const records = await allOf(store)
  const other = await fresh(records, pages)
  expect(await contentsOf(store, records)).toEqual(await contentsOf(other, await allOf(other)))
  expect(await store.counts()).toEqual(await other.counts())
  const kept = ({ id, url, title, createdAt, updatedAt, fetchedAt, metadata }: DocumentRecord) => [
    id,
    { url, title, createdAt, updatedAt, fetchedAt, metadata },
  ]
  expect(Object.fromEntries(records.map(kept))).toEqual(Object.fromEntries(before.map(kept)))
  const greatest = Math.max(...before.map(({ number }) => number), 0)
  await store.write([putOf(newRules, { id: 'later', url: null, text: 'later than all others' }, {})])
  const later = await store.get('later')
  expect(later?.number).toBeGreaterThan(greatest)
  await store.close()
  await other.close()
  return records
}

const texts = [
  'The grey harbour was quiet before the ferry came across the water in the morning',
  'THE grey Harbour was quiet before the ferry came across the water in the morning',
  '<p>The grey harbour was <b>quiet</b> before the ferry came across the water</p> in the Morning',
  'The grey harbour was quiet before the ferry came across the water in the evening',
  '東京 は 静かな 港 です',
  '',
]
const urls = [null, 'http://a.b.example.co.uk/x', 'http://c.example.co.uk/', 'https://user.github.io/']

type Step = { readonly id: number; readonly text: number | null; readonly url: number; readonly note: number }
const steps = fc.array(
  fc.record({
    id: fc.nat({ max: 15 }),
    text: fc.option(fc.nat({ max: texts.length - 1 }), { freq: 5 }),
    url: fc.nat({ max: urls.length - 1 }),
    note: fc.nat({ max: 1 }),
  }),
  { minLength: 1, maxLength: 40 },
)

/** Writes steps one by one, each a millisecond later than the one before. */
class Writer {
  readonly pages = new Map<string, Page>()
  readonly #store: Store
  #now: number

  constructor(store: Store, now: number) {
    this.#store = store
    this.#now = now
  }

  async write(list: readonly Step[]): Promise<void> {
    for (const { id, text, url, note } of list) {
      const page = { id: `id ${id}`, url: urls[url] ?? null, text: texts[text ?? 0] ?? '' }
      const now = ++this.#now
      const operation: PutOperation | DeleteOperation =
        text === null
          ? { kind: 'delete', id: page.id }
          : putOf(oldRules, page, { now, metadata: `{"note":${note}}`, fetchedAt: `at ${note}` })
      await this.#store.write([operation])
      if (text === null) this.pages.delete(page.id)
      else this.pages.set(page.id, page)
    }
  }
}

class Interruption extends Error {}

describe('A re-signed database', () => {
  test('is as if all had come under the new scheme, whatever is stored while it is made', async () => {
    const settled = 1_600_000_000_000
    await fc.assert(
      fc.asyncProperty(
        steps,
        steps,
        steps,
        fc.boolean(),
        fc.boolean(),
        (first, second, third, lately, twice) =>
          inTemporaryDirectory(async (directory) => {
            const path = join(directory, 'test.db')
            const old = await open(path, oldRules)
            const writer = new Writer(old, lately ? Date.now() : settled)
            await writer.write(first)
            const interrupted = resignSqliteStore({
              ...optionsOf(path, newRules),
              onProgress: () => {
                throw new Interruption()
              },
            })
            await interrupted.catch((reason) => expect(reason).toBeInstanceOf(Interruption))
            const [outcome] = await Promise.all([
              resignSqliteStore(optionsOf(path, newRules)),
              writer.write(second),
            ])
            expect(outcome).toMatchObject({ state: 'ready', from: schemeOf(oldRules), oldName: null })
            await writer.write(third)
            if (twice) await resignSqliteStore(optionsOf(path, newRules))
            const before = await allOf(old)
            await old.close()
            await takeOverResigned(optionsOf(path, newRules))
            await expectResigned(path, before, writer.pages)
          }),
      ),
      { numRuns: 15, seed: 16 },
    )
  })

  test('keeps all numbers where no content differs under the new scheme alone', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const old = await open(path, oldRules)
      const writer = new Writer(old, 1_600_000_000_000)
      // Identical ones in one transaction, which have consecutive numbers, are three sets under the new scheme.
      const identical = [0, 1, 2].map((text) => ({ id: `same ${text}`, url: null, text: texts[text] ?? '' }))
      await old.write(identical.map((page) => putOf(oldRules, page, {})))
      for (const page of identical) writer.pages.set(page.id, page)
      await writer.write(Array.from({ length: 60 }, (_, i) => ({ id: i, text: i % 6, url: i % 4, note: 0 })))
      const before = await allOf(old)
      await old.close()
      const outcome = await resignSqliteStore(optionsOf(path, newRules))
      expect(outcome).toMatchObject({ state: 'done', documents: 63, leftOut: 0, oldName: 'test.db-old' })
      const after = await expectResigned(path, before, writer.pages)
      expect(after.map(({ number }) => number)).toEqual(before.map(({ number }) => number))
      expect(new Set(before.map(({ set }) => set)).size).toBeLessThan(
        new Set(after.map(({ set }) => set)).size,
      )
      const kept = await open(join(directory, 'test.db-old'), oldRules)
      expect(await allOf(kept)).toEqual(before)
      await kept.close()
    })
  })

  test('is not needed under the same scheme, and then nothing is made', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      await (await open(path, oldRules)).close()
      expect(await resignSqliteStore(optionsOf(path, oldRules))).toEqual({ state: 'not-needed' })
      expect(existsSync(`${path}-resign`)).toBe(false)
    })
  })
})

describe('A database of an older schema', () => {
  const pagesOf = (): Page[] =>
    texts.flatMap((text, i) => urls.map((url, j) => ({ id: `id ${i}.${j}`, url, text })))

  test('is re-signed without being migrated, as its program may be running', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const pages = pagesOf()
      makeOlderDatabase(
        path,
        'an older scheme',
        pages.map((page) => putOf(oldRules, page, {})),
      )
      const outcome = await resignSqliteStore(optionsOf(path, newRules))
      expect(outcome).toMatchObject({ state: 'done', from: 'an older scheme', documents: 24 })
      const kept = new Database(`${path}-old`)
      expect(kept.pragma('user_version', { simple: true })).toBe(1)
      kept.close()
      const store = await open(path, newRules)
      const records = await allOf(store)
      const other = await fresh(records, new Map(pages.map((page) => [page.id, page])))
      expect(records.map(({ id }) => id)).toEqual(pages.map(({ id }) => id))
      expect(await contentsOf(store, records)).toEqual(await contentsOf(other, await allOf(other)))
      await store.close()
      await other.close()
    })
  })

  test('is refused, and stays, where documents have no free number before theirs', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const same = ['a', 'b', 'c'].map((id) => putOf(oldRules, { id, url: null, text: 'the same text' }, {}))
      makeOlderDatabase(path, schemeOf(oldRules), same, 1)
      await expect(resignSqliteStore(optionsOf(path, newRules))).rejects.toMatchObject({
        code: 'resign_refused',
        message: expect.stringContaining('no free numbers'),
      })
      const store = await open(path, oldRules)
      expect(await allOf(store)).toHaveLength(3)
      await store.close()
    })
  })
})

describe('A re-signing that did not get to its end', () => {
  /** A document that has another content under the new scheme alone, and so a new number at the very end. */
  const withoutItsPlace = async (
    directory: string,
    body: (path: string, writer: Writer, old: Store) => Promise<void>,
  ) => {
    const path = join(directory, 'test.db')
    const old = await open(path, oldRules)
    const writer = new Writer(old, 1_600_000_000_000)
    await writer.write(Array.from({ length: 30 }, (_, i) => ({ id: i, text: i % 6, url: i % 4, note: 0 })))
    await resignSqliteStore(optionsOf(path, newRules))
    await writer.write([{ id: 6, text: 1, url: 2, note: 0 }])
    await body(path, writer, old)
  }
  const openElsewhere = (path: string): Database.Database => {
    const db = new Database(path, { readonly: true })
    db.prepare('SELECT count(*) FROM document').get()
    return db
  }

  test('goes on where another program had the database open', async () => {
    await inTemporaryDirectory((directory) =>
      withoutItsPlace(directory, async (path, writer, old) => {
        const before = await allOf(old)
        const other = openElsewhere(path)
        await old.close()
        await expect(takeOverResigned(optionsOf(path, newRules))).rejects.toMatchObject({
          code: 'resign_refused',
          message: expect.stringContaining('Another program has the database open'),
        })
        other.close()
        await takeOverResigned(optionsOf(path, newRules))
        const after = await expectResigned(path, before, writer.pages)
        expect(after.at(-1)?.id).toBe('id 6')
      }),
    )
  })

  test('is begun anew where a service has stored more after numbers were given', async () => {
    await inTemporaryDirectory((directory) =>
      withoutItsPlace(directory, async (path, writer, old) => {
        const other = openElsewhere(path)
        await old.close()
        await expect(takeOverResigned(optionsOf(path, newRules))).rejects.toThrow('Another program')
        other.close()
        const again = await open(path, oldRules)
        const rest = new Writer(again, 1_600_000_100_000)
        await rest.write([
          { id: 6, text: 3, url: 1, note: 1 },
          { id: 40, text: 4, url: 1, note: 1 },
          { id: 0, text: null, url: 0, note: 0 },
        ])
        const before = await allOf(again)
        await again.close()
        await takeOverResigned(optionsOf(path, newRules))
        const pages = new Map([...writer.pages, ...rest.pages])
        await expectResigned(path, before, pages)
      }),
    )
  })

  test('is not taken over by a start before it is ready', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const old = await open(path, oldRules)
      await new Writer(old, 1_600_000_000_000).write([{ id: 1, text: 0, url: 0, note: 0 }])
      const onProgress = () => {
        throw new Interruption()
      }
      await expect(resignSqliteStore({ ...optionsOf(path, newRules), onProgress })).rejects.toThrow(
        Interruption,
      )
      await old.close()
      await takeOverResigned(optionsOf(path, newRules))
      await expect(open(path, newRules)).rejects.toMatchObject({ code: 'scheme_mismatch' })
      await (await open(path, oldRules)).close()
    })
  })

  test('is refused under a third scheme, and by a start while it still runs', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const old = await open(path, oldRules)
      await resignSqliteStore(optionsOf(path, newRules))
      const third = { ...optionsOf(path, newRules), scheme: 'a third one' }
      await expect(resignSqliteStore(third)).rejects.toMatchObject({
        code: 'resign_refused',
        message: expect.stringMatching(/literal.*"a third one".*test\.db-resign/),
      })
      await old.close()
      const running = await open(`${path}-resign`, newRules)
      await expect(takeOverResigned(optionsOf(path, newRules))).rejects.toThrow('by another process')
      await running.close()
    })
  })
})

describe('Documents without a text', () => {
  const page = (id: string): Page => ({ id, url: null, text: `text of ${id} and so on` })

  test('are a reason to refuse, with their number', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const old = await open(path, oldRules)
      await old.write(
        ['a', 'b', 'c'].map((id) => putOf(oldRules, page(id), id === 'a' ? {} : { text: null })),
      )
      await old.close()
      await expect(resignSqliteStore(optionsOf(path, newRules))).rejects.toMatchObject({
        code: 'resign_refused',
        message: expect.stringMatching(/^Of 2 documents no text is kept.*--leave-out/),
      })
      await (await open(path, oldRules)).close()
    })
  })

  test('are left out where that is asked for, and counted; those that get a text meanwhile are not', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const old = await open(path, oldRules)
      const textless = { text: null }
      await old.write(
        ['a', 'b', 'c', 'd'].map((id) => putOf(oldRules, page(id), id === 'a' || id === 'c' ? {} : textless)),
      )
      const outcome = await resignSqliteStore({ ...optionsOf(path, newRules), leaveOut: true })
      expect(outcome).toMatchObject({ state: 'ready', documents: 2, leftOut: 2 })
      await old.write([
        putOf(oldRules, page('b'), { now: 1_600_000_000_001 }),
        putOf(oldRules, page('c'), { ...textless, now: 1_600_000_000_001 }),
      ])
      await old.close()
      await takeOverResigned(optionsOf(path, newRules))
      const store = await open(path, newRules)
      expect((await allOf(store)).map(({ id }) => id)).toEqual(['a', 'b'])
      await store.close()
    })
  })
})
