import { timingSafeEqual } from 'node:crypto'
import { type StatsListener, unwatchFile, watchFile } from 'node:fs'
import { digestOf, type KeyRecord, readKeyFile } from './key-file.ts'

/** Between two looks at the file: a revoked key opens nothing after that. */
const watchIntervalMs = 500

export type KeyRingEvents = {
  /** The file was changed, and its keys are in force. */
  readonly onChange: (count: number) => void
  /** The file was changed and cannot be used: the keys that were in force stay. */
  readonly onFailure: (reason: unknown) => void
}

type Entry = { readonly record: KeyRecord; readonly digest: Buffer }

/** The keys in force: those of the file, as it is now. */
export class KeyRing {
  readonly #file: string
  readonly #listener: StatsListener
  #entries: readonly Entry[] = []
  /** Settles when the file was read for the first time, and again as often as it was seen to change. */
  #lastReload: Promise<void> = Promise.resolve()

  private constructor(file: string, events: KeyRingEvents) {
    this.#file = file
    const reload = async (): Promise<void> => {
      try {
        await this.#read()
        events.onChange(this.#entries.length)
      } catch (reason) {
        events.onFailure(reason)
      }
    }
    this.#listener = () => {
      this.#lastReload = this.#lastReload.then(reload, () => undefined)
    }
    // Not by events of the file system: those follow the file that was, not the one that took its place.
    watchFile(file, { persistent: false, interval: watchIntervalMs }, this.#listener)
  }

  /** Reads the keys and from then on follows the file. Throws what `readKeyFile` throws. */
  static async open(file: string, events: KeyRingEvents): Promise<KeyRing> {
    const ring = new KeyRing(file, events)
    try {
      ring.#lastReload = ring.#read()
      await ring.#lastReload
    } catch (reason) {
      ring.close()
      throw reason
    }
    return ring
  }

  /**
   * What is known of a key, or null. Compares it with every key, so that the time tells neither whether nor where
   * there is one that is like it.
   */
  find(key: string): KeyRecord | null {
    const digest = digestOf(key)
    let found: KeyRecord | null = null
    for (const entry of this.#entries) if (timingSafeEqual(digest, entry.digest)) found = entry.record
    return found
  }

  /** Each collection that a key opens, once, in the order of the file. */
  collections(): readonly string[] {
    return [...new Set(this.#entries.map(({ record }) => record.collection))]
  }

  close(): void {
    unwatchFile(this.#file, this.#listener)
  }

  async #read(): Promise<void> {
    const records = await readKeyFile(this.#file)
    this.#entries = records.map((record) => ({ record, digest: Buffer.from(record.sha256, 'hex') }))
  }
}
