import { Worker } from 'node:worker_threads'
import type { Config } from '../config.ts'
import { DittographError } from '../errors.ts'
import type { Services } from '../service/service.ts'
import { Outbox } from './outbox.ts'
import { PageMemory, type SharedRange } from './page-memory.ts'
import {
  type Answer,
  type Call,
  type EngineData,
  type EngineMethods,
  type MethodName,
  received,
  takePageBytes,
} from './protocol.ts'

/** Node runs threads from JavaScript only: where this is TypeScript, in the tests, the thread is the built one. */
const threadFile = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/engine/engine-thread.js' : './engine-thread.js',
  import.meta.url,
)

/** Calls and bytes of pages that may be under way; more is `overloaded`, so that a burst costs no memory. */
const mostCallsUnderWay = 10_000
const mostBytesUnderWay = 256 * 1024 * 1024

type Waiting = {
  readonly bytes: number
  readonly shared: SharedRange | null
  readonly resolve: (value: never) => void
  readonly reject: (reason: unknown) => void
}

/**
 * The engine (services and store) in a thread of its own, so that the thread that speaks HTTP stays free. Calls
 * of one turn of the event loop cross together, and so do the answers.
 */
export class Engine {
  readonly #worker: Worker
  readonly #memory: PageMemory
  readonly #waiting = new Map<number, Waiting>()
  readonly #outbox: Outbox<Call>
  #lastCall = 0
  #bytesUnderWay = 0

  private constructor(worker: Worker, memory: PageMemory) {
    this.#worker = worker
    this.#memory = memory
    this.#outbox = new Outbox((calls) => worker.postMessage(calls))
    worker.on('message', (answers: readonly Answer[]) => this.#receive(answers))
  }

  /** Opens the store in a new thread. Rejects with the reason where it cannot be opened. */
  static start(config: Config): Promise<Engine> {
    const memory = new PageMemory()
    const data: EngineData<Config> = { config, sharedMemory: memory.buffer }
    const worker = new Worker(threadFile, { workerData: data })
    return new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', (message: 'ready' | { refused: unknown }) => {
        if (message === 'ready') resolve(new Engine(worker, memory))
        else reject(received(message.refused))
      })
    })
  }

  /** What the engine does, as the services that it does it by. */
  services(): Services {
    return {
      documents: {
        store: (inputs, duplicates) => this.#call('store', inputs, duplicates),
        get: (id) => this.#call('get', id),
        text: (id) => this.#call('text', id),
        delete: (id) => this.#call('delete', id),
        list: (query) => this.#call('list', query),
      },
      nearDuplicates: {
        ofDocument: (id, options) => this.#call('duplicatesOfDocument', id, options),
        ofPage: (page, options) => this.#call('duplicatesOfPage', page, options),
      },
      comparison: {
        ofDocuments: (a, b) => this.#call('compareDocuments', a, b),
        ofPages: (a, b) => this.#call('comparePages', a, b),
        analyze: (page) => this.#call('analyze', page),
      },
      jobs: {
        create: (request) => this.#call('createJob', request),
        get: (id) => this.#call('getJob', id),
        list: (query) => this.#call('listJobs', query),
        delete: (id) => this.#call('deleteJob', id),
        pairs: (id, query) => this.#call('pairsOfJob', id, query),
        clusters: (id, query) => this.#call('clustersOfJob', id, query),
      },
      operations: {
        ready: () => this.#call('ready'),
        renderMetrics: () => this.#call('renderMetrics'),
      },
    }
  }

  /** Calls back when the thread ends by itself, which it never should. */
  onFailure(failed: (reason: unknown) => void): void {
    this.#worker.on('error', failed)
  }

  /** Ends the thread after what was handed in is done and the store is closed. */
  async close(): Promise<void> {
    await this.#call('close')
    await this.#worker.terminate()
  }

  #call<M extends MethodName>(
    method: M,
    ...args: Parameters<EngineMethods[M]>
  ): ReturnType<EngineMethods[M]> {
    const taken = takePageBytes(method, args)
    const bytes = taken.parts.reduce((sum, part) => sum + part.byteLength, 0)
    const answer = new Promise((resolve, reject) => {
      if (this.#waiting.size > 0 && this.#isTooMuch(bytes)) {
        reject(
          new DittographError('overloaded', 'Too much is being worked on; send this request again later'),
        )
        return
      }
      const call = ++this.#lastCall
      const shared = bytes === 0 ? null : this.#memory.put(taken.parts)
      this.#waiting.set(call, { bytes, shared, resolve, reject })
      this.#bytesUnderWay += bytes
      // `Buffer.concat` may take a part of a larger buffer, all of which would be sent.
      const pageBytes = bytes === 0 ? 0 : (shared?.start ?? new Uint8Array(Buffer.concat(taken.parts)))
      // A commit to disk takes longer than that.
      const canWait = method === 'store'
      this.#outbox.add({ call, method, args: taken.args, pageBytes }, canWait)
    })
    return answer as ReturnType<EngineMethods[M]>
  }

  #isTooMuch(bytes: number): boolean {
    return this.#waiting.size >= mostCallsUnderWay || this.#bytesUnderWay + bytes > mostBytesUnderWay
  }

  #receive(answers: readonly Answer[]): void {
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer.call)
      if (waiting === undefined) continue
      this.#waiting.delete(answer.call)
      this.#bytesUnderWay -= waiting.bytes
      if (waiting.shared !== null) this.#memory.giveBack(waiting.shared)
      if ('error' in answer) waiting.reject(received(answer.error))
      else {
        const { value } = answer
        waiting.resolve((Array.isArray(value) ? value.map(received) : value) as never)
      }
    }
  }
}
