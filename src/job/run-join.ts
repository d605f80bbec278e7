import { join } from 'node:path'
import type { Analyzer } from '../analysis/analyzer.ts'
import { isMeasure } from '../join/measure.ts'
import type { JoinRequest, JoinSummary } from '../service/job-service.ts'
import { simhashBits, supershingleCount } from '../signature/scheme.ts'
import { publishFile } from '../store/publish-file.ts'
import type { SnapshotSource } from '../store/snapshot.ts'
import { exactJoin } from './exact-join.ts'
import type { JoinAlgorithm } from './join-algorithm.ts'
import { JoinWriter, pairsOn } from './join-writer.ts'
import { sketchJoin } from './sketch-join.ts'

/** Which join does an algorithm's work. */
const joinOf = ({ algorithm }: JoinRequest): JoinAlgorithm => (isMeasure(algorithm) ? exactJoin : sketchJoin)

/** Share of the progress that is made when the snapshot is there, and when the pairs are. */
const snapshotShare = 0.05
const pairsShare = 0.9

/**
 * Snapshot -> pairs of identity sets -> result file. The result has its name only when it is whole. `report` is called
 * with a share of 1.
 */
export const runJoin = (
  request: JoinRequest,
  parts: {
    readonly directory: string
    readonly id: string
    readonly resultFile: string
    readonly mostBytes: number
    readonly analyzer: Analyzer
    readonly takeSnapshot: (
      scratchFile: string,
      report: (done: number, total: number) => void,
    ) => SnapshotSource
    readonly report: (share: number) => void
  },
): JoinSummary => {
  const begun = `${parts.resultFile}-begun`
  const reportBetween = (from: number, to: number) => (done: number, total: number) =>
    parts.report(total === 0 ? to : from + ((to - from) * done) / total)
  const source = parts.takeSnapshot(
    join(parts.directory, `${parts.id}.snapshot`),
    reportBetween(0, snapshotShare),
  )
  const writer = new JoinWriter(begun, parts.mostBytes, source)
  const { firstMember, sketches } = source.snapshot
  for (let set = 0; set < sketches.count && !isMeasure(request.algorithm); set++) {
    if ((firstMember[set + 1] as number) - (firstMember[set] as number) < 2) continue
    writer.add({
      a: set,
      b: set,
      bSimilarity: supershingleCount,
      cSimilarity: simhashBits,
      sites: pairsOn[request.site],
      similarity: null,
    })
  }
  const outcome = joinOf(request)({
    request,
    source,
    analyzer: parts.analyzer,
    add: (pair) => writer.add(pair),
    report: reportBetween(snapshotShare, pairsShare),
  })
  const summary = writer.finish(request, reportBetween(pairsShare, 1))
  source.close()
  publishFile(begun, parts.resultFile)
  return { ...summary, ...outcome }
}
