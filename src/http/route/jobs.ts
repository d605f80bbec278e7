import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { JobService, JobView } from '../../service/job-service.ts'
import type { ServicesOf } from '../access.ts'
import type { DocumentReader } from '../document-reader.ts'
import { jobFromJson } from '../job-input.ts'
import { limits } from '../schema/common.ts'
import { jsonAnswer, ref } from '../schema/component.ts'
import { ClusterList, Job, JobList, JobParameters, NewJob, PageQuery, Pair, PairList } from '../schema/job.ts'
import { problemAnswers } from '../schema/problem.ts'

const tags = ['jobs']
const location = { Location: { type: 'string', description: 'Path of the job' } }

/** Between two looks at a job that is watched. */
const watchIntervalMs = 250
/** After so long without news a watcher gets a comment, which keeps the connection open. */
const silenceMs = 15_000

const ndjson = 'application/x-ndjson'

const isEnded = ({ state }: JobView): boolean => state !== 'queued' && state !== 'running'

/** Server-sent events about a job: one now, one for each change, and the last one when it has ended. */
async function* eventsOf(jobs: JobService, first: JobView, closing: AbortSignal): AsyncGenerator<string> {
  let job = first
  let text = ''
  let spokenAt = performance.now()
  while (true) {
    const next = JSON.stringify(job)
    if (next !== text) {
      text = next
      spokenAt = performance.now()
      yield `event: job\ndata: ${text}\n\n`
    } else if (performance.now() - spokenAt > silenceMs) {
      spokenAt = performance.now()
      yield ': still there\n\n'
    }
    if (isEnded(job) || closing.aborted) return
    await setTimeout(watchIntervalMs)
    job = await jobs.get(job.id)
  }
}

/** All pairs as lines of JSON; the next page is read when the one before was taken. */
async function* linesOf(
  jobs: JobService,
  id: string,
  first: Awaited<ReturnType<JobService['pairs']>>,
): AsyncGenerator<string> {
  let page = first
  while (true) {
    if (page.pairs.length > 0) yield page.pairs.map((pair) => `${JSON.stringify(pair)}\n`).join('')
    if (page.nextCursor === null) return
    page = await jobs.pairs(id, { limit: limits.listItems, cursor: page.nextCursor })
  }
}

const accepts = (header: string | undefined, mediaType: string): boolean =>
  header?.split(',').some((part) => part.split(';', 1)[0]?.trim() === mediaType) ?? false

/** Answers with texts as they are made; no more are made than the client takes. */
const sendTexts = (reply: FastifyReply, mediaType: string, texts: AsyncGenerator<string>): FastifyReply =>
  reply.type(mediaType).send(Readable.from(texts, { objectMode: false }))

