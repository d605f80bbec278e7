import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { v7 } from 'uuid'
import type { AnalysisOptions } from '../analysis/analyze.ts'
import { DittographError } from '../errors.ts'
import { decodeCursor, encodeCursor } from '../service/cursor.ts'
import type {
  ClusterItem,
  JobRequest,
  JobService,
  JobState,
  JobView,
  PageQuery,
  PairItem,
} from '../service/job-service.ts'
import { ClusterReader } from './cluster-reader.ts'
import type { JobCatalog, JobRecord } from './job-catalog.ts'
import type { JobMessage, JobTask } from './job-task.ts'
import type { JobTurns } from './job-turns.ts'
import { firstPosition, JoinReader } from './join-reader.ts'

/** Node runs threads from JavaScript only: where this is TypeScript, in the tests, the thread is the built one. */
const threadFile = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/job/job-thread.js' : './job-thread.js',
  import.meta.url,
)

export type JobsOptions = {
  readonly catalog: JobCatalog
  /** Has the results, and whatever the jobs write meanwhile; nothing else. */
  readonly directory: string
  readonly databaseFile: string
  readonly analysis: AnalysisOptions
  readonly queueLimit: number
  /** Shared with the jobs of other collections. */
  readonly turns: JobTurns
  readonly mostResultAgeMs: number
  readonly mostResultBytes: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A job that is interrupted that often is the likely cause. */
const mostAttempts = 3
const retryMs = 5000
const removalIntervalMs = 60 * 60 * 1000
const afterAllIds = '~'
const progressTotal = 1000
const resultSuffix = '.result'

type Running = { readonly worker: Worker; readonly id: string; share: number }

/**
 * The jobs of a collection, one at a time, each in a thread of its own. Its record and its result lie in a directory beside the database, so
 * that jobs never write to the database. A job that a restart interrupts starts again from the beginning.
 */
export class Jobs implements JobService {
  readonly #options: JobsOptions
  readonly #catalog: JobCatalog
  readonly #removal: NodeJS.Timeout
  /** Open results, the one that was used last at the end. */
  readonly #readers = new Map<string, JoinReader | ClusterReader>()
  readonly #tryToStart = (): void => this.#persistently(() => this.#startNext())
  #running: Running | null = null
  #isClosed = false

  constructor(options: JobsOptions) {
    this.#options = options
    this.#catalog = options.catalog
    this.#recover()
    this.#removeOld()
    this.#removal = setInterval(() => this.#persistently(() => this.#removeOld()), removalIntervalMs)
    this.#removal.unref()
    this.#startNext()
  }

  async create(request: JobRequest): Promise<{ job: JobView; isNew: boolean }> {
    if (request.kind === 'clusters') this.#checkJoin(request.job)
    const active = this.#catalog.activeOf(request)
    if (active !== null) return { job: this.#viewOf(active), isNew: false }
    if (this.#catalog.inState('queued').length >= this.#options.queueLimit)
      throw new DittographError(
        'job_queue_full',
        `There are ${this.#options.queueLimit} jobs queued already: wait for some to end, or cancel them`,
      )
    const record: JobRecord = {
      id: v7(),
      request,
      state: 'queued',
      attempts: 0,
      createdAt: this.#options.now(),
      startedAt: null,
      finishedAt: null,
      result: null,
      resultBytes: 0,
      reason: null,
    }
    this.#catalog.put(record)
    this.#startNext()
    return { job: this.#viewOf(this.#record(record.id)), isNew: true }
  }

  async get(id: string): Promise<JobView> {
    return this.#viewOf(this.#record(id))
  }

  async list({ limit, cursor }: PageQuery): Promise<{ jobs: JobView[]; nextCursor: string | null }> {
    const [before] = cursor === null ? [afterAllIds] : decodeCursor('jobs', cursor, ['string'])
    const records = this.#catalog.before(String(before), limit + 1)
    const jobs = records.slice(0, limit).map((record) => this.#viewOf(record))
    const last = jobs.at(-1)
    return {
      jobs,
      nextCursor: records.length > limit && last !== undefined ? encodeCursor('jobs', [last.id]) : null,
    }
  }

  async delete(id: string): Promise<void> {
    const record = this.#record(id)
    if (record.finishedAt !== null) return this.#remove(record)
    if (this.#running?.id !== id) return this.#finish(record, 'cancelled', {})
    const { worker } = this.#running
    this.#running = null
    const terminated = worker.terminate()
    this.#persistently(() => this.#finish(record, 'cancelled', {}))
    await terminated
    this.#options.turns.giveBack()
    this.#persistently(() => {
      this.#removeFiles(id)
      this.#startNext()
    })
  }

  async pairs(
    id: string,
    { limit, cursor }: PageQuery,
  ): Promise<{ pairs: PairItem[]; nextCursor: string | null }> {
    const query = `pairs of ${id}`
    let position = firstPosition
    if (cursor !== null) {
      const [pair = 0, x = 0, y = 0] = decodePlaces(query, cursor, 3)
      position = { pair, x, y }
    }
    const reader = this.#reader(id)
    if (!(reader instanceof JoinReader))
      throw noResult('A job of the kind clusters has clusters and no pairs')
    const { pairs, next } = reader.page(position, limit)
    return { pairs, nextCursor: next === null ? null : encodeCursor(query, [next.pair, next.x, next.y]) }
  }

  async clusters(
    id: string,
    { limit, cursor }: PageQuery,
  ): Promise<{ clusters: ClusterItem[]; nextCursor: string | null }> {
    const query = `clusters of ${id}`
    const [from = 0] = cursor === null ? [] : decodePlaces(query, cursor, 1)
    const reader = this.#reader(id)
    if (!(reader instanceof ClusterReader)) throw noResult('A job of the kind join has pairs and no clusters')
    const { clusters, next } = reader.page(from, limit)
    return { clusters, nextCursor: next === null ? null : encodeCursor(query, [next]) }
  }

  /** Opens the result of a join for the caller to close. Throws `job_not_found` and `job_has_no_result`. */
  openJoin(id: string): { readonly reader: JoinReader; readonly pairs: number } {
    const { request, result } = this.#succeeded(id)
    if (request.kind !== 'join' || result === null || !('pairs' in result))
      throw noResult('This is a job of the kind clusters: only a join has pairs')
    return { reader: new JoinReader(this.#resultFile(id)), pairs: result.pairs }
  }

  /** Whether no job is queued or running. */
  isIdle(): boolean {
    return this.#running === null && this.#catalog.inState('queued').length === 0
  }

  /** Ends the thread. The job that ran in it starts again with the service. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#removal)
    const running = this.#running
    this.#running = null
    if (running !== null) {
      await running.worker.terminate()
      this.#options.turns.giveBack()
      const record = this.#record(running.id)
      this.#catalog.put({ ...record, state: 'queued', attempts: record.attempts - 1 })
    }
    for (const reader of this.#readers.values()) reader.close()
    this.#catalog.close()
  }

  #record(id: string): JobRecord {
    const record = this.#catalog.get(id)
    if (record === null) throw new DittographError('job_not_found', 'No job has this id, or it was removed')
    return record
  }

  #checkJoin(id: string): void {
    const { request, state } = this.#record(id)
    if (request.kind !== 'join') throw noResult('Clusters are made of a join, and this job is none')
    if (state === 'failed' || state === 'cancelled')
      throw noResult(`The join is ${state}: clusters need one that succeeds`)
  }

  #viewOf(record: JobRecord): JobView {
    const { id, request, state, createdAt, startedAt, finishedAt, result, reason } = record
    const done =
      state === 'succeeded'
        ? progressTotal
        : this.#running?.id === id
          ? Math.floor(progressTotal * this.#running.share)
          : 0
    return {
      id,
      kind: request.kind,
      request,
      state,
      progress: { done, total: progressTotal },
      createdAt: timeOf(createdAt),
      startedAt: startedAt === null ? null : timeOf(startedAt),
      finishedAt: finishedAt === null ? null : timeOf(finishedAt),
      result,
      reason,
    }
  }

  /** What ran when the process ended is queued again; files that no job has any more are removed. */
  #recover(): void {
    for (const record of this.#catalog.inState('running')) {
      if (record.attempts < mostAttempts) this.#catalog.put({ ...record, state: 'queued', startedAt: null })
      else
        this.#finish(record, 'failed', {
          reason: `The service ended ${mostAttempts} times while this job ran`,
        })
    }
    for (const name of readdirSync(this.#options.directory)) {
      const id = /^([0-9a-f-]{36})\./.exec(name)?.[1]
      if (id === undefined) continue
      const isResult = name === `${id}${resultSuffix}` && this.#catalog.get(id)?.state === 'succeeded'
      if (!isResult) rmSync(join(this.#options.directory, name), { force: true })
    }
  }

  #startNext(): void {
    while (this.#running === null && !this.#isClosed) {
      const [next] = this.#catalog.inState('queued')
      if (next === undefined) return
      const { request } = next
      const joined = request.kind === 'join' ? null : this.#catalog.get(request.job)
      if (request.kind === 'clusters' && joined?.state !== 'succeeded') {
        this.#finish(next, 'failed', { reason: `The join is ${joined?.state ?? 'removed'}` })
        continue
      }
      if (!this.#options.turns.take(this.#tryToStart)) return
      const record: JobRecord = {
        ...next,
        state: 'running',
        attempts: next.attempts + 1,
        startedAt: this.#options.now(),
      }
      try {
        this.#catalog.put(record)
        this.#run(record, joined === null ? null : this.#resultFile(joined.id))
      } catch (reason) {
        this.#options.turns.giveBack()
        throw reason
      }
    }
  }

  #run(record: JobRecord, joinFile: string | null): void {
    const { databaseFile, directory, analysis, mostResultBytes } = this.#options
    const { id, request } = record
    const task: JobTask = {
      id,
      request,
      databaseFile,
      directory,
      resultFile: this.#resultFile(id),
      joinFile,
      mostBytes: mostResultBytes,
      analysis,
    }
    const worker = new Worker(threadFile, { workerData: task })
    const running: Running = { worker, id, share: 0 }
    this.#running = running
    const end = (state: JobState, outcome: Pick<Partial<JobRecord>, 'result' | 'reason'>) => {
      if (this.#running !== running) return
      this.#running = null
      this.#options.turns.giveBack()
      this.#persistently(() => {
        this.#finish(record, state, outcome)
        this.#removeOld(id)
        this.#startNext()
      })
    }
    worker.on('message', (message: JobMessage) => {
      if ('share' in message) running.share = message.share
      else if ('result' in message) end('succeeded', { result: message.result })
      else {
        if (message.error instanceof Error) process.emitWarning(message.error)
        end('failed', { reason: message.failure })
      }
    })
    worker.on('error', (error) => {
      process.emitWarning(error)
      end('failed', {
        reason:
          Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'
            ? 'The job needs more memory than it may have'
            : 'The service made a mistake; its log has the cause',
      })
    })
    worker.on('exit', () => end('failed', { reason: 'The thread of the job ended unexpectedly' }))
  }

  #finish(record: JobRecord, state: JobState, outcome: Pick<Partial<JobRecord>, 'result' | 'reason'>): void {
    if (state !== 'succeeded') this.#removeFiles(record.id)
    const file = this.#resultFile(record.id)
    this.#catalog.put({
      ...record,
      ...outcome,
      state,
      finishedAt: this.#options.now(),
      resultBytes: existsSync(file) ? statSync(file).size : 0,
    })
  }

  /** Does what no client waits for; where the disk is full or fails, again a little later. */
  #persistently(work: () => void): void {
    if (this.#isClosed) return
    try {
      work()
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error))
      setTimeout(() => this.#persistently(work), retryMs).unref()
    }
  }

  #resultFile(id: string): string {
    return join(this.#options.directory, `${id}${resultSuffix}`)
  }

  /** Throws `job_has_no_result` while the job has not succeeded. */
  #succeeded(id: string): JobRecord {
    const record = this.#record(id)
    const { state } = record
    if (state !== 'succeeded')
      throw noResult(
        state === 'queued' || state === 'running'
          ? `The job is ${state}: its result can be read when it has succeeded`
          : `The job is ${state} and has no result`,
      )
    return record
  }

  #reader(id: string): JoinReader | ClusterReader {
    const { request } = this.#succeeded(id)
    const known = this.#readers.get(id)
    if (known !== undefined) {
      this.#readers.delete(id)
      this.#readers.set(id, known)
      return known
    }
    const reader =
      request.kind === 'join' ? new JoinReader(this.#resultFile(id)) : new ClusterReader(this.#resultFile(id))
    this.#readers.set(id, reader)
    for (const oldest of this.#readers.keys()) {
      if (this.#readers.size <= mostReaders) break
      this.#closeReader(oldest)
    }
    return reader
  }

  #closeReader(id: string): void {
    this.#readers.get(id)?.close()
    this.#readers.delete(id)
  }

  /** Removes what is too old, and then the oldest results until the rest is small enough; `spared` stays. */
  #removeOld(spared?: string): void {
    const oldest = this.#options.now() - this.#options.mostResultAgeMs
    const finished = this.#catalog.finished()
    let bytes = finished.reduce((sum, { resultBytes }) => sum + resultBytes, 0)
    for (const record of finished) {
      const isTooOld = (record.finishedAt ?? 0) < oldest
      const isTooMuch = bytes > this.#options.mostResultBytes && record.resultBytes > 0
      if (record.id === spared || (!isTooOld && !isTooMuch)) continue
      this.#remove(record)
      bytes -= record.resultBytes
    }
  }

  #remove({ id }: JobRecord): void {
    this.#closeReader(id)
    this.#catalog.remove(id)
    this.#removeFiles(id)
  }

  #removeFiles(id: string): void {
    for (const name of readdirSync(this.#options.directory))
      if (name.startsWith(`${id}.`)) rmSync(join(this.#options.directory, name), { force: true })
  }
}

const mostReaders = 8

/** A position of so many whole numbers. Throws `invalid_cursor`. */
const decodePlaces = (query: string, cursor: string, count: number): readonly number[] => {
  const places = decodeCursor(query, cursor, new Array<'number'>(count).fill('number')).map(Number)
  if (places.some((place) => !Number.isSafeInteger(place) || place < 0))
    throw new DittographError('invalid_cursor', 'cursor must be a nextCursor of an earlier answer, unchanged')
  return places
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString()

const noResult = (detail: string): DittographError => new DittographError('job_has_no_result', detail)
