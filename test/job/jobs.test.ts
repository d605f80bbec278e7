import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openServices, type RunningServices } from '../../src/compose.ts'
import { loadConfig } from '../../src/config.ts'
import { JobCatalog } from '../../src/job/job-catalog.ts'
import { JobTurns } from '../../src/job/job-turns.ts'
import { Jobs, type JobsOptions } from '../../src/job/jobs.ts'
import { encodeCursor } from '../../src/service/cursor.ts'
import type { JobState, JobView } from '../../src/service/job-service.ts'
import { openJobDatabase } from '../../src/store/sqlite/job-database.ts'
import { allPairs, ended, joinRequest, openInDirectory, succeeded } from '../fixture/jobs.ts'
import { type Server, startServer } from '../fixture/server.ts'
import { openInMemory, options, storeAll, textInput } from '../fixture/services.ts'
import { fillSlowCollection, slowDocuments } from '../fixture/slow-collection.ts'
import { inTemporaryDirectory, temporaryDirectory } from '../store/sqlite/temporary.ts'

const slow = joinRequest({ algorithm: 'simhash' })
const quick = joinRequest({ algorithm: 'identical' })

const filesOf = (directory: string): string[] =>
  readdirSync(join(directory, 'test.db-jobs')).filter((name) => !name.startsWith('jobs.db'))

const isRunning = async (running: RunningServices, id: string): Promise<void> => {
  while ((await running.services.jobs.get(id)).progress.done === 0) await setTimeout(5)
}

describe('jobs over a collection that takes long to join', () => {
  const { directory, remove } = temporaryDirectory()
  let running: RunningServices
  beforeAll(async () => {
    await fillSlowCollection(join(directory, 'test.db'))
    running = await openInDirectory(directory, { JOB_QUEUE_LIMIT: '2' })
  }, 60_000)
  afterAll(async () => {
    await running.close()
    remove()
  })

  test('give an identical request the job that is queued or running, and another one a job of its own', async () => {
    const { jobs } = running.services
    const first = await jobs.create(slow)
    const again = await jobs.create({ ...slow })
    expect([first.isNew, again.isNew, again.job.id]).toEqual([true, false, first.job.id])
    const other = await jobs.create(quick)
    expect([other.isNew, other.job.state]).toEqual([true, 'queued'])
    expect((await jobs.create(quick)).job.id).toBe(other.job.id)
    await jobs.delete(first.job.id)
    expect((await ended(running, other.job.id)).state).toBe('succeeded')
    const later = await jobs.create(quick)
    expect(later.isNew).toBe(true)
    expect((await ended(running, later.job.id)).state).toBe('succeeded')
  })

  test('are cancelled at once, leave no file behind, and are removed by a second delete', async () => {
    const { jobs } = running.services
    const { job } = await jobs.create(slow)
    await isRunning(running, job.id)
    await expect(jobs.pairs(job.id, { limit: 1, cursor: null })).rejects.toMatchObject({
      code: 'job_has_no_result',
    })
    await jobs.delete(job.id)
    expect(await jobs.get(job.id)).toMatchObject({ state: 'cancelled', result: null })
    expect(filesOf(directory).filter((name) => name.startsWith(job.id))).toEqual([])
    await jobs.delete(job.id)
    await expect(jobs.get(job.id)).rejects.toMatchObject({ code: 'job_not_found' })
  })

  test('refuse more than may wait', async () => {
    const { jobs } = running.services
    const waiting = []
    for (const minAgreeingBits of [370, 371, 372])
      waiting.push(await jobs.create({ ...slow, thresholds: { ...slow.thresholds, minAgreeingBits } }))
    await expect(jobs.create(quick)).rejects.toMatchObject({ code: 'job_queue_full', kind: 'overloaded' })
    for (const { job } of waiting.reverse()) await jobs.delete(job.id)
    expect((await jobs.create(quick)).isNew).toBe(true)
  })

  test('let documents be stored and found meanwhile, and see none of what comes after their snapshot', async () => {
    const { jobs, documents, nearDuplicates } = running.services
    const { job } = await jobs.create(slow)
    await isRunning(running, job.id)
    const words = Array.from({ length: 50 }, (_, i) => `word${i}`).join(' ')
    await storeAll(running, [textInput('new-1', words), textInput('new-2', words)])
    const { duplicates } = await nearDuplicates.ofDocument('new-1', options({ algorithm: 'simhash' }))
    expect(duplicates.map(({ id }) => id)).toEqual(['new-2'])
    expect((await jobs.get(job.id)).state).toBe('running')
    await documents.delete('new-2')
    const end = await ended(running, job.id)
    expect(end).toMatchObject({ state: 'succeeded', result: { pairs: 0 } })
    expect(end.result).toMatchObject({ documents: slowDocuments })
  }, 60_000)

  test('make clusters of a join that still runs, and fail where that is cancelled', async () => {
    const { jobs } = running.services
    const join = await jobs.create(slow)
    const request = { kind: 'clusters', job: join.job.id, linkage: 'star', policy: [] } as const
    const clusters = await jobs.create(request)
    await jobs.delete(join.job.id)
    expect(await ended(running, clusters.job.id)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('cancelled'),
    })
    await expect(jobs.create(request)).rejects.toMatchObject({ code: 'job_has_no_result' })
    await expect(jobs.create({ ...request, job: clusters.job.id })).rejects.toMatchObject({
      code: 'job_has_no_result',
    })
    await expect(jobs.create({ ...request, job: 'none' })).rejects.toMatchObject({ code: 'job_not_found' })
  })

  test('are listed newest first, each once, page by page', async () => {
    const { jobs } = running.services
    await succeeded(running, quick)
    const whole = (await jobs.list({ limit: 1000, cursor: null })).jobs
    expect(whole.length).toBeGreaterThan(4)
    expect(whole.map(({ createdAt }) => createdAt)).toEqual(
      whole.map(({ createdAt }) => createdAt).sort((a, b) => (a < b ? 1 : -1)),
    )
    const paged = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof jobs.list>> = await jobs.list({ limit: 2, cursor })
      paged.push(...page.jobs)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(paged).toEqual(whole)
  })
})

