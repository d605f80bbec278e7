import Database from 'better-sqlite3'
import { DittographError } from '../../errors.ts'
import { isBusy } from './sqlite-error.ts'

/**
 * Makes this process the only one that serves the database, until the returned function is called or the process
 * ends, however it ends. The lock is an exclusive transaction on an empty database beside the file
 * (`<file>-lock`), so that other programs can still read the file itself. The file of the lock stays: if it were
 * deleted, two processes could hold locks on two files of one name.
 * Throws `database_unusable` where another process, or another store of this one, has it.
 */
export const lockDatabase = (file: string): (() => void) => {
  const lock = new Database(`${file}-lock`, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (reason) {
    lock.close()
    if (!isBusy(reason)) throw reason
    throw new DittographError(
      'database_unusable',
      'Another process is serving this database: stop it first, or give this one a database of its own',
      { cause: reason },
    )
  }
  return () => lock.close()
}
