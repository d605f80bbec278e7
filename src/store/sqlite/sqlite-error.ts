import { DittographError, type ErrorCode } from '../../errors.ts'

const codeOf = (reason: Error): string =>
  'code' in reason && typeof reason.code === 'string' ? reason.code : ''

/** True where another connection held the database for longer than the busy timeout; nothing was changed. */
export const isBusy = (reason: unknown): boolean =>
  reason instanceof Error && /^SQLITE_(BUSY|LOCKED)/.test(codeOf(reason))

// Beside a full disk: a quota, a limit on the size of files, and a shared-memory file that cannot grow.
const fullCodes = /^SQLITE_(FULL|IOERR_WRITE|IOERR_SHMSIZE|IOERR_TRUNCATE)$/

/** True where there was no room to write; nothing was changed. */
export const isFull = (reason: unknown): boolean => reason instanceof Error && fullCodes.test(codeOf(reason))

const meanings: readonly { codes: RegExp; code: ErrorCode; detail: string }[] = [
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    code: 'store_busy',
    detail: 'Another program holds the database; send this request again later',
  },
  {
    codes: fullCodes,
    code: 'store_full',
    detail: 'There is no room left to store anything; what is stored can still be read',
  },
  {
    codes: /^SQLITE_(READONLY|CANTOPEN|PERM)/,
    code: 'database_unusable',
    detail:
      'The database cannot be written: the service needs the right to write to its file and to the directory ' +
      'that the file is in, and must be its owner or in its group',
  },
  {
    codes: /^SQLITE_(CORRUPT|NOTADB)/,
    code: 'database_unusable',
    detail: 'The database file is damaged, or it is no SQLite database: restore it from a backup',
  },
]

/** The error of this program that an error of SQLite means, with it as cause; any other error as it is. */
export const toDittographError = (reason: unknown): Error => {
  if (!(reason instanceof Error)) return new Error('Something that is no error was thrown', { cause: reason })
  const meaning = meanings.find(({ codes }) => codes.test(codeOf(reason)))
  return meaning === undefined ? reason : new DittographError(meaning.code, meaning.detail, { cause: reason })
}
