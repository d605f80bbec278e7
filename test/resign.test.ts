import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { randomWords, seededRandom } from './fixture/pages.ts'
import { type Server, startServer } from './fixture/server.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

let directory: string
let databaseUrl: string
const servers: Server[] = []
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dittograph-resign-'))
  databaseUrl = `sqlite:${join(directory, 'main.db')}`
})
afterEach(async () => {
  for (const server of servers.splice(0)) if (server.process.exitCode === null) await server.stop('SIGKILL')
  await rm(directory, { recursive: true })
})

const serve = async (environment: Record<string, string>): Promise<Server> => {
  const server = await startServer({ DATABASE_URL: databaseUrl, ...environment })
  servers.push(server)
  return server
}
const literal = { TOKENIZER: 'literal', SITE_RULE: 'dots' }
const environment = () => ({ ...process.env, DATABASE_URL: databaseUrl, ...literal })
const resign = (...args: string[]) =>
  promisify(execFile)(process.execPath, [main, 'resign', ...args], { env: environment() })

/** Runs the command and kills it after a while; gives its exit code, null where it was killed. */
const resignAndKill = async (afterMs: number): Promise<number | null> => {
  const child = spawn(process.execPath, [main, 'resign'], { env: environment(), stdio: 'ignore' })
  const exited = once(child, 'exit')
  await Promise.race([exited, setTimeout(afterMs)])
  child.kill('SIGKILL')
  const [code] = await exited
  return code
}

type Page = {
  readonly id: string
  readonly url: string
  readonly text: string
  readonly metadata: { n: number }
}

const random = seededRandom(16)
const originals = Array.from({ length: 40 }, () => randomWords(random, 60))
/** Every third is equal to another one but for its case, of which the tokenizers think differently. */
const pageOf = (n: number): Page => {
  const text = (originals[n % 40] ?? []).slice(0, 30 + (n % 7)).join(' ')
  const url = `https://host${n % 5}.example.co.uk/${n}`
  return { id: `page ${n}`, url, text: n % 3 === 0 ? text.toUpperCase() : text, metadata: { n } }
}

const post = async (server: Server, pages: readonly Page[]): Promise<void> => {
  const response = await fetch(`${server.url}/documents`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: pages.map((page) => JSON.stringify(page)).join('\n'),
  })
  await response.text()
  expect(response.status).toBe(200)
}

type Listed = { id: string; createdAt: string; updatedAt: string }

const all = async (server: Server): Promise<Listed[]> => {
  const documents: Listed[] = []
  for (let cursor = ''; ; ) {
    const response = await fetch(`${server.url}/documents?limit=1000${cursor}`)
    const page = (await response.json()) as { documents: Listed[]; nextCursor: string | null }
    documents.push(...page.documents)
    if (page.nextCursor === null) return documents
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
  }
}

const withoutTimes = (documents: readonly Listed[]) =>
  documents.map(({ createdAt: _, updatedAt: __, ...document }) => document)

describe('dittograph resign', () => {
  test('re-signs a database that is served and written to, however often it is killed, and the next start takes it over', async () => {
    const pages = new Map<string, Page>()
    const store = async (server: Server, from: number, count: number): Promise<void> => {
      const batch = Array.from({ length: count }, (_, i) => pageOf(from + i))
      for (const page of batch) pages.set(page.id, page)
      await post(server, batch)
    }
    const old = await serve({})
    await store(old, 0, 3000)
    for (let round = 0; (await resignAndKill(500 * 2 ** round)) !== 0; round++) {
      await store(old, 3000 + 50 * round, 50)
      await store(old, 20 * round, 10)
      for (const n of [3, 4, 5]) {
        await fetch(`${old.url}/documents/${encodeURIComponent(`page ${100 * round + n}`)}`, {
          method: 'DELETE',
        })
        pages.delete(`page ${100 * round + n}`)
      }
      expect((await all(old)).length).toBe(pages.size)
    }
    await store(old, 9000, 100)
    const before = await all(old)
    await old.stop()
    for (const ms of [150, 400]) {
      const starting = spawn(process.execPath, [main, 'serve'], {
        env: { ...environment(), PORT: '0' },
        stdio: 'ignore',
      })
      await setTimeout(ms)
      starting.kill('SIGKILL')
      await once(starting, 'exit')
    }
    const resigned = await serve(literal)
    const documents = await all(resigned)
    expect(documents.map(({ id, createdAt, updatedAt }) => [id, createdAt, updatedAt])).toEqual(
      before.map(({ id, createdAt, updatedAt }) => [id, createdAt, updatedAt]),
    )
    const other = await serve({ ...literal, DATABASE_URL: `sqlite:${join(directory, 'other.db')}` })
    await post(
      other,
      documents.map(({ id }) => pages.get(id) as Page),
    )
    expect(withoutTimes(documents)).toEqual(withoutTimes(await all(other)))
    for (const n of [1, 12, 9003]) {
      const path = `/documents/${encodeURIComponent(`page ${n}`)}/duplicates?limit=1000`
      const [found, expected] = await Promise.all(
        [resigned, other].map(async ({ url }) => (await fetch(url + path)).json()),
      )
      expect((found as { duplicates?: unknown[] }).duplicates?.length).toBeGreaterThan(0)
      expect(found).toEqual(expected)
    }
  }, 180_000)

  test('of a database that nobody serves puts the new one in its place, and says what is kept', async () => {
    const old = await serve({})
    await post(old, [pageOf(1), pageOf(2)])
    await old.stop()
    expect((await resign()).stdout).toMatch(/^Re-signed: 2 documents\. Start.*main\.db-old/)
    expect((await resign()).stdout).toMatch(/nothing to do/)
    await expect(serve({})).rejects.toThrow(/literal\/.*practical\/.*dittograph resign/s)
    expect(await all(await serve(literal))).toHaveLength(2)
    expect(await readdir(directory)).not.toContain('main.db-resign')
  })

  test('fails with exit code 1 where there is no database, and makes none', async () => {
    await expect(resign()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such database'),
    })
    expect(await readdir(directory)).toEqual([])
  })

  test('of a collection leaves the others alone', async () => {
    const directoryOf = join(directory, 'main.db-collections')
    const collection = { DATABASE_URL: `sqlite:${join(directoryOf, 'news.db')}` }
    for (const one of [{}, collection]) {
      const server = await serve(one)
      await post(server, [pageOf(1)])
      await server.stop()
    }
    await resign('--collection', 'news', '--discard-old')
    expect(await readdir(directoryOf)).not.toContain('news.db-old')
    await (await serve({ ...literal, ...collection })).stop()
    await (await serve({})).stop()
  })
})
