import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { DittographError } from '../../errors.ts'
import { publishFile } from '../publish-file.ts'
import { applicationId, busyTimeoutMs } from './database.ts'
import { toDittographError } from './sqlite-error.ts'

const pagesAtOnce = 2048

/**
 * Copies a database into a new file, as it is at one moment, whether or not a process has it open: whoever writes to it
 * is not held up, but its write-ahead log grows by what is written meanwhile. The copy is read for damage,
 * and has its name only when it is whole and on the disk. `onProgress` learns how many of how many pages are copied.
 * Throws `database_unusable` where there is no sound database of this program, `invalid_configuration` where the file
 * exists, and `store_full` where it has no room. The time is that of reading and writing the database, and of reading the copy.
 */
export const backupDatabase = async (
  database: string,
  file: string,
  onProgress: (done: number, pages: number) => void = () => undefined,
): Promise<void> => {
  await copyAndPublish(file, async (begun) => {
    await copy(database, begun, { isOurs: (id) => id === applicationId, onProgress })
    check(begun)
  })
}

/**
 * Copies what people said of pairs out of the database of the jobs, to lie beside the copy of that of the documents. Jobs are
 * left out, since their results are not copied. Throws as `backupDatabase`.
 */
export const backupJudgements = async (jobDatabase: string, file: string): Promise<void> => {
  if (!existsSync(dirname(file))) mkdirSync(dirname(file))
  await copyAndPublish(file, async (begun) => {
    await copy(jobDatabase, begun, { isOurs: () => true, onProgress: () => undefined })
    const db = new Database(begun, { fileMustExist: true })
    db.exec('DELETE FROM job')
    db.close()
    check(begun)
  })
}

const copyAndPublish = async (file: string, make: (begun: string) => Promise<void>): Promise<void> => {
  refuseExisting(file)
  // Of its own for each process, so that two of them cannot mix what they write.
  const begun = `${file}-${process.pid}-begun`
  rmSync(begun, { force: true })
  try {
    await make(begun)
    refuseExisting(file)
    publishFile(begun, file)
  } catch (reason) {
    throw toDittographError(reason)
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(begun + suffix, { force: true })
  }
}

const refuseExisting = (file: string): void => {
  if (existsSync(file) || existsSync(`${file}-wal`))
    throw new DittographError(
      'invalid_configuration',
      'The file of the backup exists, or a write-ahead log of its name: a backup replaces nothing, give it another name',
    )
}

const copy = async (
  database: string,
  begun: string,
  {
    isOurs,
    onProgress,
  }: { isOurs: (applicationId: unknown) => boolean; onProgress: (done: number, pages: number) => void },
): Promise<void> => {
  const db = new Database(database, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs })
  try {
    if (!isOurs(db.pragma('application_id', { simple: true })))
      throw new DittographError('database_unusable', 'The file is a database of another program')
    // Without a read transaction around it, the copy would begin again after each write of another process.
    db.exec('BEGIN')
    db.pragma('user_version')
    await db.backup(begun, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages - remainingPages, totalPages)
        return pagesAtOnce
      },
    })
  } finally {
    db.close()
  }
}

/** Fails where the copy is damaged. It becomes one file that needs no log to be read. */
const check = (begun: string): void => {
  const db = new Database(begun, { fileMustExist: true })
  try {
    db.pragma('journal_mode = DELETE')
    if (db.pragma('quick_check(1)', { simple: true }) !== 'ok')
      throw new DittographError(
        'database_unusable',
        'The database is damaged, and so is its copy, which was removed: restore an older backup',
      )
  } finally {
    db.close()
  }
}
