import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServices } from '../../src/compose.ts'
import { evaluateRemoteJob } from '../../src/evaluate-job.ts'
import { buildApp } from '../../src/http/app.ts'
import { joinRequest, openInDirectory, succeeded } from '../fixture/jobs.ts'
import { only, openInMemory, storeAll, textInput } from '../fixture/services.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'
import { listen } from './fixture.ts'

const { directory, remove } = temporaryDirectory()
const appOptions = {
  bodyLimitBytes: 64 * 1024,
  requestTimeoutMs: 60_000,
  exactMinThreshold: 0.5,
  keys: null,
  logger: false,
  version: '0.0.0',
} as const
let running: RunningServices
let app: FastifyInstance
let joinId: string
let clusters: string
beforeAll(async () => {
  running = await openInDirectory(directory)
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ')
  await storeAll(running, [
    textInput('a', words, 'https://one.example/a'),
    textInput('b', `${words} and more`, 'https://one.example/b'),
    textInput('c', words, 'https://two.example/c'),
    textInput('d', 'something else', 'https://two.example/d'),
  ])
  joinId = (await succeeded(running, joinRequest())).id
  clusters = (
    await succeeded(running, { kind: 'clusters', job: joinId, linkage: 'components', policy: ['https'] })
  ).id
  app = await buildApp(only(running.services), appOptions)
}, 60_000)
afterAll(async () => {
  await app.close()
  await running.close()
  remove()
})

const send = async (method: 'GET' | 'PUT' | 'DELETE', url: string, body?: unknown) => {
  const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
  const answer = await app.inject({
    method,
    url,
    headers: { 'content-type': 'application/json' },
    ...payload,
  })
  return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
}

