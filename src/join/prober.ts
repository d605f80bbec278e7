import type { Bounds } from './bounds.ts'
import { notMerged, resumedOverlap } from './merge.ts'
import type { PairWriter } from './pair-sink.ts'
import type { Records } from './records.ts'
import { hammingLowerBound } from './suffix-filter.ts'

/**
 * `prefix`: All-Pairs (Bayardo et al. 2007, binary vectors); `positional`: PPJoin; `suffix`: PPJoin+ (Xiao et al. 2008).
 * Each does what the one before it does, and more; the results are the same.
 */
export type Filter = 'prefix' | 'positional' | 'suffix'

/** How many pairs of records came how far. */
export type JoinCounts = {
  /** Pairs that share a token of their prefixes and have sizes that can do. */
  met: number
  /** Of these, pairs that the positional filter let pass when they met; all of them without it. */
  positional: number
  /** Of these, pairs that no filter ruled out in the end. */
  candidates: number
  /** Candidates whose tokens were merged. */
  verified: number
  results: number
}

export const noCounts = (): JoinCounts => ({ met: 0, positional: 0, candidates: 0, verified: 0, results: 0 })

/** An element within bounds: all indices below are of records, postings and positions that exist. */
const at = (column: Uint32Array | Int32Array, index: number): number => column[index] as number

const dead = -1

export const sizesOf = ({ offsets }: Records): Uint32Array =>
  Uint32Array.from({ length: offsets.length - 1 }, (_, i) => at(offsets, i + 1) - at(offsets, i))

/** The prefix of each size up to the largest; no record has a longer one than itself, and some have none. */
export const prefixTable = (largestSize: number, prefix: (size: number) => number): Uint32Array => {
  const table = new Uint32Array(largestSize + 1)
  for (let size = 1; size <= largestSize; size++) table[size] = Math.max(0, Math.min(prefix(size), size))
  return table
}

/** Of one size, the least overlap with each other size that was asked for. */
class LeastOverlaps {
  readonly #bounds: Bounds
  readonly #bySize: Int32Array
  #size = 0

  constructor(bounds: Bounds, largestSize: number) {
    this.#bounds = bounds
    this.#bySize = new Int32Array(largestSize + 1)
  }

