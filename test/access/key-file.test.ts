import { createHash } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addKey, type KeyRecord, readKeyFile, revokeKey } from '../../src/access/key-file.ts'
import { KeyRing } from '../../src/access/key-ring.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

let temporary: ReturnType<typeof temporaryDirectory>
let file: string
beforeEach(() => {
  temporary = temporaryDirectory()
  file = join(temporary.directory, 'keys.json')
})
afterEach(() => temporary.remove())

const news = { name: 'the crawler of news', collection: 'news' } as const
const record: KeyRecord = {
  id: 'a1',
  ...news,
  sha256: 'ab'.repeat(32),
  createdAt: '2026-12-01T00:00:00.000Z',
}
const write = (keys: readonly object[], version: unknown = 1): Promise<void> =>
  writeFile(file, JSON.stringify({ version, keys }))

describe('the file of keys', () => {
  test('gets the hash of a key that is made, never the key, and can be read by its owner only', async () => {
    const { id, key } = await addKey(file, { ...news, requestsPerMinute: 60 }, 0)
    expect(key).toMatch(/^dg_[\w-]{43}$/)
    const text = await readFile(file, 'utf8')
    expect(text).not.toContain(key.slice(3))
    expect(await readKeyFile(file)).toEqual([
      {
        ...news,
        id,
        sha256: createHash('sha256').update(key).digest('hex'),
        createdAt: '1970-01-01T00:00:00.000Z',
        requestsPerMinute: 60,
      },
    ])
    await writeFile(`${file}-new`, 'left behind', { mode: 0o644 })
    await addKey(file, news, 0)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('loses none of the keys that are made at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => addKey(file, news, 0)))
    expect((await readKeyFile(file)).map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort())
  })

  test('loses a key that is revoked, and that one only', async () => {
    const [first, second] = [await addKey(file, news, 0), await addKey(file, news, 0)]
    await revokeKey(file, first.id)
    expect((await readKeyFile(file)).map(({ id }) => id)).toEqual([second.id])
    await expect(revokeKey(file, first.id)).rejects.toThrow(/has no key with the id/)
  })

  test.each([
    ['no JSON', '{"version": 1, "keys": [', /is not JSON$/],
    ['a list', '[]', /is not a file of keys: at the top/],
    ['nothing', '', /is not JSON$/],
  ])('that is %s is refused by its name and is not written over', async (_, text, message) => {
    await writeFile(file, text)
    await expect(readKeyFile(file)).rejects.toThrow(message)
    await expect(readKeyFile(file)).rejects.toThrow(/^API_KEYS_FILE .*keys\.json /)
    await expect(addKey(file, news, 0)).rejects.toThrow(message)
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  test.each([
    ['a name of a collection that leads elsewhere', { ...record, collection: '../other' }],
    ['a name of a collection in capitals', { ...record, collection: 'News' }],
    ['a hash that is too short', { ...record, sha256: 'ab' }],
    ['a limit of 0', { ...record, requestsPerMinute: 0 }],
    ['a field that nobody knows', { ...record, requestPerMinute: 10 }],
    ['no collection', { ...record, collection: undefined }],
  ])('with %s is refused with the place', async (_, key) => {
    await write([record, { ...key, id: 'a2' }])
    await expect(readKeyFile(file)).rejects.toThrow(/is not a file of keys: at \/keys\/1/)
  })

  test('of another version, with a key twice, or that is missing is refused', async () => {
    await write([record], 2)
    await expect(readKeyFile(file)).rejects.toThrow(/at \/version/)
    await write([record, record])
    await expect(readKeyFile(file)).rejects.toThrow(/two keys of one id/)
    await write([record, { ...record, id: 'a2' }])
    await expect(readKeyFile(file)).rejects.toThrow(/two keys of one sha256/)
    await expect(readKeyFile(`${file}s`)).rejects.toThrow(/does not exist: make the first key/)
  })
})

describe('the keys in force', () => {
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await setTimeout(20)
  }

  test('are those of the file as it changes; while it is broken they stay, and the reason is told', async () => {
    const first = await addKey(file, news, 0)
    const counts: number[] = []
    const failures: unknown[] = []
    const ring = await KeyRing.open(file, {
      onChange: (count) => counts.push(count),
      onFailure: (reason) => failures.push(reason),
    })
    try {
      expect(ring.find(first.key)).toMatchObject({ id: first.id, collection: 'news' })
      expect([ring.find(`${first.key}x`), ring.find(first.key.toUpperCase()), ring.find('')]).toEqual([
        null,
        null,
        null,
      ])
      const second = await addKey(file, { name: 'another', collection: 'shop' }, 0)
      await until(() => ring.find(second.key) !== null)
      expect(ring.collections()).toEqual(['news', 'shop'])
      await revokeKey(file, first.id)
      await until(() => ring.find(first.key) === null)
      expect(ring.find(second.key)).toMatchObject({ id: second.id })
      await writeFile(file, '{')
      await until(() => failures.length > 0)
      expect(failures[0]).toMatchObject({ code: 'invalid_configuration' })
      expect(ring.find(second.key)).toMatchObject({ id: second.id })
      await write([])
      await until(() => ring.find(second.key) === null)
      expect(counts.at(-1)).toBe(0)
    } finally {
      ring.close()
    }
  }, 20_000)

  test('are none where the file is missing: opening it rejects, and nothing is told of changes', async () => {
    const told: unknown[] = []
    const events = { onChange: () => told.push('changed'), onFailure: (reason: unknown) => told.push(reason) }
    await expect(KeyRing.open(file, events)).rejects.toMatchObject({ code: 'invalid_configuration' })
    await setTimeout(50)
    expect(told).toEqual([])
  })
})
