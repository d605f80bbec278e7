import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openServices } from '../src/compose.ts'
import { loadConfig } from '../src/config.ts'
import { hashSeedOf } from '../src/hash-seed.ts'
import { htmlPage, randomWords, seededRandom } from './fixture/pages.ts'
import { options, storeAll } from './fixture/services.ts'
import { temporaryDirectory } from './store/sqlite/temporary.ts'

const secret = 'a seed that nobody knows'
const page = htmlPage('Kettle', randomWords(seededRandom(1), 300))
const input = (id: string) =>
  ({
    id,
    page: { url: null, content: { kind: 'html', characters: page } },
    fetchedAt: null,
    metadata: null,
  }) as const

let directory: string
let remove: () => void
beforeEach(() => {
  const temporary = temporaryDirectory()
  directory = temporary.directory
  remove = temporary.remove
})
afterEach(() => remove())

const open = (seed: string | null) =>
  openServices(
    loadConfig({
      DATABASE_URL: `sqlite:${join(directory, 'seed.db')}`,
      ...(seed === null ? {} : { HASH_SEED: seed }),
    }),
  )

describe('a database that was filled under a secret seed', () => {
  test('is opened under the same seed only, and holds nothing of it but a check value', async () => {
    const first = await open(secret)
    await storeAll(first, [input('a')])
    await first.close()
    for (const other of ['a seed that nobody knowz', null])
      await expect(open(other)).rejects.toMatchObject({
        code: 'scheme_mismatch',
        message: expect.stringContaining('HASH_SEED'),
      })
    const again = await open(secret)
    await storeAll(again, [input('b')])
    const { duplicates } = await again.services.nearDuplicates.ofDocument(
      'a',
      options({ minResemblance: 0.5 }),
    )
    expect(duplicates).toEqual([expect.objectContaining({ id: 'b', resemblance: 1 })])
    await again.close()
    const key = Buffer.from(hashSeedOf(secret).key.buffer)
    for (const file of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      const bytes = readFileSync(join(file.parentPath, file.name))
      expect([file.name, bytes.includes(secret), bytes.includes(key)]).toEqual([file.name, false, false])
    }
  })

  test('and one that was filled without is refused under a seed', async () => {
    await (await open(null)).close()
    await expect(open(secret)).rejects.toMatchObject({ code: 'scheme_mismatch' })
  })

  test('has other signatures than under another seed', async () => {
    const signatures = []
    for (const seed of [secret, 'another seed of some length', null]) {
      const { services, close } = await openServices(
        loadConfig({ DATABASE_URL: 'sqlite::memory:', ...(seed === null ? {} : { HASH_SEED: seed }) }),
      )
      const { contentHash, supershingles, simhash } = await services.comparison.analyze(input('a').page)
      await services.documents.store([input('a')], null)
      expect(await services.documents.get('a')).toMatchObject({ contentHash, supershingles, simhash })
      signatures.push(contentHash, simhash, ...(supershingles ?? []))
      await close()
    }
    expect(new Set(signatures).size).toBe(signatures.length)
  })
})

test('a seed of fewer than 16 characters is refused, and not repeated', () => {
  expect(() => hashSeedOf('short secret')).toThrow(/^HASH_SEED must have 16 or more characters$/)
})
