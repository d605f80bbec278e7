import type { AnalysisOptions } from '../analysis/analyze.ts'
import type { JobRequest, JobResult } from '../service/job-service.ts'

/** What the thread of a job gets to know. */
export type JobTask = {
  readonly id: string
  readonly request: JobRequest
  readonly databaseFile: string
  readonly directory: string
  /** Does not exist before the job has succeeded. */
  readonly resultFile: string
  /** Of the join that clusters are made of. */
  readonly joinFile: string | null
  readonly mostBytes: number
  readonly analysis: AnalysisOptions
}

/** What the thread of a job says. `share`: of all its work, 0 to 1. */
export type JobMessage =
  | { readonly share: number }
  | { readonly result: JobResult }
  | { readonly failure: string; readonly error: unknown }
