import type Database from 'better-sqlite3'
import { type PostingColumns, sortPostings } from '../posting-columns.ts'
import { postingsInLargestBlock } from './posting-block.ts'
import type { FrozenPostings, PostingIndex } from './posting-index.ts'
import { PostingMerge } from './posting-merge.ts'
import { blockRange, type Run, RunWriter, segmentNumber } from './posting-run.ts'
import { plainSlots } from './posting-slot.ts'
import { postingSql, runSql } from './sql.ts'
import { toDittographError } from './sqlite-error.ts'

/** Background work in steps, each one short transaction. Of several jobs the one with the lowest rank goes on. */
type Job = {
  readonly rank: number
  /** The runs that it replaces. */
  readonly sources: readonly Run[]
  readonly begin: () => Steps
  steps: Steps
}
/** Each step yields how many postings it wrote or deleted. */
type Steps = Generator<number, void>

const flushRank = 0
const dropRank = 1
const mergeRank = (level: number): number => 2 + level

const pauseAfterFailureMs = 1000

/**
 * How often a posting is touched in the background: sorted and written as part of a run, then copied and deleted
 * with each level. Three levels of fan-out 16 are 500 million sets.
 */
const touchesPerPosting = 8

export type MaintenanceOptions = {
  readonly db: Database.Database
  readonly index: PostingIndex
  /** Sets, or documents, that make the delta full. */
  readonly flushSets: number
  /** Feature postings of one slot that make the delta full. */
  readonly flushFeatures: number
  /** Runs of one level that are merged into one of the next. */
  readonly fanOut: number
  /** Postings that one step writes or deletes. */
  readonly sliceRows: number
  readonly synchronous: 'full' | 'normal'
}

/**
 * Writes full deltas as runs and merges runs, one step in each turn of the event loop. A job that fails (the disk
 * is full, another process holds the database) is begun again a second later; documents and postings stay
 * readable meanwhile, and `failure` tells why.
 */
export class Maintenance {
  failure: Error | null = null
  readonly #options: MaintenanceOptions
  readonly #jobs: Job[] = []
  readonly #waiting: { resolve: () => void; reject: (reason: Error) => void }[] = []
  readonly #immediate: (work: () => unknown) => unknown
  readonly #insertRun: Database.Statement<unknown[]>
  readonly #publishRun: Database.Statement<unknown[]>
  readonly #dropRun: Database.Statement<unknown[]>
  readonly #deleteRun: Database.Statement<unknown[]>
  #nextRun: number
  #turn: NodeJS.Immediate | null = null
  #pause: NodeJS.Timeout | null = null
  #stopped = false
  /** Postings to be written and deleted that writes have brought about; 0 where there is nothing to do. */
  #owedPostings = 0

  constructor(options: MaintenanceOptions) {
    this.#options = options
    const { db } = options
    this.#immediate = db.transaction((work: () => unknown) => work()).immediate
    this.#insertRun = db.prepare(runSql.insert)
    this.#publishRun = db.prepare(runSql.publish)
    this.#dropRun = db.prepare(runSql.drop)
    this.#deleteRun = db.prepare(runSql.delete)
    db.prepare(postingSql.deleteGoneAfter).run(options.index.runs.at(-1)?.lastNumber ?? 0)
    this.#nextRun = 1 + (db.prepare<[], number>(runSql.greatest).pluck().get() ?? 0)
    for (const run of db.prepare<[], number>(runSql.unusable).pluck().all()) this.#startDrop(run)
  }

