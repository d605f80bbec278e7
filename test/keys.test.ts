import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addKey } from '../src/access/key-file.ts'
import { type Server, startServer } from './fixture/server.ts'
import { temporaryDirectory } from './store/sqlite/temporary.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const execute = promisify(execFile)

let temporary: ReturnType<typeof temporaryDirectory>
let environment: Record<string, string>
let server: Server | null
beforeEach(() => {
  temporary = temporaryDirectory()
  environment = {
    DATABASE_URL: `sqlite:${join(temporary.directory, 'main.db')}`,
    API_KEYS_FILE: join(temporary.directory, 'keys.json'),
  }
  server = null
})
afterEach(async () => {
  if (server?.process.exitCode === null) await server.stop('SIGKILL')
  temporary.remove()
})

/** Runs the built program to its end; rejects, with `stderr`, where the exit code is not 0. */
const dittograph = async (args: readonly string[], more: Record<string, string> = {}): Promise<string> =>
  (await execute(process.execPath, [main, ...args], { env: { ...process.env, ...environment, ...more } }))
    .stdout

const addByCommand = async (collection: string, ...more: readonly string[]): Promise<string> =>
  (
    await dittograph(['keys', 'add', '--collection', collection, '--name', `of ${collection}`, ...more])
  ).trimEnd()

const keyOf = async (collection: string): Promise<string> =>
  (await addKey(environment.API_KEYS_FILE ?? '', { name: 'test', collection }, 0)).key

const start = async (more: Record<string, string> = {}): Promise<Server> => {
  server = await startServer({ ...environment, ...more })
  return server
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const storedIds = async ({ url }: Server, key: string): Promise<string[]> => {
  const answer = await fetch(`${url}/documents`, { headers: bearer(key) })
  const { documents } = (await answer.json()) as { documents: { id: string }[] }
  return documents.map(({ id }) => id)
}

describe('dittograph keys', () => {
  test('adds keys that are printed once, lists them without, and revokes them', async () => {
    const key = await addByCommand('news', '--requests-per-minute', '60')
    expect(key).toMatch(/^dg_[\w-]{43}$/)
    await addByCommand('shop')
    const list = await dittograph(['keys', 'list'])
    expect(list).toMatch(
      /^ID +COLLECTION +CREATED +REQUESTS A MINUTE +NAME\n\w{12} +news +\S+Z +60 +of news\n\w{12} +shop +\S+Z +- +of shop\n$/,
    )
    expect(list).not.toContain(key)
    const id = /^(\w+) +news/m.exec(list)?.[1] ?? ''
    await dittograph(['keys', 'revoke', id])
    expect(await dittograph(['keys', 'list'])).not.toContain('news')
    await expect(dittograph(['keys', 'revoke', id])).rejects.toThrow(/has no key with the id/)
  })

  test('loses no key that several processes add at once', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => addByCommand(name)))
    const { keys } = JSON.parse(await readFile(environment.API_KEYS_FILE ?? '', 'utf8'))
    expect(keys.map(({ collection }: { collection: string }) => collection).sort()).toEqual([
      'a',
      'b',
      'c',
      'd',
    ])
  })

  test.each([
    [['add', '--collection', '../x', '--name', 'x'], /argument '\.\.\/x' is invalid/],
    [['add', '--collection', 'x', '--name', 'x', '--requests-per-minute', '0'], /whole number from 1/],
    [['list'], /API_KEYS_FILE .*keys\.json does not exist/],
  ])('%j is refused with what is allowed', async (args, message) => {
    await expect(dittograph(['keys', ...args])).rejects.toThrow(message)
  })

  test('a file that cannot be written, or none, is refused without a trace', async () => {
    const nowhere = { API_KEYS_FILE: join(temporary.directory, 'none', 'keys.json') }
    const add = ['keys', 'add', '--collection', 'x', '--name', 'x']
    await expect(dittograph(add, nowhere)).rejects.toThrow(/API_KEYS_FILE .* cannot be changed: [^\n]*\n$/)
    await expect(dittograph(add, { API_KEYS_FILE: '' })).rejects.toThrow(/API_KEYS_FILE must name a file/)
    expect(existsSync('-new')).toBe(false)
  })
})

