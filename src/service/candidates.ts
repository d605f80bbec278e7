import type { Signature, TokenFingerprints } from '../signature/signature.ts'
import type { DocumentNumber, SetNumber } from '../store/store.ts'
import type { DuplicatesOptions } from './service.ts'

/** The page that near-duplicates are sought of, stored or not. */
export type Subject = {
  readonly id: string | null
  readonly set: SetNumber | null
  readonly site: string | null
  readonly signature: Signature | null
  /** Features of a page that came with the query; those of a stored one are made from its kept text when needed. */
  readonly tokens: TokenFingerprints | null
  /** Only documents with a lower number count; null for no bound. */
  readonly storedBefore: DocumentNumber | null
}

/** What is left of the work that one page of an answer may do. */
export type Budget = {
  examined: number
  readonly limit: number
  /** Candidates that could not be verified, since no text of theirs is kept. */
  unverified: number
}

/** What is known of a set that is a near-duplicate of the subject on one site or on two. */
export type Similarities = {
  readonly bSimilarity: number
  readonly cSimilarity: number
  readonly identical: boolean
  /** Where an exact measure decides, its value. */
  readonly exact: number | null
}

export type VerifiedPage = {
  readonly verified: ReadonlyMap<SetNumber, Similarities>
  /** Where to go on after it; null at the end. */
  readonly frontier: SetNumber | null
}

/** Probe and verify: the sets that may have near-duplicates of a subject, in increasing order. */
export interface CandidateSource {
  /** Pages from a set on, that set included. They add what they look at to the budget, and end when it is spent. */
  pages(
    subject: Subject,
    options: DuplicatesOptions,
    fromSet: SetNumber,
    budget: Budget,
  ): AsyncGenerator<VerifiedPage>
}
