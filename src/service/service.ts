import type { PageInput } from '../analysis/analyze.ts'
import type { Algorithm, Thresholds } from '../detect/decide.ts'
import type { DittographError } from '../errors.ts'
import type { Measure } from '../join/measure.ts'
import type { Features } from '../signature/features.ts'
import type { EvaluationService } from './evaluation-service.ts'
import type { JobService } from './job-service.ts'

/** One document to store, as the HTTP layer read it. `id` null: derived from the URL, or minted. */
export type DocumentInput = {
  readonly id: string | null
  readonly page: PageInput
  readonly fetchedAt: string | null
  readonly metadata: unknown | null /* JSON value */
}

export type DuplicatesOptions = {
  readonly algorithm: Algorithm | Measure
  readonly thresholds: Thresholds
  /** What the exact measures look at: `threshold` is from 0 (not itself) to 1, a whole number for the overlap. */
  readonly exact: { readonly threshold: number; readonly features: Features }
  /** null: not asked for; site-aware then still leaves out pairs without a common shingle. */
  readonly minResemblance: number | null
  readonly site: 'any' | 'same' | 'different'
  readonly order: 'similarity' | 'id'
  readonly limit: number
  readonly cursor: string | null // opaque
}
export type DuplicateItem = {
  id: string
  url: string | null
  site: string | null
  sameSite: boolean
  identical: boolean
  bSimilarity: number
  cSimilarity: number
  similarity: number
  resemblance: number | null
}
export type DuplicatesAnswer = {
  document: string | null
  algorithm: Algorithm | Measure
  thresholds: Record<string, number>
  duplicates: DuplicateItem[]
  examined: number
  complete: boolean
  recall: number
  nextCursor: string | null
}
export type StoredDocument = {
  id: string
  url: string | null
  site: string | null
  status: 'created' | 'replaced' | 'unchanged'
  tokenCount: number
  identicalTo: string | null
  duplicates?: DuplicateItem[]
}
export type DocumentView = {
  id: string
  url: string | null
  site: string | null
  title: string | null
  tokenCount: number
  contentHash: string
  identicalTo: string | null
  supershingles: string[] | null
  simhash: string | null
  createdAt: string
  updatedAt: string
  fetchedAt: string | null
  metadata: unknown | null
}
export type AnalysisView = {
  site: string | null
  tokens: string[]
  truncated: boolean
  tokenCount: number
  shingleCount: number
  contentHash: string
  supershingles: string[] | null
  simhash: string | null
}
export type ComparisonView = {
  bSimilarity: number
  cSimilarity: number
  resemblance: number | null
  jaccard: number | null
  cosine: number | null
  containment: { aInB: number | null; bInA: number | null }
  termDifference: { count: number | null; exact: boolean }
  sameSite: boolean
  identical: boolean
  verdicts: Record<
    string,
    {
      nearDuplicate: boolean
      bounds: { name: string; value: number; required: number; margin: number; met: boolean }[]
    }
  >
  diff: {
    hunks: {
      aStart: number
      aCount: number
      bStart: number
      bCount: number
      removed: string[]
      inserted: string[]
    }[]
    truncated: boolean
  } | null
}

export interface DocumentService {
  /** Stores all, in order, durably; one result or error a document, in order. Inputs of one call are committed together. duplicates: null, or the options with limit = N. */
  store(
    inputs: readonly DocumentInput[],
    duplicates: DuplicatesOptions | null,
  ): Promise<readonly (StoredDocument | DittographError)[]>
  get(id: string): Promise<DocumentView> // throws document_not_found
  text(id: string): Promise<string> // throws document_not_found, text_not_kept
  delete(id: string): Promise<void> // throws document_not_found
  list(query: {
    url?: string
    site?: string
    limit: number
    cursor: string | null
  }): Promise<{ documents: DocumentView[]; nextCursor: string | null }>
}
export interface NearDuplicateService {
  ofDocument(id: string, options: DuplicatesOptions): Promise<DuplicatesAnswer>
  ofPage(page: PageInput, options: DuplicatesOptions): Promise<DuplicatesAnswer>
}
export interface ComparisonService {
  ofDocuments(a: string, b: string): Promise<ComparisonView>
  ofPages(a: PageInput, b: PageInput): Promise<ComparisonView>
  analyze(page: PageInput): Promise<AnalysisView>
}
interface Operations {
  /** Resolves where documents can be stored and found; rejects with the reason. */
  ready(): Promise<void>
  /** What is stored and how long the stages take, in the text format of Prometheus. */
  renderMetrics(): Promise<string>
}
/** Everything that is done with one collection of documents. */
export type Services = {
  documents: DocumentService
  nearDuplicates: NearDuplicateService
  comparison: ComparisonService
  jobs: JobService
  evaluation: EvaluationService
  operations: Operations
}

/** Collections that share nothing but the process: a document, a job or a figure of one never shows in another. */
export interface Collections {
  /** The services of a collection. The first call of one opens it where it is not open, and creates it where it is new. */
  services(collection: string): Services
  /** Resolves where documents can be stored in all that are open; rejects with the reason. */
  ready(): Promise<void>
}
