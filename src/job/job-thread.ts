import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { Analyzer } from '../analysis/analyzer.ts'
import { DittographError } from '../errors.ts'
import { takeSnapshot } from '../store/sqlite/snapshot.ts'
import { toDittographError } from '../store/sqlite/sqlite-error.ts'
import type { JobMessage, JobTask } from './job-task.ts'
import { runClusters } from './run-clusters.ts'
import { runJoin } from './run-join.ts'

/** Between two messages about progress. */
const reportMs = 100
/** Linux keeps it for each thread; elsewhere it would slow down the whole process. */
const niceness = 10

/** The thread of one job; it ends with it, and gives all memory back. To cancel the job, the thread is ended. */
const run = (task: JobTask, send: (message: JobMessage) => void): void => {
  if (process.platform === 'linux') setPriority(0, niceness)
  let reportedAt = 0
  const report = (share: number) => {
    const now = performance.now()
    if (now - reportedAt < reportMs) return
    reportedAt = now
    send({ share })
  }
  try {
    const { request } = task
    const result =
      request.kind === 'join'
        ? runJoin(request, {
            ...task,
            analyzer: new Analyzer(task.analysis),
            takeSnapshot: (scratchFile, reportSets) =>
              takeSnapshot(task.databaseFile, scratchFile, reportSets),
            report,
          })
        : runClusters(request, { ...task, report })
    send({ result })
  } catch (error) {
    send({ failure: reasonOf(error), error })
  }
}

/** What a client may know of an error. */
const reasonOf = (reason: unknown): string => {
  const error = toDittographError(reason)
  if (error instanceof DittographError && error.code === 'store_full')
    return 'The result is larger than JOB_RESULTS_MB allows, or the disk is full'
  return error instanceof DittographError
    ? error.message
    : 'The service made a mistake; its log has the cause'
}

if (parentPort !== null) {
  const port = parentPort
  run(workerData, (message) => port.postMessage(message))
}
