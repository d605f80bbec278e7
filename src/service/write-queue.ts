import { DittographError } from '../errors.ts'
import type { DeleteOperation, PutOperation, Store, WriteResult } from '../store/store.ts'

type Operation = PutOperation | DeleteOperation
type Waiting = {
  readonly operations: readonly Operation[]
  readonly resolve: (results: readonly WriteResult[]) => void
  readonly reject: (reason: unknown) => void
}

const mostOperationsInCommit = 128
const mostOperationsWaiting = 20_000

/**
 * Group commit: whatever is handed in while a commit runs goes into the next one, so that many small requests
 * share one flush to disk. Each caller's operations stay together and in order; its promise settles after the
 * commit that holds them. More than 20,000 operations waiting is `store_busy`.
 */
export class WriteQueue {
  readonly #store: Store
  readonly #observe: (seconds: number) => void
  readonly #waiting: Waiting[] = []
  #waitingOperations = 0
  #running: Promise<void> | null = null

  constructor(store: Store, observeCommit: (seconds: number) => void) {
    this.#store = store
    this.#observe = observeCommit
  }

  write(operations: readonly Operation[]): Promise<readonly WriteResult[]> {
    if (this.#waitingOperations + operations.length > mostOperationsWaiting && this.#waiting.length > 0)
      return Promise.reject(
        new DittographError('store_busy', 'Too many writes are waiting; send this request again later'),
      )
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operations, resolve, reject })
      this.#waitingOperations += operations.length
      this.#running ??= this.#run()
    })
  }

  /** Resolves when everything handed in so far has settled. */
  async drain(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  async #run(): Promise<void> {
    // One turn of the event loop lets requests that arrived together share the first commit too.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup()
      const started = performance.now()
      try {
        const results = await this.#store.write(group.flatMap((one) => one.operations))
        let from = 0
        for (const one of group) {
          one.resolve(results.slice(from, from + one.operations.length))
          from += one.operations.length
        }
      } catch (reason) {
        for (const one of group) one.reject(reason)
      }
      this.#observe((performance.now() - started) / 1000)
      await new Promise(setImmediate)
    }
    this.#running = null
  }

  #takeGroup(): Waiting[] {
    const group: Waiting[] = []
    let count = 0
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0]
      if (next === undefined || (group.length > 0 && count + next.operations.length > mostOperationsInCommit))
        break
      this.#waiting.shift()
      group.push(next)
      count += next.operations.length
    }
    this.#waitingOperations -= count
    return group
  }
}