  /** For a size whose partners have at least `from` and at most `to` elements. */
  begin(size: number, from: number, to: number): void {
    if (size === this.#size) return
    this.#size = size
    this.#bySize.fill(0, from, to + 1)
  }

  with(size: number): number {
    const known = at(this.#bySize, size)
    if (known !== 0) return known
    const least = this.#bounds.minOverlap(this.#size, size)
    this.#bySize[size] = least
    return least
  }
}

/**
 * Records that can be probed: of each token the records that have it in their prefix, by increasing size, each with
 * the position of the token. Memory for all postings is laid out at once: 8 bytes for each, and 8 for each token.
 *
 * Both what is inserted and what is probed come in increasing order of size; so what is too small for a probe is too
 * small for all that follow.
 *
 * Source: Xiao et al. 2008, algorithms 1 to 3 and section 3.3.
 */
export class Prober {
  readonly counts = noCounts()
  readonly #tokens: Uint32Array
  readonly #offsets: Uint32Array
  readonly #ids: Uint32Array
  readonly #sizes: Uint32Array
  readonly #bounds: Bounds
  readonly #isPositional: boolean
  readonly #isSuffix: boolean
  readonly #prefixes: Uint32Array
  readonly #largestSize: number
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array
  readonly #postedRecords: Uint32Array
  readonly #postedPositions: Uint32Array
  readonly #leastOverlaps: LeastOverlaps
  /** Prefix tokens that a record shares with the probe, or `dead`; of the records in the list, and 0 of all others. */
  readonly #overlaps: Int32Array
  readonly #list: Uint32Array

  /** `prefix`: how many tokens of a record of some size are posted. */
  constructor(records: Records, bounds: Bounds, filter: Filter, prefix: (size: number) => number) {
    const { tokens, offsets, ids, vocabularySize } = records
    this.#tokens = tokens
    this.#offsets = offsets
    this.#ids = ids
    this.#sizes = sizesOf(records)
    this.#bounds = bounds
    this.#isPositional = filter !== 'prefix'
    this.#isSuffix = filter === 'suffix'
    this.#largestSize = this.#sizes.at(-1) ?? 0
    this.#prefixes = prefixTable(this.#largestSize, prefix)
    this.#leastOverlaps = new LeastOverlaps(bounds, this.#largestSize)
    this.#overlaps = new Int32Array(ids.length)
    this.#list = new Uint32Array(ids.length)
    this.#starts = new Uint32Array(vocabularySize + 1)
    this.#layOut()
    this.#ends = this.#starts.slice(0, vocabularySize)
    const postings = at(this.#starts, vocabularySize)
    this.#postedRecords = new Uint32Array(postings)
    this.#postedPositions = new Uint32Array(postings)
  }

  /** Where the postings of each token begin. */
  #layOut(): void {
    const starts = this.#starts
    for (let record = 0; record < this.#ids.length; record++) {
      const start = at(this.#offsets, record)
      const end = start + at(this.#prefixes, at(this.#sizes, record))
      for (let i = start; i < end; i++) {
        const next = at(this.#tokens, i) + 1
        starts[next] = at(starts, next) + 1
      }
    }
    for (let next = 1; next < starts.length; next++) starts[next] = at(starts, next) + at(starts, next - 1)
  }

  /** Makes the record known to the probes that follow. */
  insert(record: number): void {
    const start = at(this.#offsets, record)
    const prefix = at(this.#prefixes, at(this.#sizes, record))
    for (let position = 0; position < prefix; position++) {
      const token = at(this.#tokens, start + position)
      const end = at(this.#ends, token)
      this.#postedRecords[end] = record
      this.#postedPositions[end] = position
      this.#ends[token] = end + 1
    }
  }

  /**
   * Writes all inserted records that reach the threshold with the record x[start .. start + size) of id `id`, of which
   * the first `prefix` tokens are probed. Returns what it did, in tokens and postings.
   */
  probe(x: Uint32Array, start: number, size: number, prefix: number, id: number, pairs: PairWriter): number {
    const end = start + size
    const minSize = this.#bounds.minSize(size)
    const maxSize = Math.min(this.#bounds.maxSize(size), this.#largestSize)
    if (minSize > maxSize) return 1
    const leastOverlaps = this.#leastOverlaps
    leastOverlaps.begin(size, minSize, maxSize)
    const [sizes, overlaps, list] = [this.#sizes, this.#overlaps, this.#list]
    const [records, positions] = [this.#postedRecords, this.#postedPositions]
    const counts = this.counts
    let met = 0
    let work = prefix
    for (let i = 0; i < prefix; i++) {
      const token = at(x, start + i)
      const last = at(this.#ends, token)
      let first = at(this.#starts, token)
      while (first < last && at(sizes, at(records, first)) < minSize) first++
      this.#starts[token] = first
      work += last - first
      for (let posting = first; posting < last; posting++) {
        const y = at(records, posting)
        const shared = at(overlaps, y)
        if (shared === dead) continue
        const otherSize = at(sizes, y)
        if (otherSize > maxSize) break
        if (shared === 0) {
          list[met++] = y
          counts.met++
        }
        if (this.#isPositional) {
          const position = at(positions, posting)
          const least = leastOverlaps.with(otherSize)
          if (shared + Math.min(size - i, otherSize - position) < least) {
            overlaps[y] = dead
            continue
          }
          if (shared === 0) {
            counts.positional++
            if (this.#isSuffix && this.#isFarApart(x, start + i + 1, end, y, position + 1, size, least)) {
              overlaps[y] = dead
              continue
            }
          }
        }
        overlaps[y] = shared + 1
      }
    }
    for (let i = 0; i < met; i++) {
      const y = at(list, i)
      const shared = at(overlaps, y)
      overlaps[y] = 0
      if (shared === dead) continue
      counts.candidates++
      const otherSize = at(sizes, y)
      const least = leastOverlaps.with(otherSize)
      const otherStart = at(this.#offsets, y)
      const otherPrefixEnd = otherStart + at(this.#prefixes, otherSize)
      const overlap = resumedOverlap(
        x,
        start,
        start + prefix,
        end,
        this.#tokens,
        otherStart,
        otherPrefixEnd,
        otherStart + otherSize,
        shared,
        least,
      )
      if (overlap !== notMerged) counts.verified++
      if (overlap < least) continue
      pairs.add(at(this.#ids, y), id, overlap)
      counts.results++
    }
    if (!this.#isPositional) counts.positional = counts.met
    return work + 8 * met
  }

  /** Whether the rest of both records, behind the first token that they share, differs too much. */
  #isFarApart(
    x: Uint32Array,
    xNext: number,
    xEnd: number,
    y: number,
    otherNext: number,
    size: number,
    least: number,
  ): boolean {
    const otherStart = at(this.#offsets, y)
    const otherEnd = at(this.#offsets, y + 1)
    // All tokens before the shared one differ.
    const before = xNext - 1 - (xEnd - size) + otherNext - 1
    const most = size + (otherEnd - otherStart) - 2 * least - before
    return hammingLowerBound(x, xNext, xEnd, this.#tokens, otherStart + otherNext, otherEnd, most) > most
  }
}
