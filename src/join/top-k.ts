import { type Measure, similarity } from './measure.ts'
import { mergeOverlap } from './merge.ts'
import type { Records } from './records.ts'

export type ScoredPair = {
  readonly a: number
  readonly b: number
  readonly overlap: number
  readonly similarity: number
}

const at = (column: Uint32Array | Int32Array, index: number): number => column[index] as number

/** The best first; equal ones by id, so that the result is one and the same each time. */
const byRank = (one: ScoredPair, other: ScoredPair): number =>
  other.similarity - one.similarity || one.a - other.a || one.b - other.b

/**
 * The greatest similarity of a pair that is first met at this position of a record (counted from 0): all tokens
 * before it are in no partner, so at most size - position can be shared.
 */
const bestFrom = (measure: Measure, size: number, position: number): number => {
  const shared = size - position
  if (measure === 'overlap') return shared
  return similarity(measure, shared, size, shared)
}

type Event = { readonly record: number; readonly position: number; readonly bound: number }

/** Events, the one with the greatest bound first; of equal ones the record that comes first. */
class EventHeap {
  readonly #events: Event[] = []

  push(event: Event): void {
    const events = this.#events
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, events[parent] as Event)) break
      events[at] = events[parent] as Event
      at = parent
    }
    events[at] = event
  }

  pop(): Event | undefined {
    const events = this.#events
    const first = events[0]
    const last = events.pop()
    if (last === undefined || events.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= events.length) break
      if (child + 1 < events.length && isBefore(events[child + 1] as Event, events[child] as Event)) child++
      if (!isBefore(events[child] as Event, last)) break
      events[at] = events[child] as Event
      at = child
    }
    events[at] = last
    return first
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.bound > other.bound || (one.bound === other.bound && one.record < other.record)

/**
 * The k most similar pairs of records with something in common, the best first; which of several pairs that are
 * equal at the k-th place are taken is always the same. Fewer where there are fewer.
 *
 * Each record is read token by token, rare ones first, and meets the records that were posted under the same token;
 * whichever token can still lead to the most similar pair is read next, until none can beat the k-th.
 *
 * Source: Xiao, Wang, Lin, Shang, ICDE 2009.
 */
export const topKSelfJoin = (records: Records, measure: Measure, k: number): ScoredPair[] => {
  const { tokens, offsets, ids, vocabularySize } = records
  const sizeOf = (record: number): number => at(offsets, record + 1) - at(offsets, record)
  const events = new EventHeap()
  for (let record = 0; record < ids.length; record++)
    if (sizeOf(record) > 0) events.push({ record, position: 0, bound: bestFrom(measure, sizeOf(record), 0) })
  const lastPosting = new Int32Array(vocabularySize).fill(-1)
  const postings: { readonly records: number[]; readonly before: number[] } = { records: [], before: [] }
  const verified = new Set<number>()
  let best: ScoredPair[] = []
  const least = (): number => (best.length < k ? 0 : (best.at(-1) as ScoredPair).similarity)
  const verify = (x: number, y: number): void => {
    const [sizeX, sizeY] = [sizeOf(x), sizeOf(y)]
    if (best.length === k && similarity(measure, Math.min(sizeX, sizeY), sizeX, sizeY) <= least()) return
    const pair = Math.min(x, y) * ids.length + Math.max(x, y)
    if (verified.has(pair)) return
    verified.add(pair)
    const [startX, startY] = [at(offsets, x), at(offsets, y)]
    const overlap = mergeOverlap(tokens, startX, startX + sizeX, tokens, startY, startY + sizeY, 0, 1)
    const [idX, idY] = [at(ids, x), at(ids, y)]
    const found = {
      a: Math.min(idX, idY),
      b: Math.max(idX, idY),
      overlap,
      similarity: similarity(measure, overlap, sizeX, sizeY),
    }
    best = [...best, found].sort(byRank).slice(0, k)
  }
  for (let event = events.pop(); event !== undefined && k > 0; event = events.pop()) {
    const { record, position, bound } = event
    if (best.length === k && bound <= least()) break
    const token = at(tokens, at(offsets, record) + position)
    for (let posting = at(lastPosting, token); posting >= 0; posting = postings.before[posting] as number)
      verify(record, postings.records[posting] as number)
    postings.before.push(at(lastPosting, token))
    lastPosting[token] = postings.records.push(record) - 1
    if (position + 1 < sizeOf(record))
      events.push({
        record,
        position: position + 1,
        bound: bestFrom(measure, sizeOf(record), position + 1),
      })
  }
  return best
}
