import type { Analyzer } from '../analysis/analyzer.ts'
import { k } from '../signature/scheme.ts'
import { shingleSet } from '../signature/shingle.ts'
import type { SetNumber, Store } from '../store/store.ts'

const mostBytesCached = 64 * 1024 * 1024

/**
 * Shingle sets of identity sets, made from kept texts and remembered up to 64 MiB, least recently used out
 * first. A set number is never used again, so that an entry cannot go stale.
 */
export class ShingleSets {
  readonly #store: Store
  readonly #analyzer: Analyzer
  readonly #cache = new Map<SetNumber, Float64Array>()
  #bytes = 0

  constructor(store: Store, analyzer: Analyzer) {
    this.#store = store
    this.#analyzer = analyzer
  }

  /** The shingle set of a document and how many bytes of text were read for it; null where no text is kept. */
  async of(set: SetNumber, id: string): Promise<{ shingles: Float64Array | null; bytesRead: number }> {
    const known = this.#cache.get(set)
    if (known !== undefined) {
      this.#cache.delete(set)
      this.#cache.set(set, known)
      return { shingles: known, bytesRead: 0 }
    }
    const kept = (await this.#store.texts([id])).get(id)
    const text = kept?.text ?? null
    // A document that was replaced meanwhile has another set and another text.
    if (text === null || kept?.set !== set) return { shingles: null, bytesRead: 0 }
    const shingles = shingleSet(this.#analyzer.tokensOfText(text), k)
    this.#remember(set, shingles)
    return { shingles, bytesRead: text.length }
  }

  #remember(set: SetNumber, shingles: Float64Array): void {
    if (shingles.byteLength > mostBytesCached / 8 || this.#cache.has(set)) return
    this.#cache.set(set, shingles)
    this.#bytes += shingles.byteLength
    for (const [oldest, value] of this.#cache) {
      if (this.#bytes <= mostBytesCached) break
      this.#cache.delete(oldest)
      this.#bytes -= value.byteLength
    }
  }
}