  /** To be called after each write, with the number of its operations and of its features: starts what is due. */
  wake(operationCount: number, featurePostings = 0): void {
    if (this.#stopped) return
    this.#startFlush()
    this.#startMerges()
    if (this.#jobs.length === 0 || this.#pause !== null) {
      this.#owedPostings = 0
      return
    }
    this.#owedPostings += (operationCount * plainSlots + featurePostings) * touchesPerPosting
    this.#turn ??= setImmediate(() => this.#step())
  }

  /**
   * Resolves when background work has caught up with the writes so far, each of which owes its share: memory and
   * the number of runs stay bounded however fast documents come, and no write has to wait for a whole job.
   * Rejects where the next run cannot be written and the delta is full again.
   */
  keepUp(): Promise<void> {
    if (this.#hasKeptUp()) return Promise.resolve()
    if (this.failure !== null) return Promise.reject(this.failure)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** Takes no further step. What was begun is dropped and begun again when the database is opened. */
  stop(reason: Error): void {
    this.#stopped = true
    if (this.#turn !== null) clearImmediate(this.#turn)
    if (this.#pause !== null) clearTimeout(this.#pause)
    this.#rejectWaiting(reason)
  }

  /** The delta is full again, and the one before it is not written yet. */
  #isBlocked(): boolean {
    const { index } = this.#options
    return index.frozen !== null && this.#isDeltaFull()
  }

  #isDeltaFull(): boolean {
    const { index, flushSets, flushFeatures } = this.#options
    return index.deltaSize >= flushSets || index.deltaFeatures >= flushFeatures
  }

  /** What is owed may be as much as one step does, so that single writes need not wait. */
  #hasKeptUp(): boolean {
    return this.#owedPostings <= this.#options.sliceRows && !this.#isBlocked()
  }

  #step(): void {
    this.#turn = null
    const job = this.#jobs.reduce((first, other) => (other.rank < first.rank ? other : first))
    try {
      const step = job.steps.next()
      if (step.done) this.#jobs.splice(this.#jobs.indexOf(job), 1)
      else this.#owedPostings = Math.max(0, this.#owedPostings - step.value)
      this.failure = null
    } catch (reason) {
      job.steps = job.begin()
      this.failure = toDittographError(reason)
      this.#pause = setTimeout(() => {
        this.#pause = null
        this.wake(0)
      }, pauseAfterFailureMs).unref()
    }
    this.wake(0)
    if (this.failure !== null && this.#isBlocked()) this.#rejectWaiting(this.failure)
    else if (this.#hasKeptUp()) for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  #rejectWaiting(reason: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason)
  }

  #start(rank: number, sources: readonly Run[], begin: () => Steps): void {
    this.#jobs.push({ rank, sources, begin, steps: begin() })
  }

  #startFlush(): void {
    const { index } = this.#options
    if (index.frozen !== null || !this.#isDeltaFull()) return
    const frozen = index.freezeDelta()
    const run = this.#nextRun++
    this.#start(flushRank, [], () => this.#flush(frozen, run))
  }

