import type { Analyzer } from '../analysis/analyzer.ts'
import { type Features, featureSet } from '../signature/features.ts'
import type { SetNumber, Store } from '../store/store.ts'

const mostBytesCached = 64 * 1024 * 1024

/**
 * Features of identity sets, made from kept texts and remembered up to 64 MiB, least recently used out first.
 * A set number is never used again, so that an entry cannot go stale.
 */
export class FeatureSets {
  readonly #store: Store
  readonly #analyzer: Analyzer
  readonly #caches: Readonly<Record<Features, Map<SetNumber, Float64Array>>> = {
    shingles: new Map(),
    tokens: new Map(),
  }
  readonly #bytes: Record<Features, number> = { shingles: 0, tokens: 0 }

  constructor(store: Store, analyzer: Analyzer) {
    this.#store = store
    this.#analyzer = analyzer
  }

  /** The features of a document and how many bytes of text were read for them; null where no text is kept. */
  async of(
    set: SetNumber,
    id: string,
    features: Features,
  ): Promise<{ values: Float64Array | null; bytesRead: number }> {
    const known = this.#recall(set, features)
    if (known !== undefined) return { values: known, bytesRead: 0 }
    const kept = (await this.#store.texts([id])).get(id)
    const text = kept?.text ?? null
    // A document that was replaced meanwhile has another set and another text.
    if (text === null || kept?.set !== set) return { values: null, bytesRead: 0 }
    return { values: this.ofText(set, text, features), bytesRead: text.length }
  }

  /** The features of a set from the kept text of one of its members, in UTF-8. */
  ofText(set: SetNumber, text: Uint8Array, features: Features): Float64Array {
    const known = this.#recall(set, features)
    if (known !== undefined) return known
    const values = featureSet(this.#analyzer.tokensOfText(text), features)
    this.#remember(set, values, features)
    return values
  }

  #recall(set: SetNumber, features: Features): Float64Array | undefined {
    const cache = this.#caches[features]
    const known = cache.get(set)
    if (known === undefined) return undefined
    cache.delete(set)
    cache.set(set, known)
    return known
  }

  #remember(set: SetNumber, values: Float64Array, features: Features): void {
    const most = mostBytesCached / 2
    if (values.byteLength > most / 8) return
    const cache = this.#caches[features]
    cache.set(set, values)
    this.#bytes[features] += values.byteLength
    for (const [oldest, { byteLength }] of cache) {
      if (this.#bytes[features] <= most) break
      cache.delete(oldest)
      this.#bytes[features] -= byteLength
    }
  }
}
