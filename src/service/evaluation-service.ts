import type { JobEvaluation } from '../evaluation/job-evaluation.ts'
import type { JobStatistics } from '../evaluation/job-statistics.ts'
import type { Label } from '../evaluation/label.ts'
import type { PageQuery, PairItem } from './job-service.ts'

/** What a person says of two documents; `a` is the lower id. */
export type Judgement = {
  readonly a: string
  readonly b: string
  readonly label: Label
  readonly reason: string | null
  /** By RFC 3339. */
  readonly judgedAt: string
  /** Whether both documents still have the content that was judged; if not, the judgement counts for nothing. */
  readonly current: boolean
}

/** A pair to be judged, or judged already. */
export type SampledPair = PairItem & { readonly label: Label | null }

export type SampleView = {
  /** In random order, so that the first of them are a sample as well. */
  readonly pairs: readonly SampledPair[]
  /** Pairs of the join, from which they were drawn. */
  readonly population: number
  readonly seed: number
}

/** The evaluation of section 3.1 of Henzinger 2006, from the joins and judgements of a collection. */
export interface EvaluationService {
  /**
   * A uniform random sample without repetition of the pairs of a join, all of them where there are no more. The same seed
   * gives the same sample, and a smaller size the beginning of it.
   */
  sample(job: string, query: { readonly size: number; readonly seed: number }): Promise<SampleView> // throws job_not_found, job_has_no_result
  statistics(job: string): Promise<JobStatistics> // throws as `sample`
  evaluation(job: string): Promise<JobEvaluation> // throws as `sample`
  /** Records what is said of two documents, in either order, in place of what was said before. */
  judge(
    a: string,
    b: string,
    verdict: { readonly label: Label; readonly reason: string | null },
  ): Promise<Judgement> // throws document_not_found
  judgements(query: PageQuery): Promise<{ judgements: Judgement[]; nextCursor: string | null }>
  forget(a: string, b: string): Promise<void> // throws judgement_not_found
}
