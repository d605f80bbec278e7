import { type Algorithm, decide, usesBands, usesSupershingles } from '../detect/decide.ts'
import { bSimilarity, cSimilarity } from '../detect/similarity.ts'
import type { Signature } from '../signature/signature.ts'
import type { Candidate, SetNumber, Store } from '../store/store.ts'
import type { Budget, CandidateSource, Similarities, Subject, VerifiedPage } from './candidates.ts'
import type { DuplicatesOptions } from './service.ts'
import type { StageTimer } from './stage-timer.ts'

const setsInProbePage = 512

type SketchOptions = DuplicatesOptions & { readonly algorithm: Algorithm }

/** Candidates are the identity sets that share a posting with the subject; each is verified by its stored signature. */
export class SketchCandidates implements CandidateSource {
  readonly #store: Store
  readonly #stages: StageTimer

  constructor(store: Store, stages: StageTimer) {
    this.#store = store
    this.#stages = stages
  }

  async *pages(
    subject: Subject,
    options: SketchOptions,
    fromSet: SetNumber,
    budget: Budget,
  ): AsyncGenerator<VerifiedPage> {
    const { signature } = subject
    if (signature === null) return
    const verify = (candidates: readonly Candidate[]) => this.#verify(subject, signature, candidates, options)
    if (options.algorithm === 'identical') {
      if (subject.set !== null) yield { verified: verify([{ set: subject.set, signature }]), frontier: null }
      return
    }
    const { minSupershingles } = options.thresholds
    let after: SetNumber | null = Math.max(0, fromSet - 1)
    while (after !== null) {
      const started = performance.now()
      const page = await this.#store.probe({
        signature,
        minSupershingles: usesSupershingles(options.algorithm, options.site) ? minSupershingles : null,
        bands: usesBands(options.algorithm, options.site),
        after,
        limit: Math.max(1, Math.min(setsInProbePage, budget.limit - budget.examined)),
      })
      this.#stages.observe('probe', (performance.now() - started) / 1000)
      budget.examined += page.examined
      after = page.frontier
      yield { verified: verify(page.candidates), frontier: page.frontier }
    }
  }

  /** Exact similarities, by set, of the candidates that could be near-duplicates on one site or on two. */
  #verify(
    subject: Subject,
    signature: Signature,
    candidates: readonly Candidate[],
    { algorithm, thresholds }: SketchOptions,
  ): Map<SetNumber, Similarities> {
    const started = performance.now()
    const verified = new Map<SetNumber, Similarities>()
    for (const candidate of candidates) {
      const similarities = {
        bSimilarity: bSimilarity(signature, candidate.signature),
        cSimilarity: cSimilarity(signature, candidate.signature),
        identical: candidate.set === subject.set,
        exact: null,
      }
      const accepts = (sameSite: boolean) => decide(algorithm, { ...similarities, sameSite }, thresholds)
      if (accepts(true) || accepts(false)) verified.set(candidate.set, similarities)
    }
    this.#stages.observe('verify', (performance.now() - started) / 1000)
    return verified
  }
}
