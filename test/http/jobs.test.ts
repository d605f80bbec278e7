import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServices } from '../../src/compose.ts'
import { buildApp } from '../../src/http/app.ts'
import type { JobView, PairItem } from '../../src/service/job-service.ts'
import { ended, openInDirectory } from '../fixture/jobs.ts'
import { only, storeAll, textInput } from '../fixture/services.ts'
import { fillSlowCollection } from '../fixture/slow-collection.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'
import { listen } from './fixture.ts'

const { directory, remove } = temporaryDirectory()
let running: RunningServices
let app: FastifyInstance
let port: number
const documents = 120
const appOptions = {
  bodyLimitBytes: 64 * 1024,
  requestTimeoutMs: 60_000,
  exactMinThreshold: 0.5,
  keys: null,
  logger: false,
  version: '0.0.0',
} as const
beforeAll(async () => {
  await fillSlowCollection(join(directory, 'test.db'))
  running = await openInDirectory(directory)
  await storeAll(
    running,
    Array.from({ length: documents }, (_, i) => textInput(`page-${i}`, 'the same words on every page')),
  )
  app = await buildApp(only(running.services), appOptions)
  port = await listen(app)
}, 60_000)
afterAll(async () => {
  await app.close()
  await running.close()
  remove()
})

const post = (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  app.inject({ method: 'POST', url: '/jobs', headers, payload: JSON.stringify(body) })

const finished = async (body: unknown): Promise<JobView> => {
  const { id } = (await post(body)).json()
  return ended(running, id)
}

const slow = { kind: 'join', algorithm: 'simhash' }
const quick = { kind: 'join', algorithm: 'identical' }

describe('POST /jobs', () => {
  test('answers 202 with the place of the job, 200 where it is queued or running already', async () => {
    const first = await post(slow)
    expect([first.statusCode, first.headers.location]).toEqual([202, `/jobs/${first.json().id}`])
    expect(first.json().request).toEqual({
      ...slow,
      thresholds: { minSupershingles: 2, minAgreeingBits: 372, combinedMinAgreeingBits: 355 },
      minResemblance: null,
      exact: null,
      site: 'any',
    })
    const second = await post({ ...slow, minAgreeingBits: 372, site: 'any' })
    expect([second.statusCode, second.headers.location]).toEqual([200, first.headers.location])
    const deleted = await app.inject({ method: 'DELETE', url: String(first.headers.location) })
    expect(deleted.statusCode).toBe(204)
  })

  test.each([
    ['no kind', {}, 400, '/kind'],
    ['an unknown kind', { kind: 'sort' }, 400, '/kind'],
    ['no object', 'join', 400, ''],
    ['an unknown option', { ...quick, order: 'id' }, 400, '/order'],
    ['an option that the algorithm does not use', { ...slow, minSupershingles: 2 }, 400, '/minSupershingles'],
    ['an option out of range', { ...slow, minAgreeingBits: 385 }, 400, '/minAgreeingBits'],
    ['an algorithm that is none', { kind: 'join', algorithm: 'x' }, 400, '/algorithm'],
    [
      'a threshold below the least',
      { kind: 'join', algorithm: 'jaccard', threshold: 0.1 },
      400,
      '/threshold',
    ],
    ['clusters of nothing', { kind: 'clusters' }, 400, '/job'],
    ['clusters of an unknown job', { kind: 'clusters', job: 'none' }, 404, undefined],
    ['an unknown linkage', { kind: 'clusters', job: 'a', linkage: 'single' }, 400, '/linkage'],
    [
      'a policy with a repetition',
      { kind: 'clusters', job: 'a', policy: ['https', 'https'] },
      400,
      '/policy',
    ],
  ])('refuses %s', async (_name, body, status, pointer) => {
    const answer = await post(body)
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expect(answer.json().errors?.[0].pointer).toBe(pointer)
  })

  test('refuses what is not JSON', async () => {
    expect((await post(quick, { 'content-type': 'text/plain' })).statusCode).toBe(415)
  })
})

describe('GET /jobs', () => {
  test('lists jobs, and an unknown one is a 404', async () => {
    const job = await finished(quick)
    const list = await app.inject('/jobs?limit=1')
    expect(list.json().jobs).toEqual([job])
    expect((await app.inject(`/jobs/${job.id}`)).json()).toEqual(job)
    for (const path of ['/jobs/none', '/jobs/none/pairs', '/jobs/none/clusters', '/jobs/none/events'])
      expect([path, (await app.inject(path)).json().code]).toEqual([path, 'job_not_found'])
  })
})

describe('GET /jobs/{id}/pairs', () => {
  test('gives pages, and with Accept: application/x-ndjson all pairs as lines', async () => {
    const { id } = await finished(quick)
    const paged: PairItem[] = []
    let cursor = ''
    do {
      const { pairs, nextCursor } = (await app.inject(`/jobs/${id}/pairs?limit=1000${cursor}`)).json()
      paged.push(...pairs)
      cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`
    } while (cursor !== '')
    expect(paged.length).toBe((documents * (documents - 1)) / 2)
    for (const { a, b } of paged) expect(a < b).toBe(true)
    const lines = await app.inject({
      url: `/jobs/${id}/pairs`,
      headers: { accept: 'application/x-ndjson;q=0.9, */*' },
    })
    expect(lines.headers['content-type']).toBe('application/x-ndjson')
    expect(
      lines.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(paged)
  })

  test('reads no further than the client does', async () => {
    const { id } = await finished(quick)
    const { jobs } = running.services
    let pages = 0
    const counting = await buildApp(
      only({
        ...running.services,
        jobs: {
          create: (body) => jobs.create(body),
          get: (job) => jobs.get(job),
          list: (query) => jobs.list(query),
          delete: (job) => jobs.delete(job),
          clusters: (job, query) => jobs.clusters(job, query),
          // The same pairs over and over: a result without an end.
          pairs: async (job) => {
            pages++
            const { pairs } = await jobs.pairs(job, { limit: 1000, cursor: null })
            return { pairs, nextCursor: 'more' }
          },
        },
      }),
      appOptions,
    )
    const outgoing = request({
      port: await listen(counting),
      path: `/jobs/${id}/pairs`,
      headers: { accept: 'application/x-ndjson' },
    })
    outgoing.end()
    const [answer] = await once(outgoing, 'response')
    answer.pause()
    let before = -1
    while (before !== pages) {
      before = pages
      await setTimeout(300)
    }
    expect(pages).toBeGreaterThan(1)
    expect(pages).toBeLessThan(500)
    outgoing.destroy()
    await counting.close()
  })

  test('is a 409 while the job is running, after it was cancelled, and for clusters', async () => {
    const { id } = (await post(slow)).json()
    const early = await app.inject(`/jobs/${id}/pairs`)
    expect([early.statusCode, early.json().code]).toEqual([409, 'job_has_no_result'])
    expect(early.json().detail).toContain('running')
    await app.inject({ method: 'DELETE', url: `/jobs/${id}` })
    expect((await app.inject(`/jobs/${id}/pairs`)).json().detail).toContain('cancelled')
    const join = await finished(quick)
    const clusters = await finished({ kind: 'clusters', job: join.id })
    expect((await app.inject(`/jobs/${clusters.id}/pairs`)).statusCode).toBe(409)
    expect((await app.inject(`/jobs/${join.id}/clusters`)).statusCode).toBe(409)
  })
})

describe('GET /jobs/{id}/clusters', () => {
  test('gives clusters with their canonical documents', async () => {
    const join = await finished(quick)
    const { id } = await finished({ kind: 'clusters', job: join.id, linkage: 'star' })
    const answer = await app.inject(`/jobs/${id}/clusters`)
    expect(answer.json()).toMatchObject({
      clusters: [{ canonical: 'page-0', size: documents, leastSimilarity: 1, medianSimilarity: 1 }],
      nextCursor: null,
    })
    expect(answer.json().clusters[0].members.length).toBe(documents)
  })
})

/** Collects server-sent events until they end; `onEvent` sees each job. */
const watch = async (id: string, onEvent: (job: JobView) => void = () => undefined): Promise<JobView[]> => {
  const answer = await fetch(`http://127.0.0.1:${port}/jobs/${id}/events`)
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const jobs: JobView[] = []
  let rest = ''
  for await (const chunk of answer.body ?? []) {
    const events = (rest + Buffer.from(chunk).toString('utf8')).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const [name, data = ''] = event.split('\n')
      expect(name).toBe('event: job')
      const job: JobView = JSON.parse(data.slice('data: '.length))
      jobs.push(job)
      onEvent(job)
    }
  }
  return jobs
}

describe('GET /jobs/{id}/events', () => {
  test('tells of every change until the job has ended', async () => {
    const { id } = (await post(slow)).json()
    const jobs = await watch(id)
    expect(jobs.at(-1)).toEqual(await running.services.jobs.get(id))
    expect(jobs.map(({ state }) => state)).toEqual([...jobs.slice(1).map(() => 'running'), 'succeeded'])
    expect(jobs.length).toBeGreaterThan(2)
    const done = jobs.map(({ progress }) => progress.done)
    expect(done).toEqual([...done].sort((a, b) => a - b))
    expect((await watch(id)).length).toBe(1)
  }, 60_000)

  test('ends with the event that the job was cancelled', async () => {
    const { id } = (await post(slow)).json()
    let isCancelled = false
    const jobs = await watch(id, () => {
      if (!isCancelled) void app.inject({ method: 'DELETE', url: `/jobs/${id}` })
      isCancelled = true
    })
    expect(jobs.at(-1)?.state).toBe('cancelled')
  })

  test('does not keep the application from closing', async () => {
    const other = await buildApp(only(running.services), appOptions)
    const otherPort = await listen(other)
    const { id } = (await post(slow)).json()
    const answer = await fetch(`http://127.0.0.1:${otherPort}/jobs/${id}/events`)
    const text = answer.text()
    await other.close()
    expect(await text).toContain('"state":"running"')
    await app.inject({ method: 'DELETE', url: `/jobs/${id}` })
  })
})