describe('a restart', () => {
  const { directory, remove } = temporaryDirectory()
  const DATABASE_URL = `sqlite:${directory}/test.db`
  let server: Server | undefined
  beforeAll(() => fillSlowCollection(join(directory, 'test.db')), 60_000)
  afterAll(async () => {
    await server?.stop('SIGKILL')
    remove()
  })

  const start = async (): Promise<Server> => {
    server = await startServer({ DATABASE_URL })
    return server
  }
  const jobAt = async (url: string, id: string): Promise<JobView> =>
    (await (await fetch(`${url}/jobs/${id}`)).json()) as JobView
  const startJob = async (url: string): Promise<string> => {
    const answer = await fetch(`${url}/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'join', algorithm: 'simhash' }),
    })
    const { id } = (await answer.json()) as JobView
    while ((await jobAt(url, id)).progress.done < 100) await setTimeout(10)
    return id
  }

  test('after a kill in the middle of a job runs it from the beginning, and never shows a part of its result', async () => {
    const first = await start()
    const id = await startJob(first.url)
    await first.stop('SIGKILL')
    const orphan = join(directory, 'test.db-jobs', '01a230e9-4244-77e2-ac6c-a73516ed1c99.result')
    writeFileSync(orphan, 'of a job that nobody knows')
    const second = await start()
    expect(existsSync(orphan)).toBe(false)
    const states = new Set<JobState>()
    for (;;) {
      const { state } = await jobAt(second.url, id)
      states.add(state)
      const pairs = await fetch(`${second.url}/jobs/${id}/pairs`)
      if (state === 'succeeded') break
      if ((await jobAt(second.url, id)).state !== 'succeeded') expect(pairs.status).toBe(409)
      await setTimeout(20)
    }
    expect(states).toContain('running')
    expect(await (await fetch(`${second.url}/jobs/${id}/pairs`)).json()).toEqual({
      pairs: [],
      nextCursor: null,
    })
    expect(filesOf(directory)).toEqual([`${id}.result`])
    await second.stop()
  }, 120_000)

  test('after SIGTERM runs an interrupted job again', async () => {
    const first = await start()
    const id = await startJob(first.url)
    expect(await first.stop()).toBe(0)
    const second = await start()
    expect(['queued', 'running']).toContain((await jobAt(second.url, id)).state)
    await fetch(`${second.url}/jobs/${id}`, { method: 'DELETE' })
    expect((await jobAt(second.url, id)).state).toBe('cancelled')
    await second.stop()
  }, 120_000)
})

describe('old jobs', () => {
  const openJobs = (directory: string, changes: Partial<JobsOptions>): Jobs =>
    new Jobs({
      catalog: new JobCatalog(openJobDatabase(join(directory, 'test.db-jobs', 'jobs.db'), 0)),
      directory: join(directory, 'test.db-jobs'),
      databaseFile: join(directory, 'test.db'),
      analysis: { tokenizer: 'practical', siteRule: 'public-suffix' },
      queueLimit: 10,
      turns: new JobTurns(),
      mostResultAgeMs: 1000,
      mostResultBytes: 2 ** 30,
      now: () => 0,
      ...changes,
    })

  const finish = async (jobs: Jobs): Promise<string> => {
    const { job } = await jobs.create(quick)
    while ((await jobs.get(job.id)).finishedAt === null) await setTimeout(5)
    return job.id
  }

  const fill = async (directory: string): Promise<void> => {
    const running = await openInDirectory(directory)
    await storeAll(running, pagesOf(20))
    await running.close()
  }

  test('are removed with their results when they are too old', async () => {
    await inTemporaryDirectory(async (directory) => {
      await fill(directory)
      let now = 10_000
      const jobs = openJobs(directory, { now: () => now })
      const first = await finish(jobs)
      now += 900
      const second = await finish(jobs)
      expect(filesOf(directory).length).toBe(2)
      now += 200
      const third = await finish(jobs)
      const { jobs: left } = await jobs.list({ limit: 10, cursor: null })
      expect(left.map(({ id }) => id)).toEqual([third, second])
      expect(filesOf(directory)).not.toContain(`${first}.result`)
      await jobs.close()
    })
  })

  test('are removed from the oldest on when their results take too much room, but for the newest', async () => {
    await inTemporaryDirectory(async (directory) => {
      await fill(directory)
      const jobs = openJobs(directory, { mostResultBytes: 150 * 1024 })
      const ids = []
      for (let i = 0; i < 4; i++) ids.push(await finish(jobs))
      const { jobs: left } = await jobs.list({ limit: 10, cursor: null })
      expect(left.map(({ id }) => id)).toEqual([ids[3], ids[2]])
      expect(filesOf(directory).sort()).toEqual([`${ids[2]}.result`, `${ids[3]}.result`])
      await jobs.close()
    })
  })

  test('whose result grows too large fail, with the reason', async () => {
    await inTemporaryDirectory(async (directory) => {
      await fill(directory)
      const jobs = openJobs(directory, { mostResultBytes: 40 * 1024 })
      const id = await finish(jobs)
      expect(await jobs.get(id)).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining('JOB_RESULTS_MB'),
      })
      expect(filesOf(directory)).toEqual([])
      await jobs.close()
    })
  })
})

describe('jobs of one collection', () => {
  test('show the pairs of a set of identical documents without storing them', async () => {
    await inTemporaryDirectory(async (directory) => {
      const running = await openInDirectory(directory)
      const words = Array.from({ length: 30 }, (_, i) => `word${i}`).join(' ')
      await storeAll(
        running,
        Array.from({ length: 1500 }, (_, i) => textInput(`${i}`, words, `http://a${i % 3}.example/${i}`)),
      )
      for (const [site, count] of [
        ['any', (1500 * 1499) / 2],
        ['same', 3 * ((500 * 499) / 2)],
        ['different', 3 * 500 * 500],
      ] as const) {
        const job = await succeeded(running, joinRequest({ site }))
        expect(job.result).toMatchObject({ pairs: count, identicalPairs: count })
        const { pairs } = await running.services.jobs.pairs(job.id, { limit: 1000, cursor: null })
        expect(pairs.length).toBe(1000)
        expect(pairs.every(({ sameSite }) => sameSite === (site === 'same') || site === 'any')).toBe(true)
      }
      await running.close()
    })
  })

  test('are not there for a database in memory, which says so', async () => {
    const running = await openInMemory()
    await expect(running.services.jobs.create(quick)).rejects.toMatchObject({ code: 'jobs_not_available' })
    await running.close()
  })

  test('of an empty collection have no pairs', async () => {
    await inTemporaryDirectory(async (directory) => {
      const running = await openServices(loadConfig({ DATABASE_URL: `sqlite:${directory}/test.db` }))
      const { id, progress } = await succeeded(running, joinRequest())
      expect(await allPairs(running, id)).toEqual([])
      expect(progress.done).toBe(progress.total)
      await running.close()
    })
  })

  test('whose pairs are read with a cursor of another job refuse it', async () => {
    await inTemporaryDirectory(async (directory) => {
      const running = await openInDirectory(directory)
      await storeAll(running, pagesOf(5))
      const [a, b] = [await succeeded(running, quick), await succeeded(running, quick)]
      const { nextCursor } = await running.services.jobs.pairs(a.id, { limit: 2, cursor: null })
      await expect(running.services.jobs.pairs(b.id, { limit: 2, cursor: nextCursor })).rejects.toMatchObject(
        { code: 'invalid_cursor' },
      )
      const forged = encodeCursor(`pairs of ${a.id}`, [0, -1, 0])
      await expect(running.services.jobs.pairs(a.id, { limit: 2, cursor: forged })).rejects.toMatchObject({
        code: 'invalid_cursor',
      })
      await expect(running.services.jobs.clusters(a.id, { limit: 2, cursor: null })).rejects.toMatchObject({
        code: 'job_has_no_result',
      })
      await running.close()
    })
  })
})

const pagesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => textInput(`page-${i}`, 'the same few words on all pages'))
