import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { configOfCollection, openServices } from '../../src/compose.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { OpenCollections } from '../../src/engine/open-collections.ts'
import type { Services } from '../../src/service/service.ts'
import { textInput } from '../fixture/services.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

let temporary: ReturnType<typeof temporaryDirectory>
let config: Config
let opened: string[]
let collections: OpenCollections
beforeEach(() => {
  temporary = temporaryDirectory()
  config = loadConfig({ DATABASE_URL: `sqlite:${join(temporary.directory, 'main.db')}` })
  opened = []
  collections = openTwo()
})
afterEach(async () => {
  await collections.close()
  temporary.remove()
})

const openTwo = (ofCollection = (name: string) => configOfCollection(config, name)): OpenCollections =>
  new OpenCollections({
    limit: 2,
    open: (name) => {
      opened.push(name)
      return openServices(ofCollection(name))
    },
  })

const store = (name: string, id: string) =>
  collections.use(name, ({ documents }) => documents.store([textInput(id, 'the same words')], null))
const idsIn = (name: string): Promise<string[]> =>
  collections.use(name, async ({ documents }) =>
    (await documents.list({ limit: 100, cursor: null })).documents.map(({ id }) => id),
  )
/** A call that lasts until the returned function is called. */
const hold = (name: string): (() => Promise<void>) => {
  let release = () => {}
  const called = collections.use(
    name,
    () =>
      new Promise<void>((resolve) => {
        release = resolve
      }),
  )
  return () => {
    release()
    return called
  }
}
const touch = async (_: Services): Promise<void> => undefined

describe('open collections', () => {
  test('share no document, and each finds its own again after it was closed for another', async () => {
    const names = ['a', 'b', 'c', 'default']
    for (const round of ['first', 'second']) for (const name of names) await store(name, `${name} ${round}`)
    expect(opened).toEqual([...names, ...names])
    for (const name of names) expect(await idsIn(name)).toEqual([`${name} first`, `${name} second`])
  })

  test('are opened once for many calls at a time', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, i) => store('a', `${i}`)))
    expect(opened).toEqual(['a'])
    expect(await idsIn('a')).toHaveLength(50)
  })

  test('make room by closing the one that was used least lately', async () => {
    for (const name of ['a', 'b', 'a', 'c', 'a']) await collections.use(name, touch)
    expect(opened).toEqual(['a', 'b', 'c'])
  })

  test('are not closed while a call is under way: another one is, or the next is refused as overload', async () => {
    await collections.use('a', touch)
    await collections.use('b', touch)
    const releaseA = hold('a')
    await collections.use('c', touch)
    expect(await idsIn('a')).toEqual([])
    const releaseC = hold('c')
    await expect(collections.use('d', touch)).rejects.toMatchObject({ code: 'overloaded' })
    await Promise.all([releaseA(), releaseC()])
    await collections.use('d', touch)
    expect(opened).toEqual(['a', 'b', 'c', 'd'])
  })

  test('that are in memory only are never closed for another', async () => {
    config = loadConfig({ DATABASE_URL: 'sqlite::memory:' })
    await store('a', 'x')
    await store('b', 'y')
    await expect(store('c', 'z')).rejects.toMatchObject({ code: 'overloaded' })
    expect([await idsIn('a'), await idsIn('b')]).toEqual([['x'], ['y']])
  })

  test('one that cannot be opened says why, and is tried anew the next time', async () => {
    let isBroken = true
    collections = openTwo((name) =>
      name === 'a' && isBroken ? loadConfig({ DATABASE_URL: 'sqlite:/' }) : configOfCollection(config, name),
    )
    await expect(store('a', 'x')).rejects.toMatchObject({ kind: 'refused-at-start' })
    await store('b', 'y')
    isBroken = false
    await store('a', 'x')
    expect([await idsIn('a'), await idsIn('b')]).toEqual([['x'], ['y']])
  })

  test('that take turns faster than they can be closed lose nothing', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const stored: string[] = []
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const name = names[i % names.length] ?? ''
        for (;;) {
          const outcome = await store(name, `${i}`).catch((error) => error)
          if (!(outcome instanceof Error)) break
          expect(outcome).toMatchObject({ code: 'overloaded' })
          await new Promise((resolve) => setTimeout(resolve, 1 + (i % 7)))
        }
        stored.push(`${name} ${i}`)
      }),
    )
    const found: string[] = []
    for (const name of names) found.push(...(await idsIn(name)).map((id) => `${name} ${id}`))
    expect(found.sort()).toEqual(stored.sort())
    expect(opened.length).toBeGreaterThan(names.length)
  })

  test('are not opened again once all were closed, after the calls under way', async () => {
    const stored = store('a', 'x')
    await collections.close()
    expect(await stored).toMatchObject([{ id: 'x' }])
    await expect(store('a', 'y')).rejects.toMatchObject({ code: 'store_busy' })
    expect(opened).toEqual(['a'])
  })

  test('have files in a directory beside the database, and refuse a name that leads elsewhere', () => {
    const main = join(temporary.directory, 'main.db')
    expect(configOfCollection(config, 'default').DATABASE_URL).toBe(`sqlite:${main}`)
    expect(configOfCollection(config, 'news_1-x').DATABASE_URL).toBe(`sqlite:${main}-collections/news_1-x.db`)
    for (const name of ['..', '../x', 'a/b', 'a.db', '', '-a', 'A', 'é', 'a\0', 'a\n', 'a'.repeat(64)])
      expect(() => configOfCollection(config, name), JSON.stringify(name)).toThrow(/not allowed/)
  })
})
