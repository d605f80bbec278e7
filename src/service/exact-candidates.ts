import { intersectionSize } from '../detect/resemblance.ts'
import { bSimilarity, cSimilarity } from '../detect/similarity.ts'
import { DittographError } from '../errors.ts'
import { type Bounds, boundsOf } from '../join/bounds.ts'
import { type Measure, similarity } from '../join/measure.ts'
import { thresholdOf } from '../join/threshold.ts'
import type { Features } from '../signature/features.ts'
import { k } from '../signature/scheme.ts'
import type { Candidate, FeaturePage, ScanPage, SetNumber, SetWithText, Store } from '../store/store.ts'
import type { Budget, CandidateSource, Similarities, Subject, VerifiedPage } from './candidates.ts'
import type { FeatureSets } from './feature-sets.ts'
import { createPacer } from './pacer.ts'
import type { DuplicatesOptions } from './service.ts'
import type { StageTimer } from './stage-timer.ts'

/** Each comes with a text. */
const setsInPage = 16

type ExactOptions = DuplicatesOptions & { readonly algorithm: Measure }

/**
 * How many tokens pages have whose features can reach the threshold with so many: a page may repeat its shingles, but
 * not have more than tokens.
 */
const tokenRange = (bounds: Bounds, size: number, features: Features) => {
  const least = bounds.minSize(size)
  return features === 'tokens'
    ? { minTokens: least, maxTokens: Math.min(bounds.maxSize(size), Number.MAX_SAFE_INTEGER) }
    : { minTokens: least <= 1 ? 1 : least + k - 1, maxTokens: Number.MAX_SAFE_INTEGER }
}

/**
 * Exact set similarity. Candidates are the sets that the index of the store names. Where it has none for the query, or
 * naming them is too much work, they are all sets whose number of tokens admits the threshold. Each is verified by the
 * features of its kept text.
 */
export class ExactCandidates implements CandidateSource {
  readonly #store: Store
  readonly #featureSets: FeatureSets
  readonly #stages: StageTimer

  constructor(store: Store, featureSets: FeatureSets, stages: StageTimer) {
    this.#store = store
    this.#featureSets = featureSets
    this.#stages = stages
  }

  async *pages(
    subject: Subject,
    options: ExactOptions,
    fromSet: SetNumber,
    budget: Budget,
  ): AsyncGenerator<VerifiedPage> {
    const { algorithm: measure, exact } = options
    const own = await this.#ownFeatures(subject, exact.features)
    if (own.length === 0) return
    const bounds = boundsOf(measure, thresholdOf(exact.threshold))
    for await (const { sets, frontier } of this.#candidates(own, bounds, exact.features, fromSet, budget))
      yield { verified: await this.#verify(subject, own, sets, options, budget), frontier }
  }

  /** Pages of candidates from a set on, added to the budget. */
  async *#candidates(
    values: Float64Array,
    bounds: Bounds,
    features: Features,
    fromSet: SetNumber,
    budget: Budget,
  ): AsyncGenerator<Pick<ScanPage, 'sets' | 'frontier'>> {
    const left = () => Math.max(1, Math.ceil(budget.limit - budget.examined))
    const range = tokenRange(bounds, values.length, features)
    let after: SetNumber | null = Math.max(0, fromSet - 1)
    let scanThrough: SetNumber = 0
    while (after !== null) {
      const started = performance.now()
      const probed: FeaturePage | null =
        after < scanThrough
          ? null
          : await this.#store.probeFeatures({ features, values, bounds, after, limit: left() })
      if (probed === null) {
        const page = await this.#store.scan({ ...range, after, limit: Math.min(setsInPage, left()) })
        budget.examined += page.examined
        after = page.frontier
        yield page
        continue
      }
      this.#stages.observe('probe', (performance.now() - started) / 1000)
      after = probed.frontier
      scanThrough = probed.scanThrough ?? 0
      budget.examined += probed.examined - probed.sets.length
      for (let from = 0; from < probed.sets.length; from += setsInPage) {
        const sets = probed.sets.slice(from, from + setsInPage)
        budget.examined += sets.length
        const isLast = from + setsInPage >= probed.sets.length
        yield { sets: await this.#store.setTexts(sets), frontier: isLast ? after : (sets.at(-1) ?? after) }
      }
      if (probed.sets.length === 0) yield { sets: [], frontier: after }
    }
  }

  async #verify(
    subject: Subject,
    own: Float64Array,
    sets: readonly SetWithText[],
    { algorithm: measure, exact }: ExactOptions,
    budget: Budget,
  ): Promise<Map<SetNumber, Similarities>> {
    const pace = createPacer()
    const verified = new Map<SetNumber, Similarities>()
    const started = performance.now()
    for (const { text, ...candidate } of sets) {
      if (text === null) budget.unverified++
      else {
        const theirs = this.#featureSets.ofText(candidate.set, text, exact.features)
        const value = similarity(measure, intersectionSize(own, theirs), own.length, theirs.length)
        if (value >= exact.threshold)
          verified.set(candidate.set, this.#similarities(subject, candidate, value))
      }
      await pace()
    }
    this.#stages.observe('verify', (performance.now() - started) / 1000)
    return verified
  }

  async #ownFeatures(subject: Subject, features: Features): Promise<Float64Array> {
    const values = await this.#featureSets.ofSubject(subject, features)
    if (values !== null) return values
    throw new DittographError(
      'text_not_kept',
      'The exact measures compare texts, and that of this document is not kept: store it again with KEEP_TEXT=true',
    )
  }

  #similarities({ signature, set }: Subject, candidate: Candidate, exact: number): Similarities {
    return {
      bSimilarity: signature === null ? 0 : bSimilarity(signature, candidate.signature),
      cSimilarity: signature === null ? 0 : cSimilarity(signature, candidate.signature),
      identical: candidate.set === set,
      exact,
    }
  }
}
