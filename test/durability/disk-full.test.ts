import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { randomWords, seededRandom } from '../fixture/pages.ts'
import { type Server, startServer } from '../fixture/server.ts'
import { inTemporaryDirectory } from '../store/sqlite/temporary.ts'

/** A way to leave a running service without room for its files, and to give it room again. */
type Shortage = {
  readonly name: string
  readonly isPossible: boolean
  /** Before the service is started; returns how to undo it. */
  readonly prepare: (directory: string) => () => void
  readonly begin: (server: Server, directory: string) => void
  /** Takes what room there may be, while the service does not run. */
  readonly fill: (directory: string) => void
  readonly end: (server: Server, directory: string) => void
}

const mebibyte = 2 ** 20

/** What a quota does to large files; small ones, as that of the records of jobs, can still be written. */
const limitOnFiles: Shortage = {
  name: 'no file may grow beyond a limit',
  isPossible: process.platform === 'linux',
  prepare: () => () => undefined,
  begin: ({ process: { pid } }) =>
    execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${2 * mebibyte}:unlimited`]),
  fill: () => undefined,
  end: ({ process: { pid } }) => execFileSync('prlimit', [`--pid=${pid}`, '--fsize=unlimited:unlimited']),
}

/** ENOSPC for whatever file; only root may mount. */
const smallFileSystem: Shortage = {
  name: 'the file system is full',
  isPossible: process.platform === 'linux' && process.geteuid?.() === 0,
  prepare: (directory) => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${4 * mebibyte}`, 'tmpfs', directory])
    return () => execFileSync('umount', [directory])
  },
  begin: () => undefined,
  fill: (directory) => {
    const filler = openSync(join(directory, 'filler'), 'w')
    try {
      for (;;) writeSync(filler, Buffer.alloc(4096))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
    closeSync(filler)
  },
  end: (_, directory) => execFileSync('mount', ['-o', `remount,size=${64 * mebibyte}`, directory]),
}

const random = seededRandom(5)
const textOf = new Map<string, string>()

const post = (url: string, id: string): Promise<Response> => {
  const text = textOf.get(id) ?? randomWords(random, 4000).join(' ')
  textOf.set(id, text)
  return fetch(`${url}/documents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, text }),
  })
}

const expectFull = async (response: Response): Promise<void> => {
  expect(response.status).toBe(507)
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(await response.json()).toMatchObject({ code: 'store_full', status: 507 })
}

const expectReadable = async (url: string, ids: readonly string[]): Promise<void> => {
  for (const id of ids) {
    expect((await fetch(`${url}/documents/${id}`)).status).toBe(200)
    expect(await (await fetch(`${url}/documents/${id}/text`)).text()).toBe(textOf.get(id))
  }
  const list = await (await fetch(`${url}/documents?limit=1000`)).json()
  expect(Reflect.get(Object(list), 'documents').map(({ id }: { id: string }) => id)).toEqual(ids)
  for (const algorithm of ['shingling', 'simhash', 'combined', 'site-aware', 'identical', 'jaccard']) {
    const id = ids.at(-1) ?? ''
    const answer = await fetch(`${url}/duplicates?algorithm=${algorithm}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: textOf.get(id) }),
    })
    expect(await answer.json()).toMatchObject({ duplicates: [{ id }] })
  }
}

const startJob = (url: string): Promise<Response> =>
  fetch(`${url}/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'join', algorithm: 'simhash' }),
  })

const ended = async (url: string, response: Response): Promise<unknown> => {
  expect(response.status).toBe(202)
  const location = response.headers.get('location')
  for (;;) {
    const job = (await (await fetch(`${url}${location}`)).json()) as { state: string }
    if (job.state !== 'queued' && job.state !== 'running') return job
    await wait(20)
  }
}

describe('A service without room on its disk', () => {
  for (const { name, isPossible, prepare, begin, fill, end } of [limitOnFiles, smallFileSystem])
    test.runIf(isPossible)(
      `reads on, refuses writes with 507, and stores again when there is room: ${name}`,
      async () => {
        await inTemporaryDirectory(async (directory) => {
          const undo = prepare(directory)
          const environment = { DATABASE_URL: `sqlite:${join(directory, 'test.db')}` }
          let server = await startServer(environment)
          try {
            begin(server, directory)
            const ids: string[] = []
            let response = await post(server.url, 'n0')
            for (; response.ok; response = await post(server.url, `n${ids.length}`))
              ids.push(`n${ids.length}`)
            expect(ids.length).toBeGreaterThan(10)
            await expectFull(response)
            const batch = await fetch(`${server.url}/documents`, {
              method: 'POST',
              headers: { 'content-type': 'application/x-ndjson' },
              body: ['x', 'y'].map((id) => JSON.stringify({ id, text: textOf.get('n0') })).join('\n'),
            })
            expect(await batch.text()).toMatch(/"code":"store_full".*\n.*"code":"store_full".*\n.*"failed":2/)
            await expectReadable(server.url, ids)
            expect((await fetch(`${server.url}/health/live`)).status).toBe(200)

            // What is left of the log takes a few small writes yet.
            const isReady = async () => (await fetch(`${server.url}/health/ready`)).status !== 507
            for (let checks = 0; checks < 500 && (await isReady()); checks++);
            expect(await isReady()).toBe(false)

            // A start reads on as well.
            await server.stop('SIGKILL')
            fill(directory)
            server = await startServer(environment)
            begin(server, directory)
            await expectReadable(server.url, ids)
            await expectFull(await post(server.url, 'z'))
            const job = await startJob(server.url)
            if (job.ok) await ended(server.url, job)
            else await expectFull(job)

            end(server, directory)
            for (const id of ['z', 'x', 'y']) {
              expect((await post(server.url, id)).status).toBe(201)
              ids.push(id)
            }
            await expectReadable(server.url, ids)
            expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
            expect(await ended(server.url, await startJob(server.url))).toMatchObject({ state: 'succeeded' })
            expect((await fetch(`${server.url}/documents/n0`, { method: 'DELETE' })).status).toBe(204)
            expect(await server.stop('SIGTERM')).toBe(0)
          } finally {
            if (server.process.exitCode === null) await server.stop('SIGKILL')
            undo()
          }
        })
      },
    )
})
