import type { Bounds } from '../join/bounds.ts'
import type { Features } from '../signature/features.ts'
import type { Signature } from '../signature/signature.ts'

/**
 * Number of an identity set or of a stored document version. Minted by the store without a central counter,
 * roughly in order of time; opaque to callers except that it is ordered, a safe integer > 0, and never reused,
 * also where what had it is gone. What is stored later has the greater number.
 */
export type SetNumber = number
export type DocumentNumber = number

/** What a client sees of a document, apart from its text. Times are milliseconds since 1970. */
export type DocumentRecord = {
  readonly number: DocumentNumber
  readonly set: SetNumber
  readonly id: string
  readonly url: string | null
  readonly site: string | null
  readonly title: string | null
  readonly tokenCount: number
  /** 16 bytes; equal exactly when the token sequences are equal. */
  readonly contentHash: Uint8Array
  /** Id of the document first stored with this token sequence, null where that is this document itself. */
  readonly identicalTo: string | null
  /** null for a page without tokens. */
  readonly signature: Signature | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly fetchedAt: string | null
  /** JSON text, as posted. */
  readonly metadata: string | null
}

/** A document to store. Strings are well-formed: a lone surrogate has no UTF-8 form to be kept in. */
export type PutOperation = {
  readonly kind: 'put'
  readonly id: string
  readonly url: string | null
  /** The normalised URL, by which `list({ url })` finds it. */
  readonly urlKey: string | null
  readonly site: string | null
  readonly title: string | null
  readonly tokenCount: number
  readonly contentHash: Uint8Array
  readonly signature: Signature | null
  /** The text to keep, in UTF-8; null to keep none. */
  readonly text: Uint8Array | null
  readonly fetchedAt: string | null
  readonly metadata: string | null
  /** Milliseconds since 1970: createdAt of a new id (a replaced one keeps its own), and updatedAt. */
  readonly now: number
}

export type DeleteOperation = { readonly kind: 'delete'; readonly id: string }

export type PutResult = {
  readonly kind: 'put'
  /**
   * `unchanged`: the same token sequence, URL and site were stored already. Title, text, fetchedAt and metadata
   * are taken over, and updatedAt moves where one of these differs; where none does, nothing is written.
   */
  readonly status: 'created' | 'replaced' | 'unchanged'
  readonly set: SetNumber
  readonly identicalTo: string | null
  /** Documents with a lower `number` than this, and only those, were stored before this operation. */
  readonly sequence: DocumentNumber
}
export type DeleteResult = { readonly kind: 'delete'; readonly deleted: boolean }
export type WriteResult = PutResult | DeleteResult

/** A document as a member of its identity set. */
export type Member = {
  readonly set: SetNumber
  readonly number: DocumentNumber
  readonly id: string
  readonly url: string | null
  readonly site: string | null
}

/** An identity set that shares at least one posting with the probe. */
export type Candidate = {
  readonly set: SetNumber
  readonly signature: Signature
}

export type ProbeQuery = {
  readonly signature: Signature
  /** Sets that share at least this many supershingles (same value at the same position) are candidates; null: not probed. */
  readonly minSupershingles: number | null
  /** Sets that share at least one simhash band are candidates. */
  readonly bands: boolean
  /** Frontier: only sets with a greater number are returned. 0 to start. */
  readonly after: SetNumber
  /** Most posting-list heads (distinct sets) to examine, >= 1. */
  readonly limit: number
}

export type ProbePage = {
  /** In increasing order of `set`, each once, all of them stored at the time of the call. */
  readonly candidates: readonly Candidate[]
  /**
   * Distinct sets looked at, at most the limit of the query: the candidates, sets with too few shared postings, and
   * what a store may still have to pass over of sets that are gone.
   */
  readonly examined: number
  /** Where to go on (`after` of the next call); null when the posting lists are exhausted. */
  readonly frontier: SetNumber | null
}

/** A set with the text of a member, in UTF-8; null where no member has one. */
export type SetWithText = Candidate & { readonly text: Uint8Array | null }

/** Sets by the similarity of their features. */
export type FeatureQuery = {
  readonly features: Features
  /** The whole feature set that is searched for, as `featureSet` makes it. */
  readonly values: Float64Array
  /** Measure and threshold that candidates are to reach. */
  readonly bounds: Bounds
  /** Frontier: only sets with a greater number are returned. 0 to start. */
  readonly after: SetNumber
  /** Most sets to return, >= 1, and most work, as `examined` counts it. A page ends earlier where there is more to do. */
  readonly limit: number
}

