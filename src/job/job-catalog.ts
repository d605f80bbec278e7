import type Database from 'better-sqlite3'
import type { JobRequest, JobResult, JobState } from '../service/job-service.ts'
import { toDittographError } from '../store/sqlite/sqlite-error.ts'

/** A job as it is recorded. Times in milliseconds since 1970. */
export type JobRecord = {
  readonly id: string
  readonly request: JobRequest
  readonly state: JobState
  readonly attempts: number
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly result: JobResult | null
  readonly resultBytes: number
  readonly reason: string | null
}

type Row = Omit<JobRecord, 'request' | 'result'> & {
  readonly request: string
  readonly result: string | null
}

const recordOf = (row: Row): JobRecord => ({
  ...row,
  request: JSON.parse(row.request),
  result: row.result === null ? null : JSON.parse(row.result),
})

const columns = `id, request, state, attempts, created_at AS createdAt, started_at AS startedAt,
  finished_at AS finishedAt, result, result_bytes AS resultBytes, reason`

const guard = <T>(work: () => T): T => {
  try {
    return work()
  } catch (reason) {
    throw toDittographError(reason)
  }
}

/** The records of all jobs; a change is durable when the call returns. Calls throw `store_full` where there is no room. */
export class JobCatalog {
  readonly #db: Database.Database
  readonly #get: Database.Statement<[string], Row>
  readonly #before: Database.Statement<[string, number], Row>
  readonly #inState: Database.Statement<[JobState], Row>
  readonly #finished: Database.Statement<[], Row>
  readonly #active: Database.Statement<[string], Row>
  readonly #put: Database.Statement<unknown[]>
  readonly #remove: Database.Statement<[string]>

  constructor(db: Database.Database) {
    this.#db = db
    this.#get = db.prepare(`SELECT ${columns} FROM job WHERE id = ?`)
    this.#before = db.prepare(`SELECT ${columns} FROM job WHERE id < ? ORDER BY id DESC LIMIT ?`)
    this.#inState = db.prepare(`SELECT ${columns} FROM job WHERE state = ? ORDER BY id`)
    this.#finished = db.prepare(
      `SELECT ${columns} FROM job WHERE finished_at IS NOT NULL ORDER BY finished_at, id`,
    )
    this.#active = db.prepare(
      `SELECT ${columns} FROM job WHERE request = ? AND state IN ('queued', 'running') LIMIT 1`,
    )
    this.#put = db.prepare('INSERT OR REPLACE INTO job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#remove = db.prepare('DELETE FROM job WHERE id = ?')
  }

  get(id: string): JobRecord | null {
    const row = guard(() => this.#get.get(id))
    return row === undefined ? null : recordOf(row)
  }

  /** Newest first, those before the given id. */
  before(id: string, limit: number): readonly JobRecord[] {
    return guard(() => this.#before.all(id, limit)).map(recordOf)
  }

  /** Oldest first. */
  inState(state: JobState): readonly JobRecord[] {
    return guard(() => this.#inState.all(state)).map(recordOf)
  }

  /** Those that have ended, the first that did so first. */
  finished(): readonly JobRecord[] {
    return guard(() => this.#finished.all()).map(recordOf)
  }

  /** A job with this very request that is queued or running. */
  activeOf(request: JobRequest): JobRecord | null {
    const row = guard(() => this.#active.get(JSON.stringify(request)))
    return row === undefined ? null : recordOf(row)
  }

  put(record: JobRecord): void {
    guard(() =>
      this.#put.run(
        record.id,
        record.request.kind,
        JSON.stringify(record.request),
        record.state,
        record.attempts,
        record.createdAt,
        record.startedAt,
        record.finishedAt,
        record.result === null ? null : JSON.stringify(record.result),
        record.resultBytes,
        record.reason,
      ),
    )
  }

  remove(id: string): void {
    guard(() => this.#remove.run(id))
  }

  close(): void {
    this.#db.close()
  }
}
