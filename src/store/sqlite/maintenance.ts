import type Database from 'better-sqlite3'
import { type Delta, isFull } from './delta.ts'
import type { PostingIndex, Run } from './posting-index.ts'
import { type PostingTable, postingTables, slotCount } from './posting-table.ts'
import { postingSql, runSql } from './sql.ts'
import { toDittographError } from './sqlite-error.ts'

/** A posting within a run, as the bound of a slice: slot, value, number. */
type Position = readonly [bigint, bigint, bigint]
const beforeAll: Position = [-1n, 0n, 0n]
const afterAll: Position = [1_000_000n, 0n, 0n]

const isBefore = (a: Position, b: Position): boolean =>
  a[0] !== b[0] ? a[0] < b[0] : a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2]

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
 * How often a posting is touched in the background: written once as part of a run, then copied and deleted with
 * each level. Three levels of fan-out 8 are 16 million sets.
 */
const touchesPerPosting = 7

/** Postings inserted by one statement: less than half the cost of one by one. */
const rowsInInsert = 16

export type MaintenanceOptions = {
  readonly db: Database.Database
  readonly index: PostingIndex
  /** Sets, or documents, that make the delta full. */
  readonly flushSets: number
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
    this.#nextRun = 1 + (db.prepare<[], number>(runSql.greatest).pluck().get() ?? 0)
    for (const run of db.prepare<[], number>(runSql.unusable).pluck().all()) this.#startDrop(run)
  }

  /** To be called after each write, with the number of its operations: starts what is due. */
  wake(operationCount: number): void {
    if (this.#stopped) return
    this.#startFlush()
    this.#startMerges()
    if (this.#jobs.length === 0 || this.#pause !== null) {
      this.#owedPostings = 0
      return
    }
    this.#owedPostings += operationCount * slotCount * touchesPerPosting
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
    const { index, flushSets } = this.#options
    return index.frozen !== null && isFull(index.delta, flushSets)
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
    const { index, flushSets } = this.#options
    if (index.frozen !== null || !isFull(index.delta, flushSets)) return
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

  *#flush(frozen: Delta, run: number): Steps {
    const { db, index, sliceRows } = this.#options
    const { firstNumber, lastNumber } = frozen
    const numbers = frozen.setCount + frozen.documentCount
    yield* this.#begin({ run, level: 0, firstNumber, lastNumber, numbers })
    for (const table of postingTables) {
      const rows = new RowInserter(db, postingSql(table).insert)
      for (let slot = table.firstSlot; slot < table.endSlot; slot++) {
        const postings = frozen.sorted(slot)
        let written: number
        do {
          written = 0
          this.#transact(() => {
            for (let next = postings.next(); !next.done; next = postings.next()) {
              rows.add(run, slot - table.firstSlot, ...next.value)
              if (++written === sliceRows) break
            }
            rows.finish()
          })
          yield written
        } while (written === sliceRows)
      }
    }
    const gone = frozen.goneCount
    this.#transact(() => this.#publishRun.run(gone, run))
    index.replaceFrozen({ run, level: 0, firstNumber, lastNumber, numbers, gone })
  }

  *#merge(sources: readonly Run[], level: number, run: number): Steps {
    const sumOf = (count: (source: Run) => number): number =>
      sources.reduce((sum, source) => sum + count(source), 0)
    const goneBefore = sumOf((source) => source.gone)
    const numbers = sumOf((source) => source.numbers) - goneBefore
    const firstNumber = Math.min(...sources.map((source) => source.firstNumber))
    const lastNumber = Math.max(...sources.map((source) => source.lastNumber))
    yield* this.#begin({ run, level, firstNumber, lastNumber, numbers })
    for (const table of postingTables) yield* this.#copy(table, sources, run, goneBefore > 0)
    const gone = sumOf((source) => source.gone) - goneBefore
    this.#transact(() => {
      this.#publishRun.run(gone, run)
      for (const source of sources) this.#dropRun.run(source.run)
    })
    this.#options.index.replaceRuns(sources, { run, level, firstNumber, lastNumber, numbers, gone })
    for (const source of sources) this.#startDrop(source.run)
  }

  /** Deletes what an attempt that failed may have left, and enters the run as one that is being built. */
  *#begin({ run, level, firstNumber, lastNumber, numbers }: Omit<Run, 'gone'>): Steps {
    yield* this.#drop(run)
    this.#transact(() => this.#insertRun.run(run, level, firstNumber, lastNumber, numbers))
    yield 0
  }

  /** Copies the postings of one table in slices, of which every source has no more than its share. */
  *#copy(table: PostingTable, sources: readonly Run[], target: number, onlyExisting: boolean): Steps {
    const { db, sliceRows } = this.#options
    const runs = sources.map(({ run }) => run)
    const share = Math.max(1, Math.floor(sliceRows / runs.length))
    const copy = db.prepare<unknown[]>(postingSql(table).copy(runs.length, onlyExisting))
    const ends = new SliceEnds(db, table)
    let from = beforeAll
    let to: Position
    do {
      to = runs.map((run) => ends.find(run, from, share)).reduce((a, b) => (isBefore(a, b) ? a : b))
      const slice = [...from, ...to]
      yield this.#transact(() => copy.run(target, ...runs, ...slice).changes)
      from = to
    } while (to !== afterAll)
  }

  *#drop(run: number): Steps {
    const { db, sliceRows } = this.#options
    for (const table of postingTables) {
      const remove = db.prepare<unknown[]>(postingSql(table).delete)
      const ends = new SliceEnds(db, table)
      let to: Position
      do {
        to = ends.find(run, beforeAll, sliceRows)
        yield this.#transact(() => remove.run(run, ...to).changes)
      } while (to !== afterAll)
    }
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

/** Finds where slices of a run end. */
class SliceEnds {
  readonly #skip: Database.Statement<unknown[], Position>

  constructor(db: Database.Database, table: PostingTable) {
    this.#skip = db.prepare<unknown[], Position>(postingSql(table).skip).raw().safeIntegers()
  }

  /** The `count`-th posting of the run after a position; `afterAll` where there are fewer. */
  find(run: number, from: Position, count: number): Position {
    return this.#skip.get(run, ...from, count - 1) ?? afterAll
  }
}

/** Inserts rows in the order in which they come, `rowsInInsert` at a time. */
class RowInserter {
  readonly #insertOne: Database.Statement<unknown[]>
  readonly #insertMany: Database.Statement<unknown[]>
  readonly #columnCount = 4
  #values: unknown[] = []

  constructor(db: Database.Database, insert: (rowCount: number) => string) {
    this.#insertOne = db.prepare(insert(1))
    this.#insertMany = db.prepare(insert(rowsInInsert))
  }

  add(...row: readonly [run: number, slot: number, value: bigint, number: number]): void {
    this.#values.push(...row)
    if (this.#values.length < rowsInInsert * this.#columnCount) return
    this.#insertMany.run(this.#values)
    this.#values = []
  }

  /** Inserts the rows that are left. */
  finish(): void {
    for (let i = 0; i < this.#values.length; i += this.#columnCount)
      this.#insertOne.run(this.#values.slice(i, i + this.#columnCount))
    this.#values = []
  }
}
