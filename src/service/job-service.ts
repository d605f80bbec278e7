import type { Algorithm, Thresholds } from '../detect/decide.ts'
import type { Measure } from '../join/measure.ts'
import type { Features } from '../signature/features.ts'

/** All near-duplicate pairs of the collection; the options mean what they mean in a query. */
export type JoinRequest = {
  readonly kind: 'join'
  readonly algorithm: Algorithm | Measure
  readonly thresholds: Thresholds
  /** What the exact measures look at; null for the sketches. */
  readonly exact: { readonly threshold: number; readonly features: Features } | null
  readonly minResemblance: number | null
  readonly site: 'any' | 'same' | 'different'
}

export const canonicalCriteria = ['https', 'earliest', 'shortUrl', 'longText'] as const
/** One step of the policy that chooses a canonical document; the least id decides in the end. */
export type CanonicalCriterion = (typeof canonicalCriteria)[number]

/** Clusters of the pairs that a join found. */
export type ClustersRequest = {
  readonly kind: 'clusters'
  /** Id of the join. */
  readonly job: string
  readonly linkage: 'components' | 'star'
  readonly policy: readonly CanonicalCriterion[]
}

export type JobRequest = JoinRequest | ClustersRequest
export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
type Progress = { readonly done: number; readonly total: number }

export type JoinSummary = {
  /** Documents of the snapshot. */
  readonly documents: number
  readonly pairs: number
  readonly sameSitePairs: number
  readonly identicalPairs: number
  /** As that of a query: share of the pairs exactly at the threshold that are sure to be found. */
  readonly recall: number
  /**
   * Pairs whose resemblance was asked for and could not be computed, because a text was not kept or is gone; of an
   * exact measure the identity sets for which that is so, which are then in no pair with another one.
   */
  readonly pairsWithoutText: number
}
export type ClustersSummary = {
  readonly clusters: number
  readonly documents: number
  readonly largest: number
  readonly chains: number
}
export type JobResult = JoinSummary | ClustersSummary

/** A job as a client sees it. Times by RFC 3339. */
export type JobView = {
  readonly id: string
  readonly kind: JobRequest['kind']
  readonly request: JobRequest
  readonly state: JobState
  readonly progress: Progress
  readonly createdAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly result: JobResult | null
  /** Why it failed. */
  readonly reason: string | null
}

/** A pair of documents; `a` is the lower id. */
export type PairItem = {
  readonly a: string
  readonly b: string
  readonly bSimilarity: number
  readonly cSimilarity: number
  readonly similarity: number
  readonly sameSite: boolean
}

export type ClusterItem = {
  canonical: string
  size: number
  /** The first of them, by id. */
  members: string[]
  sites: string[]
  siteCount: number
  pairs: number
  leastSimilarity: number
  medianSimilarity: number
  /** Members that are no near-duplicates of the canonical document. */
  notNearCanonical: number
  warning: string | null
}

export type PageQuery = { readonly limit: number; readonly cursor: string | null }

export interface JobService {
  /**
   * Queues a job. Where the same request is queued or running already, gives that job, and `isNew` is false.
   * Throws `job_queue_full`, `job_not_found` for clusters of a join that is not there, `job_has_no_result` for those of a
   * join that failed.
   */
  create(request: JobRequest): Promise<{ readonly job: JobView; readonly isNew: boolean }>
  get(id: string): Promise<JobView> // throws job_not_found
  /** Newest first. */
  list(query: PageQuery): Promise<{ jobs: JobView[]; nextCursor: string | null }>
  /** Cancels a job that is queued or running; removes one that has ended, with its result. */
  delete(id: string): Promise<void> // throws job_not_found
  /** A page may be short, or empty, where much had to be passed over; only a null cursor is the end. */
  pairs(id: string, query: PageQuery): Promise<{ pairs: PairItem[]; nextCursor: string | null }> // throws job_not_found, job_has_no_result
  clusters(id: string, query: PageQuery): Promise<{ clusters: ClusterItem[]; nextCursor: string | null }> // throws job_not_found, job_has_no_result
}
