import { DittographError } from '../errors.ts'
import { xxh64Bytes } from '../signature/xxhash.ts'

const encoder = new TextEncoder()
const fingerprint = (query: string): string => xxh64Bytes(encoder.encode(query)).toString(36)

/**
 * An opaque cursor: a position inside the answer to one query. The query's fingerprint goes with it, so that
 * a cursor is refused where it does not belong.
 */
export const encodeCursor = (query: string, position: readonly (number | string)[]): string =>
  Buffer.from(JSON.stringify([fingerprint(query), ...position])).toString('base64url')

/** The position, whose elements are of the given types. Throws `invalid_cursor`. */
export const decodeCursor = (
  query: string,
  cursor: string,
  types: readonly ('number' | 'string')[],
): readonly (number | string)[] => {
  const refuse = (detail: string) => new DittographError('invalid_cursor', detail)
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    throw refuse('cursor must be a nextCursor of an earlier answer, unchanged')
  }
  if (!Array.isArray(parts) || parts.length !== types.length + 1)
    throw refuse('cursor must be a nextCursor of an earlier answer, unchanged')
  const [query36, ...position] = parts
  if (query36 !== fingerprint(query))
    throw refuse('cursor belongs to another query: repeat it with the parameters it came from')
  const fits = position.every((part, i) => typeof part === types[i])
  if (!fits || position.some((part) => typeof part === 'number' && !Number.isFinite(part)))
    throw refuse('cursor must be a nextCursor of an earlier answer, unchanged')
  return position as (number | string)[] // each element's type was checked above
}