export type FeaturePage = {
  /**
   * In increasing order: all that reach the threshold, others that passed the filters, sets of which no text was kept
   * when they were stored, and some that may be gone.
   */
  readonly sets: readonly SetNumber[]
  /** Sets returned, and one for 64 postings gone through; looking a list up in a run counts as that many postings. */
  readonly examined: number
  /** Where to go on (`after` of the next call); null at the end. */
  readonly frontier: SetNumber | null
  /**
   * Sets up to this number are to be scanned, from the frontier on: already the lists of the next part of the index are
   * more work than the limit allows. null where there is no such part.
   */
  readonly scanThrough: SetNumber | null
}

/** Sets by the number of their tokens, with a text of theirs. */
export type ScanQuery = {
  readonly minTokens: number
  readonly maxTokens: number
  /** Frontier: only sets with a greater number are returned. 0 to start. */
  readonly after: SetNumber
  /** Most sets to return, >= 1. A page ends earlier where many sets have another number of tokens. */
  readonly limit: number
}

export type ScanPage = {
  /** In increasing order of `set`. */
  readonly sets: readonly SetWithText[]
  /** Sets looked at; those with another number of tokens count 1/64, as passing them over is that much less work. */
  readonly examined: number
  /** Where to go on (`after` of the next call); null at the end. */
  readonly frontier: SetNumber | null
}

/** Documents that meet every condition given. */
export type ListQuery = {
  /** The normalised URL, equal to `urlKey` of the put. */
  readonly url?: string
  readonly site?: string
  readonly after: DocumentNumber
  readonly limit: number
}

export type KeptText = { readonly set: SetNumber; readonly text: Uint8Array | null }

/** `postings`: of all stored signatures, one for each supershingle and each band. */
export type StoreCounts = { readonly documents: number; readonly sets: number; readonly postings: number }

/**
 * Where documents, signatures and postings live. One contract suite (`test/store/store-contract.ts`) holds
 * every implementation to these guarantees:
 *
 * - `write` applies its operations in order, as one transaction: when its promise resolves, all of them are
 *   durable and visible to every later call; when it rejects, none of them happened.
 * - A document and everything that makes it findable change together: no call ever sees a document without
 *   its postings, nor a posting of a text that was replaced or deleted.
 * - Documents with equal `contentHash` form one identity set, which has one signature and one set of postings
 *   however many members it has. The member with the lowest number is the one first stored. A set without
 *   members does not exist.
 * - A document whose content, URL and site stay the same keeps its number; otherwise it gets a new one.
 * - A set without a signature (no tokens) has no postings and is never a candidate.
 * - Lists are ordered by number; what is not changed between two pages is neither skipped nor repeated.
 */
export interface Store {
  write(operations: readonly (PutOperation | DeleteOperation)[]): Promise<readonly WriteResult[]>
  get(id: string): Promise<DocumentRecord | null>
  /**
   * Kept texts, in UTF-8, by document id, each with the identity set that the document was in when the text was read;
   * `text` is null where none was kept; an unknown document is absent.
   */
  texts(ids: readonly string[]): Promise<ReadonlyMap<string, KeptText>>
  list(query: ListQuery): Promise<readonly DocumentRecord[]>
  findSet(contentHash: Uint8Array): Promise<SetNumber | null>
  probe(query: ProbeQuery): Promise<ProbePage>
  /** Goes through all sets that have tokens. */
  scan(query: ScanQuery): Promise<ScanPage>
  /** Candidates of an exact search; null where the store has no index that serves the query. */
  probeFeatures(query: FeatureQuery): Promise<FeaturePage | null>
  /** Those of the sets that exist and have tokens, in the order given. */
  setTexts(sets: readonly SetNumber[]): Promise<readonly SetWithText[]>
  /**
   * Members of the given sets (ascending), ordered by set and then by number, at most `limit`; of the first
   * set only those with a number greater than `after`.
   */
  members(sets: readonly SetNumber[], after: DocumentNumber, limit: number): Promise<readonly Member[]>
  counts(): Promise<StoreCounts>
  /** Resolves when the store can serve a trivial read and write; rejects with the reason otherwise. */
  check(): Promise<void>
  /**
   * Gives everything back. A write that had not begun is rejected, so when this resolves each write handed in
   * has either happened or not. Every later call but `close` rejects.
   */
  close(): Promise<void>
}
