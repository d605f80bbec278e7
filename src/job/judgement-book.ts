import type Database from 'better-sqlite3'
import type { Label } from '../evaluation/label.ts'
import { toDittographError } from '../store/sqlite/sqlite-error.ts'

/** What was said of two documents as they were then; `a` is the lower id. */
export type JudgementRecord = {
  readonly a: string
  readonly b: string
  readonly label: Label
  readonly reason: string | null
  /** Content hashes in hexadecimal. */
  readonly contentA: string
  readonly contentB: string
  /** Milliseconds since 1970. */
  readonly judgedAt: number
}

const columns = `a, b, label, reason, content_a AS contentA, content_b AS contentB, judged_at AS judgedAt`

const guard = <T>(work: () => T): T => {
  try {
    return work()
  } catch (reason) {
    throw toDittographError(reason)
  }
}

/** All judgements; a change is durable when the call returns. Calls throw `store_full` where there is no room. */
export class JudgementBook {
  readonly #put: Database.Statement<unknown[]>
  readonly #get: Database.Statement<[string, string], JudgementRecord>
  readonly #after: Database.Statement<[string, string, number], JudgementRecord>
  readonly #remove: Database.Statement<[string, string]>

  /** Of the database of the records of jobs, which it leaves open. */
  constructor(db: Database.Database) {
    this.#put = db.prepare(`
      INSERT INTO judgement (a, b, label, reason, content_a, content_b, judged_at) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (a, b) DO UPDATE SET label = excluded.label, reason = excluded.reason,
        content_a = excluded.content_a, content_b = excluded.content_b, judged_at = excluded.judged_at`)
    this.#get = db.prepare(`SELECT ${columns} FROM judgement WHERE a = ? AND b = ?`)
    this.#after = db.prepare(`SELECT ${columns} FROM judgement WHERE (a, b) > (?, ?) ORDER BY a, b LIMIT ?`)
    this.#remove = db.prepare('DELETE FROM judgement WHERE a = ? AND b = ?')
  }

  put({ a, b, label, reason, contentA, contentB, judgedAt }: JudgementRecord): void {
    guard(() => this.#put.run(a, b, label, reason, contentA, contentB, judgedAt))
  }

  get(a: string, b: string): JudgementRecord | null {
    return guard(() => this.#get.get(a, b)) ?? null
  }

  /** At most `limit`, in the order of the bytes of their ids, from behind two ids on. */
  after(a: string, b: string, limit: number): readonly JudgementRecord[] {
    return guard(() => this.#after.all(a, b, limit))
  }

  /** Whether there was one. */
  remove(a: string, b: string): boolean {
    return guard(() => this.#remove.run(a, b).changes) > 0
  }
}
