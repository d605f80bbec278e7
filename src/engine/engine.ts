import { Worker } from 'node:worker_threads'
import { defaultCollection } from '../access/collection-name.ts'
import type { Config } from '../config.ts'
import { DittographError } from '../errors.ts'
import type { Collections, Services } from '../service/service.ts'
import { Outbox } from './outbox.ts'
import { PageMemory, type SharedRange } from './page-memory.ts'
import {
  type Answer,
  type Call,
  type CollectionMethods,
  type EngineData,
  type EngineMethods,
  type MethodName,
  received,
  takePageBytes,
  type WholeMethods,
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
export class Engine implements Collections {
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

  /**
   * Opens collections, as many of them as may be open, in a new thread. Rejects with the reason where one of them
   * cannot be opened.
   */
  static start(config: Config, collections: readonly string[] = [defaultCollection]): Promise<Engine> {
    const memory = new PageMemory()
    const data: EngineData<Config> = { config, collections, sharedMemory: memory.buffer }
    const worker = new Worker(threadFile, { workerData: data })
    return new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', (message: 'ready' | { refused: unknown }) => {
        if (message === 'ready') resolve(new Engine(worker, memory))
        else reject(received(message.refused))
      })
    })
  }

  /** What the engine does for a collection, as the services that it does it by. See `Collections`. */
  services(collection: string = defaultCollection): Services {
    const call = <M extends keyof CollectionMethods>(method: M, ...args: Parameters<CollectionMethods[M]>) =>
      this.#call(collection, method, args)
    return {
      documents: {
        store: (inputs, duplicates) => call('store', inputs, duplicates),
        get: (id) => call('get', id),
        text: (id) => call('text', id),
        delete: (id) => call('delete', id),
        list: (query) => call('list', query),
      },
      nearDuplicates: {
        ofDocument: (id, options) => call('duplicatesOfDocument', id, options),
        ofPage: (page, options) => call('duplicatesOfPage', page, options),
      },
      comparison: {
        ofDocuments: (a, b) => call('compareDocuments', a, b),
        ofPages: (a, b) => call('comparePages', a, b),
        analyze: (page) => call('analyze', page),
      },
      jobs: {
        create: (request) => call('createJob', request),
        get: (id) => call('getJob', id),
        list: (query) => call('listJobs', query),
        delete: (id) => call('deleteJob', id),
        pairs: (id, query) => call('pairsOfJob', id, query),
        clusters: (id, query) => call('clustersOfJob', id, query),
      },
      evaluation: {
        sample: (job, query) => call('sampleOfJob', job, query),
        statistics: (job) => call('statisticsOfJob', job),
        evaluation: (job) => call('evaluationOfJob', job),
        judge: (a, b, verdict) => call('judge', a, b, verdict),
        judgements: (query) => call('judgements', query),
        forget: (a, b) => call('forgetJudgement', a, b),
      },
      operations: {
        ready: () => call('ready'),
        renderMetrics: () => call('renderMetrics'),
      },
    }
  }

  ready(): Promise<void> {
    return this.#callWhole('allReady')
  }

  /** Calls back when the thread ends by itself, which it never should. */
  onFailure(failed: (reason: unknown) => void): void {
    this.#worker.on('error', failed)
  }

  /** Ends the thread after what was handed in is done and the store is closed. */
  async close(): Promise<void> {
    await this.#callWhole('close')
    await this.#worker.terminate()
  }

  #callWhole(method: keyof WholeMethods): Promise<void> {
    return this.#call(null, method, [])
  }

  #call<M extends MethodName>(
    collection: string | null,
    method: M,
    args: Parameters<EngineMethods[M]>,
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
      this.#outbox.add({ call, collection, method, args: taken.args, pageBytes }, canWait)
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
