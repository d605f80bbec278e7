import type { Analyzer } from '../analysis/analyzer.ts'
import { FeatureCache } from '../service/feature-cache.ts'
import { type Features, featureSet } from '../signature/features.ts'
import type { SnapshotSource } from '../store/snapshot.ts'

const mostBytesCached = 128 * 1024 * 1024
/** Members whose text is looked for: one may have none, because it was stored when texts were not kept. */
const mostMembersAsked = 8

/** Features of the identity sets of a snapshot, made from kept texts; the least recently used go out first. */
export class SetFeatures {
  readonly #features: Features
  readonly #source: SnapshotSource
  readonly #analyzer: Analyzer
  readonly #cache = new FeatureCache(mostBytesCached)

  constructor(source: SnapshotSource, analyzer: Analyzer, features: Features) {
    this.#features = features
    this.#source = source
    this.#analyzer = analyzer
  }

  /** null where no text is kept, or every document was replaced or deleted since the snapshot. */
  of(set: number): Float64Array | null {
    const known = this.#cache.get(set)
    if (known !== undefined) return known
    const text = this.#textOf(set)
    const values = text === null ? null : featureSet(this.#analyzer.tokensOfText(text), this.#features)
    this.#cache.remember(set, values)
    return values
  }

  #textOf(set: number): Uint8Array | null {
    const { firstMember, memberNumbers } = this.#source.snapshot
    const first = firstMember[set] as number
    const end = Math.min(firstMember[set + 1] as number, first + mostMembersAsked)
    for (let member = first; member < end; member++) {
      const text = this.#source.text(memberNumbers[member] as number)
      if (text !== null) return text
    }
    return null
  }
}
