import { supershingleCount } from '../signature/scheme.ts'
import { type PostingKey, postingKeysOf } from './posting.ts'
import type { ProbeQuery, SetNumber } from './store.ts'

/** Wanted next: at most `count` numbers greater than `after` of the posting list, in increasing order. */
export type ChunkRequest = { readonly key: PostingKey; readonly after: SetNumber; readonly count: number }

export type MergedPostings = {
  /** Sets with enough shared postings, in increasing order. */
  readonly qualified: readonly SetNumber[]
  /** Distinct sets met, the qualified ones included; at most the limit of the query. */
  readonly examined: number
  /** The last set met; `after` of the query where none was. */
  readonly last: SetNumber
  /** The last set met where more follow; null where the lists are exhausted. */
  readonly frontier: SetNumber | null
}

const firstChunk = 64
const largestChunk = 1024

/** A posting list as far as it was read: `numbers[next]` is its head. */
type Cursor = {
  readonly key: PostingKey
  numbers: readonly SetNumber[]
  next: number
  chunk: number
  /** The number after which the following chunk begins; null when there is none. */
  readAfter: SetNumber | null
}

/**
 * Merges the posting lists of the query's signature in the order of set numbers and counts in how many of them
 * each set stands. Knows nothing of where the lists are: it yields requests, and `next(chunk)` answers one; a
 * chunk shorter than asked for ends its list. Lists are read lazily in chunks that grow, so the numbers
 * asked for stay within a constant factor of the sets examined, per list.
 */
export function* mergePostings(
  query: ProbeQuery,
): Generator<ChunkRequest, MergedPostings, readonly SetNumber[]> {
  const cursors: Cursor[] = postingKeysOf(query.signature)
    .filter((key) => (key.slot < supershingleCount ? query.minSupershingles !== null : query.bands))
    .map((key) => ({ key, numbers: [], next: 0, chunk: firstChunk, readAfter: query.after }))
  const qualified: SetNumber[] = []
  let examined = 0
  let last = query.after
  while (true) {
    let set = Number.POSITIVE_INFINITY
    for (const cursor of cursors) {
      if (cursor.next === cursor.numbers.length && cursor.readAfter !== null) {
        const { key, readAfter: after, chunk: count } = cursor
        cursor.numbers = yield { key, after, count }
        cursor.next = 0
        cursor.chunk = Math.min(2 * count, largestChunk)
        cursor.readAfter = cursor.numbers.length < count ? null : (cursor.numbers.at(-1) ?? null)
      }
      set = Math.min(set, cursor.numbers[cursor.next] ?? Number.POSITIVE_INFINITY)
    }
    if (set === Number.POSITIVE_INFINITY) return { qualified, examined, last, frontier: null }
    if (examined === query.limit) return { qualified, examined, last, frontier: last }
    let sharedSupershingles = 0
    let sharedBands = 0
    for (const cursor of cursors) {
      if (cursor.numbers[cursor.next] !== set) continue
      cursor.next++
      if (cursor.key.slot < supershingleCount) sharedSupershingles++
      else sharedBands++
    }
    examined++
    last = set
    const enough = query.minSupershingles !== null && sharedSupershingles >= query.minSupershingles
    if (enough || sharedBands > 0) qualified.push(set)
  }
}
