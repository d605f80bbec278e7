import type { Analyzer } from '../analysis/analyzer.ts'
import type { JoinRequest } from '../service/job-service.ts'
import type { SnapshotSource } from '../store/snapshot.ts'
import type { SetPair } from './join-writer.ts'

/**
 * A kind of join: it reads the snapshot and hands every two identity sets of the result to `add`, once. It runs
 * synchronously in a thread of its own; to cancel it, the thread is ended. Pairs within one set are not the
 * business of a join by sketches, under all of which identical documents are near-duplicates; one by an exact measure adds
 * them with their similarity.
 */
export type JoinAlgorithm = (context: {
  readonly request: JoinRequest
  readonly source: SnapshotSource
  /** Makes tokens of the texts that are kept. */
  readonly analyzer: Analyzer
  readonly add: (pair: SetPair) => void
  /** To be called every few milliseconds, with steps of a size that the algorithm chooses. */
  readonly report: (done: number, total: number) => void
}) => {
  readonly recall: number
  readonly pairsWithoutText: number
}
