import type { Analyzer } from '../analysis/analyzer.ts'
import { type Features, featureSet } from '../signature/features.ts'
import type { SetNumber, Store } from '../store/store.ts'
import type { Subject } from './candidates.ts'
import { FeatureCache } from './feature-cache.ts'

const mostBytesCached = 64 * 1024 * 1024

/**
 * Features of identity sets, made from kept texts and remembered up to 64 MiB, least recently used out first.
 * A set number is never used again, so that an entry cannot go stale.
 */
export class FeatureSets {
  readonly #store: Store
  readonly #analyzer: Analyzer
  readonly #caches: Readonly<Record<Features, FeatureCache>> = {
    shingles: new FeatureCache(mostBytesCached / 2),
    tokens: new FeatureCache(mostBytesCached / 2),
  }

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
    const known = this.#caches[features].get(set)
    if (known !== undefined) return { values: known, bytesRead: 0 }
    const kept = (await this.#store.texts([id])).get(id)
    const text = kept?.text ?? null
    // A document that was replaced meanwhile has another set and another text.
    if (text === null || kept?.set !== set) return { values: null, bytesRead: 0 }
    return { values: this.ofText(set, text, features), bytesRead: text.length }
  }

  /** The features of the page that near-duplicates are sought of; null where it is stored and its text is not kept. */
  async ofSubject({ set, id, tokens }: Subject, features: Features): Promise<Float64Array | null> {
    if (tokens !== null) return featureSet(tokens, features)
    return set === null || id === null ? null : (await this.of(set, id, features)).values
  }

  /** The features of a set from the kept text of one of its members, in UTF-8. */
  ofText(set: SetNumber, text: Uint8Array, features: Features): Float64Array {
    const cache = this.#caches[features]
    const known = cache.get(set)
    if (known) return known
    const values = featureSet(this.#analyzer.tokensOfText(text), features)
    cache.remember(set, values)
    return values
  }
}