describe('the built service with keys', () => {
  test('does not start with a file that is missing or broken, and names it', async () => {
    await expect(start()).rejects.toThrow(
      /ended with code 1:\nThe configuration is not valid: API_KEYS_FILE \S+ does not exist[^\n]*\n$/,
    )
    await writeFile(environment.API_KEYS_FILE ?? '', '{"keys": "all"}')
    await expect(start()).rejects.toThrow(
      /ended with code 1:\n[^\n]*API_KEYS_FILE \S+ is not a file of keys[^\n]*\n$/,
    )
  })

  test('does not start where a collection cannot be opened, and names it', async () => {
    await keyOf('good')
    await keyOf('bad')
    await (await start()).stop()
    await writeFile(join(temporary.directory, 'main.db-collections', 'bad.db'), 'something else')
    await expect(start()).rejects.toThrow(/ended with code 1:\n[^\n]*Collection "bad": [^\n]*\n$/)
  })

  test('writes neither keys nor page content to its log, whatever goes wrong', async () => {
    const key = await keyOf('news')
    const { url, process: child } = await start({ LOG_LEVEL: 'trace' })
    let log = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        log += chunk
      })
    const page = 'quixotic kettle'
    const requests: [string, string, string][] = [
      ['POST', '/documents', JSON.stringify({ id: `id of ${page}`, text: page, metadata: { page } })],
      ['POST', '/documents', `{"text": "${page}`],
      ['POST', '/documents', JSON.stringify({ text: page, [page]: page })],
      ['POST', '/documents', JSON.stringify({ html: `<p>${page}`, url: `no url ${page}` })],
      ['POST', '/duplicates', JSON.stringify({ text: page })],
      ['POST', `/nothing?text=${encodeURIComponent(page)}`, page],
      ['POST', '/documents?%zz', page],
    ]
    for (const [method, path, body] of requests)
      for (const token of [key, `${key}x`])
        for (const type of ['application/json', 'application/x-ndjson', 'text/html'])
          await fetch(url + path, { method, headers: { ...bearer(token), 'content-type': type }, body })
    await fetch(`${url}/docs/`, {
      headers: { authorization: `Basic ${Buffer.from(`x:${key}`).toString('base64')}` },
    })
    await server?.stop()
    expect(log.split('A request was answered').length).toBeGreaterThan(20)
    expect(log).not.toContain(key.slice(3))
    expect(log).not.toContain(Buffer.from(`x:${key}`).toString('base64').slice(0, 40))
    expect(log).not.toMatch(/quixotic|kettle/)
  })

  test('takes what ingest sends with a key, from the environment or a file, and nothing without', async () => {
    const [news, shop] = [await keyOf('news'), await keyOf('shop')]
    const running = await start()
    const pages = join(temporary.directory, 'pages.ndjson')
    await writeFile(pages, '{"id": "one", "text": "some words"}\n')
    const keyFile = join(temporary.directory, 'shop.key')
    await writeFile(keyFile, `${shop}\n`)
    const ingest = ['ingest', '--url', running.url, pages]
    await expect(dittograph(ingest)).rejects.toThrow(/needs an API key that it knows/)
    await dittograph(ingest, { DITTOGRAPH_API_KEY: news })
    expect([await storedIds(running, news), await storedIds(running, shop)]).toEqual([['one'], []])
    await dittograph([...ingest, '--api-key-file', keyFile])
    expect(await storedIds(running, shop)).toEqual(['one'])
    await expect(dittograph([...ingest, '--collection', 'news'])).rejects.toThrow(
      /--collection is for the database/,
    )
  })

  test('finds in a collection what ingest stored in it, and in the one called default what was there without keys', async () => {
    const pages = join(temporary.directory, 'pages.ndjson')
    await writeFile(pages, '{"id": "one", "text": "some words"}\n')
    await dittograph(['ingest', '--collection', 'news', pages])
    const open = await startServer({ DATABASE_URL: environment.DATABASE_URL ?? '' })
    const body = JSON.stringify({ id: 'two', text: 'other words' })
    await fetch(`${open.url}/documents`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    await open.stop()
    const [ofNews, ofDefault] = [await keyOf('news'), await keyOf('default')]
    const running = await start()
    expect([await storedIds(running, ofNews), await storedIds(running, ofDefault)]).toEqual([
      ['one'],
      ['two'],
    ])
  })
})
