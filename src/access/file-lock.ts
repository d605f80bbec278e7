import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'

const patienceMs = 10_000
const pauseMs = 20

const isTaken = (reason: unknown): boolean =>
  reason instanceof Database.SqliteError && reason.code.startsWith('SQLITE_BUSY')

/**
 * Does work on a file that nobody else does meanwhile; waits for others up to 10 seconds. The lock is an exclusive
 * transaction on an empty database beside the file (`<file>-lock`): it ends with the process, however that ends, and so
 * is never left behind.
 */
export const withFileLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  const lock = new Database(`${file}-lock`, { timeout: 0 })
  try {
    const patientUntil = performance.now() + patienceMs
    while (true) {
      try {
        lock.exec('BEGIN EXCLUSIVE')
        break
      } catch (reason) {
        if (!isTaken(reason) || performance.now() > patientUntil) throw reason
        await setTimeout(pauseMs)
      }
    }
    return await work()
  } finally {
    lock.close()
  }
}