  #startMerges(): void {
    const { index, fanOut } = this.#options
    const isBusy = (run: Run): boolean => this.#jobs.some(({ sources }) => sources.includes(run))
    const merge = (sources: readonly Run[], level: number, rank: number): void => {
      if (sources.some(isBusy)) return
      const run = this.#nextRun++
      this.#start(rank, sources, () => this.#merge(sources, level, run))
    }
    for (const level of new Set(index.runs.map((run) => run.level))) {
      // Older runs never have a lower level, so those of one level are neighbours.
      const oldest = index.runs.filter((run) => run.level === level).slice(0, fanOut)
      if (oldest.length === fanOut) merge(oldest, level + 1, mergeRank(level))
    }
    // A run of which most is gone is copied alone, so that what it takes stays within twice what it is worth.
    for (const run of index.runs) {
      if (2 * run.gone > run.numbers) merge([run], run.level, mergeRank(run.level))
    }
  }

  #startDrop(run: number): void {
    this.#start(dropRank, [], () => this.#drop(run))
  }

  *#flush(frozen: FrozenPostings, run: number): Steps {
    const { index } = this.#options
    const { firstNumber, lastNumber, numbers } = frozen
    const writer = yield* this.#begin({ run, level: 0, firstNumber, lastNumber, numbers })
    for (let slot = 0; slot < index.slots; slot++) {
      const postings = frozen.postings(slot)
      const count = postings.numbers.length
      yield 0
      const sorted = sortPostings(postings)
      yield count
      writer.begin(slot, count)
      yield* this.#write(sorted, writer)
      this.#transact(() => writer.end())
      yield 0
    }
    this.#transact(() => this.#publishRun.run(run))
    const { numberBytes } = writer
    index.replaceFrozen({ run, level: 0, firstNumber, lastNumber, numberBytes, numbers, gone: frozen.gone })
  }

  *#merge(sources: readonly Run[], level: number, run: number): Steps {
    const { db, index, sliceRows } = this.#options
    const firstNumber = Math.min(...sources.map((source) => source.firstNumber))
    const lastNumber = Math.max(...sources.map((source) => source.lastNumber))
    const gone = yield* this.#readGone(firstNumber, lastNumber)
    const numbers = Math.max(0, sumOf(sources, (source) => source.numbers) - gone.size)
    const writer = yield* this.#begin({ run, level, firstNumber, lastNumber, numbers })
    for (let slot = 0; slot < index.slots; slot++) {
      const merge = new PostingMerge(index.runReader, sources, slot, gone, sliceRows)
      writer.begin(slot, merge.postings)
      for (let next = merge.next(); next !== null; next = merge.next()) {
        yield next.read - next.part.numbers.length
        yield* this.#write(next.part, writer)
      }
      this.#transact(() => writer.end())
      yield 0
    }
    const goneMeanwhile = sumOf(sources, (source) => source.gone) - gone.size
    this.#transact(() => {
      this.#publishRun.run(run)
      for (const source of sources) this.#dropRun.run(source.run)
    })
    const { numberBytes } = writer
    index.replaceRuns(sources, {
      run,
      level,
      firstNumber,
      lastNumber,
      numberBytes,
      numbers,
      gone: Math.max(0, goneMeanwhile),
    })
    for (const source of sources) this.#startDrop(source.run)
    const deleteGone = db.prepare<[number]>(postingSql.deleteGone)
    const dropped = [...gone]
    for (let from = 0; from < dropped.length; from += sliceRows) {
      const slice = dropped.slice(from, from + sliceRows)
      this.#transact(() => {
        for (const number of slice) deleteGone.run(number)
      })
      yield slice.length
    }
  }

  *#write(sorted: PostingColumns, writer: RunWriter): Steps {
    const { sliceRows } = this.#options
    const count = sorted.numbers.length
    for (let from = 0; from < count; from += sliceRows) {
      const end = Math.min(count, from + sliceRows)
      writer.add(sorted, from, end)
      this.#transact(() => writer.save())
      yield end - from
    }
  }

  /** The numbers in a range that are gone. */
  *#readGone(firstNumber: number, lastNumber: number): Generator<number, ReadonlySet<number>> {
    const { db, sliceRows } = this.#options
    const goneAfter = db.prepare<[number, number, number], number>(postingSql.goneAfter).pluck()
    const gone = new Set<number>()
    let after = firstNumber - 1
    while (true) {
      const numbers = goneAfter.all(after, lastNumber, sliceRows)
      for (const number of numbers) gone.add(number)
      yield 0
      if (numbers.length < sliceRows) return gone
      after = numbers.at(-1) ?? after
    }
  }

  /** Deletes what an attempt that failed may have left, and enters the run as one that is being built. */
  *#begin(
    begun: Pick<Run, 'run' | 'level' | 'firstNumber' | 'lastNumber' | 'numbers'>,
  ): Generator<number, RunWriter> {
    const { db, sliceRows } = this.#options
    const { run, level, firstNumber, lastNumber, numbers } = begun
    yield* this.#drop(run)
    const writer = new RunWriter(db, begun, sliceRows)
    this.#transact(() =>
      this.#insertRun.run(run, level, firstNumber, lastNumber, writer.numberBytes, numbers),
    )
    yield 0
    return writer
  }

  *#drop(run: number): Steps {
    const { db, sliceRows } = this.#options
    const deleteBlocks = db.prepare<[number, number, number], number>(postingSql.deleteBlocks).pluck()
    const blocks = Math.ceil(sliceRows / postingsInLargestBlock)
    const [first, last] = blockRange(run)
    while (true) {
      const deleted = this.#transact(() => deleteBlocks.all(first, last, blocks))
      yield sumOf(deleted, (postings) => postings)
      if (deleted.length < blocks) break
    }
    const deleteSegments = db.prepare<[number, number]>(postingSql.deleteSegments)
    this.#transact(() => deleteSegments.run(segmentNumber(run, 0), segmentNumber(run + 1, 0) - 1))
    this.#transact(() => this.#deleteRun.run(run))
  }

  /**
   * A transaction that need not survive a power loss by itself: postings can be made again from the rows, and
   * the log keeps the order of transactions. So it does not wait for the disk.
   */
  #transact<T>(work: () => T): T {
    const { db, synchronous } = this.#options
    if (synchronous === 'full') db.pragma('synchronous = NORMAL')
    try {
      return this.#immediate(work) as T // what `work` returned
    } finally {
      if (synchronous === 'full') db.pragma('synchronous = FULL')
    }
  }
}

const sumOf = <T>(list: readonly T[], count: (one: T) => number): number =>
  list.reduce((sum, one) => sum + count(one), 0)
