import type { RunningServices } from '../compose.ts'
import { DittographError } from '../errors.ts'
import type { Services } from '../service/service.ts'

export type OpenCollectionsOptions = {
  readonly open: (collection: string) => Promise<RunningServices>
  /** So many are open at once at most. */
  readonly limit: number
}

type Open = {
  readonly running: Promise<RunningServices>
  /** Calls under way. */
  calls: number
  /** Once it is open. */
  isIdle: () => boolean
}

/**
 * The collections that are open. Each is opened by its first call; where too many would be open, the one that was
 * used least lately, and that nothing is done with, is closed for it.
 */
export class OpenCollections {
  readonly #options: OpenCollectionsOptions
  /** The one that was used last at the end. */
  readonly #open = new Map<string, Open>()
  /** Those that are being closed, which must be over before they are opened again. */
  readonly #closing = new Map<string, Promise<void>>()
  #isClosed = false

  constructor(options: OpenCollectionsOptions) {
    this.#options = options
  }

  /**
   * Has something done with the services of a collection. Rejects with `overloaded` where all that may be open are
   * busy, and with the reason where the collection cannot be opened.
   */
  async use<T>(collection: string, call: (services: Services) => Promise<T>): Promise<T> {
    const open = this.#open.get(collection) ?? this.#makeRoom(collection)
    this.#open.delete(collection)
    this.#open.set(collection, open)
    open.calls += 1
    try {
      return await call((await open.running).services)
    } finally {
      open.calls -= 1
    }
  }

  /** Resolves where documents can be stored in all that are open; rejects with the reason. */
  async ready(): Promise<void> {
    const checks = [...this.#open.keys()].map((collection) =>
      this.use(collection, ({ operations }) => operations.ready()),
    )
    await Promise.all(checks)
  }

  /** Closes all of them, after what was handed in is done; none is opened again. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closed = [...this.#open.keys()].map((collection) => this.#close(collection))
    await Promise.all([...closed, ...this.#closing.values()])
  }

  #makeRoom(collection: string): Open {
    if (this.#isClosed) throw new DittographError('store_busy', 'The service is closing')
    // Looked up now: later it may be the closing of what is opened here, which waits for that.
    const closedBefore = this.#closing.get(collection)?.catch(() => undefined)
    let closed: Promise<void> = Promise.resolve()
    if (this.#open.size >= this.#options.limit) {
      const idle = [...this.#open].find(([, { calls, isIdle }]) => calls === 0 && isIdle())
      if (idle === undefined) {
        const detail = `All ${this.#options.limit} collections that may be open are being worked with (OPEN_COLLECTIONS)`
        throw new DittographError('overloaded', detail)
      }
      // What went wrong with one collection is no reason to refuse another.
      closed = this.#close(idle[0]).catch((error) => process.emitWarning(error))
    }
    const running = closed.then(() => closedBefore).then(() => this.#options.open(collection))
    const open: Open = { running, calls: 0, isIdle: () => false }
    running.then(
      ({ isIdle }) => {
        open.isIdle = isIdle
      },
      () => {
        if (this.#open.get(collection) === open) this.#open.delete(collection)
      },
    )
    return open
  }

  #close(collection: string): Promise<void> {
    const open = this.#open.get(collection)
    this.#open.delete(collection)
    const closed = (async () => {
      try {
        const running = await open?.running.catch(() => undefined)
        await running?.close()
      } finally {
        this.#closing.delete(collection)
      }
    })()
    this.#closing.set(collection, closed)
    return closed
  }
}