/** Jobs over the whole collection, and what they found. */
export const jobRoutes =
  (servicesOf: ServicesOf, reader: DocumentReader, leastThreshold: number): FastifyPluginAsyncTypebox =>
  async (app) => {
    const closing = new AbortController()
    app.addHook('preClose', async () => closing.abort())

    app.post('/jobs', {
      schema: {
        operationId: 'createJob',
        summary: 'Start a job',
        description:
          'A join finds all near-duplicate pairs of the collection as it is when the job starts; clusters are made of ' +
          'the pairs of a join. Jobs run one after the other. A request that is queued or running already is answered ' +
          'with that job.',
        tags,
        body: { content: { 'application/json': { schema: ref(NewJob) } } },
        response: {
          200: jsonAnswer('The same request is queued or running already', ref(Job), location),
          202: jsonAnswer('The job is queued', ref(Job), location),
          ...problemAnswers(400, 404, 409, 413, 415, 501, 503, 507),
        },
      },
      handler: (request, reply) =>
        reader.withJson(request, async (bytes) => {
          const { job, isNew } = await servicesOf(request).jobs.create(jobFromJson(bytes, leastThreshold))
          return reply
            .code(isNew ? 202 : 200)
            .header('location', `/jobs/${job.id}`)
            .send(job)
        }),
    })

    app.get('/jobs', {
      schema: {
        operationId: 'listJobs',
        summary: 'List jobs',
        description: 'Newest first. Jobs that ended are removed after JOB_RESULT_DAYS, or for want of room.',
        tags,
        querystring: PageQuery,
        response: { 200: jsonAnswer('A page of the list', ref(JobList)), ...problemAnswers(400, 501, 503) },
      },
      handler: (request) => {
        const { limit = 50, cursor = null } = request.query
        return servicesOf(request).jobs.list({ limit, cursor })
      },
    })

    app.get('/jobs/:id', {
      schema: {
        operationId: 'getJob',
        summary: 'Read a job',
        description: 'Its state, and how far it is.',
        tags,
        params: JobParameters,
        response: { 200: jsonAnswer('The job', ref(Job)), ...problemAnswers(400, 404, 501, 503) },
      },
      handler: (request) => servicesOf(request).jobs.get(request.params.id),
    })

    app.get('/jobs/:id/events', {
      schema: {
        operationId: 'watchJob',
        summary: 'Watch a job',
        description:
          'Server-sent events named `job`, with the job as JSON: one at once, one for each change, and the last one ' +
          'when it has ended.',
        tags,
        params: JobParameters,
        response: {
          200: {
            description: 'The events',
            content: {
              'text/event-stream': {
                schema: Type.String({
                  examples: ['event: job\ndata: {"id": "0198c5de-…", "state": "running"}\n\n'],
                }),
              },
            },
          },
          ...problemAnswers(400, 404, 501, 503),
        },
      },
      handler: async (request, reply) => {
        const { jobs } = servicesOf(request)
        const job = await jobs.get(request.params.id)
        reply.header('cache-control', 'no-store')
        return sendTexts(reply, 'text/event-stream', eventsOf(jobs, job, closing.signal))
      },
    })

    app.delete('/jobs/:id', {
      schema: {
        operationId: 'deleteJob',
        summary: 'Cancel or remove a job',
        description: 'Cancels a job that is queued or running; removes one that has ended, with its result.',
        tags,
        params: JobParameters,
        response: {
          204: { type: 'null', description: 'It is cancelled, or removed' },
          ...problemAnswers(400, 404, 501, 503, 507),
        },
      },
      handler: async (request, reply) => {
        await servicesOf(request).jobs.delete(request.params.id)
        return reply.code(204).send(null)
      },
    })

    app.get('/jobs/:id/pairs', {
      schema: {
        operationId: 'listPairs',
        summary: 'Read the pairs of a join',
        description:
          'Page by page, each pair once; with `Accept: application/x-ndjson` all from the cursor on, a pair a line. ' +
          'There are none before the join has succeeded.',
        tags,
        params: JobParameters,
        querystring: PageQuery,
        response: {
          200: {
            description: 'A page of the pairs, or all of them',
            content: {
              'application/json': { schema: ref(PairList) },
              [ndjson]: { schema: ref(Pair) },
            },
          },
          ...problemAnswers(400, 404, 409, 501, 503),
        },
      },
      handler: async (request, reply) => {
        const { jobs } = servicesOf(request)
        const { id } = request.params
        const { limit, cursor = null } = request.query
        if (!accepts(request.headers.accept, ndjson)) return jobs.pairs(id, { limit: limit ?? 50, cursor })
        const first = await jobs.pairs(id, { limit: limits.listItems, cursor })
        return sendTexts(reply, ndjson, linesOf(jobs, id, first))
      },
    })

    app.get('/jobs/:id/clusters', {
      schema: {
        operationId: 'listClusters',
        summary: 'Read clusters',
        description: 'Largest first. There are none before the job has succeeded.',
        tags,
        params: JobParameters,
        querystring: PageQuery,
        response: {
          200: jsonAnswer('A page of the clusters', ref(ClusterList)),
          ...problemAnswers(400, 404, 409, 501, 503),
        },
      },
      handler: (request) => {
        const { limit = 50, cursor = null } = request.query
        return servicesOf(request).jobs.clusters(request.params.id, { limit, cursor })
      },
    })
  }