describe('the evaluation over HTTP', () => {
  test('goes from a sample over judgements to precision', async () => {
    const sample = await send('GET', `/jobs/${joinId}/sample?size=10&seed=3`)
    expect(sample).toMatchObject({ status: 200, body: { population: 3, seed: 3 } })
    expect(sample.body.pairs.map(({ label }: { label: unknown }) => label)).toEqual([null, null, null])
    const verdicts = { 'a b': 'correct', 'a c': 'correct', 'b c': 'incorrect' } as Record<string, string>
    for (const { a, b } of sample.body.pairs)
      expect(await send('PUT', '/judgements', { a: b, b: a, label: verdicts[`${a} ${b}`] })).toMatchObject({
        status: 200,
        body: { a, b, reason: null, current: true },
      })
    const { body: evaluation } = await send('GET', `/jobs/${joinId}/evaluation`)
    const { all, sameSite, differentSites } = evaluation.precision
    expect(all).toMatchObject({ pairs: 3, correct: 2, incorrect: 1, unjudged: 0 })
    expect(all.precision).toMatchObject({ value: 2 / 3, sampleSize: 3 })
    expect([sameSite.correct, differentSites.correct, differentSites.incorrect]).toEqual([1, 1, 1])
    expect(evaluation.termDifferences).toMatchObject({ pairs: 3, mean: 4 / 3, median: 2 })
    const again = await send('GET', `/jobs/${joinId}/sample?size=1&seed=3`)
    const [{ a, b }] = again.body.pairs
    expect(again.body.pairs[0].label).toBe(verdicts[`${a} ${b}`])
    expect(await send('DELETE', `/judgements?a=${b}&b=${a}`)).toEqual({ status: 204, body: null })
    const { body: list } = await send('GET', '/judgements?limit=1')
    expect(list.judgements).toHaveLength(1)
    const next = await send('GET', `/judgements?limit=5&cursor=${list.nextCursor}`)
    expect(next.body).toMatchObject({ judgements: [{ label: expect.any(String) }], nextCursor: null })
  })

  test('describes the pairs of a join', async () => {
    const { status, body } = await send('GET', `/jobs/${joinId}/statistics`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      pairs: 3,
      sameSite: { value: 1 / 3, sampleSize: 3 },
      degrees: { nodes: 3, pairs: 3, degrees: [{ degree: 2, nodes: 3 }] },
    })
    expect(body.agreeingBits.at(-1)).toEqual({
      cSimilarity: 384,
      pairs: 1,
      pairsBySupershingles: [0, 0, 0, 0, 0, 0, 1],
    })
  })

  test.each(['sample', 'statistics', 'evaluation'])(
    '%s is a 404 without the job, and a 409 for one that has no pairs',
    async (route) => {
      expect(await send('GET', `/jobs/unknown/${route}`)).toMatchObject({
        status: 404,
        body: { code: 'job_not_found' },
      })
      expect(await send('GET', `/jobs/${clusters}/${route}`)).toMatchObject({
        status: 409,
        body: { code: 'job_has_no_result' },
      })
    },
  )

  test.each([
    ['size=0', 'size'],
    ['size=10001', 'size'],
    ['seed=-1', 'seed'],
    ['seed=1.5', 'seed'],
  ])('a sample with %s is refused by the name of the parameter', async (query, name) => {
    const { status, body } = await send('GET', `/jobs/${joinId}/sample?${query}`)
    expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_parameter', name])
  })

  test.each([
    [{ a: 'a', b: 'b' }, '/label'],
    [{ a: 'a', b: 'b', label: 'perhaps' }, '/label'],
    [{ a: 'a', b: 'a', label: 'correct' }, '/b'],
    [{ a: 'a', b: 'b', label: 'correct', reason: 'x'.repeat(1001) }, '/reason'],
    [{ a: '', b: 'b', label: 'correct' }, '/a'],
  ])('the judgement %j is refused, and the answer points to what is wrong', async (judgement, pointer) => {
    const { status, body } = await send('PUT', '/judgements', judgement)
    expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_body', pointer])
  })

  test('of documents or a judgement that are not there is a 404', async () => {
    expect(await send('PUT', '/judgements', { a: 'a', b: 'none', label: 'correct' })).toMatchObject({
      status: 404,
      body: { code: 'document_not_found' },
    })
    expect(await send('DELETE', '/judgements?a=a&b=d')).toMatchObject({
      status: 404,
      body: { code: 'judgement_not_found' },
    })
  })

  test('becomes a report that can be read: tables, plots and all numbers', async () => {
    const out = join(directory, 'report')
    const port = await listen(app)
    const options = { url: `http://127.0.0.1:${port}`, apiKey: null, title: 'My <crawl>', out }
    await running.services.evaluation.judge('a', 'b', { label: 'correct', reason: null })
    expect(await evaluateRemoteJob({ ...options, job: joinId })).toMatch(
      /^3 pairs, \d judged: precision 0\.\d+|1\.000$/,
    )
    const report = await readFile(join(out, 'report.md'), 'utf8')
    expect(report).toMatch(/^# My &lt;crawl&gt;\n/)
    const images = [...report.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, name]) => String(name))
    expect(images.length).toBe(5)
    for (const name of images) expect(await readFile(join(out, name), 'utf8')).toMatch(/^<svg /)
    const numbers = JSON.parse(await readFile(join(out, 'numbers.json'), 'utf8'))
    expect(numbers.statistics.degrees.nodes).toBe(3)
    expect(numbers.evaluation.precision.all.pairs).toBe(3)
    await expect(evaluateRemoteJob({ ...options, job: 'unknown' })).rejects.toThrow(/No job has this id/)
    await expect(evaluateRemoteJob({ ...options, url: 'http://127.0.0.1:1', job: joinId })).rejects.toThrow(
      /does not answer/,
    )
  })

  test('is a 501 where the database is in memory', async () => {
    const inMemory = await openInMemory()
    const other = await buildApp(only(inMemory.services), appOptions)
    const answer = await other.inject({ method: 'GET', url: '/judgements' })
    expect([answer.statusCode, answer.json().code]).toEqual([501, 'jobs_not_available'])
    await other.close()
    await inMemory.close()
  })
})
