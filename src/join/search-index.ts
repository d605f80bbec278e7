import { type Bounds, boundsOf } from './bounds.ts'
import { type Measure, similarity } from './measure.ts'
import { resumedOverlap } from './merge.ts'
import { BagNumbering, numberBags, tokensByFrequency } from './records.ts'
import { type Threshold, thresholdOf } from './threshold.ts'

export type Found = { readonly record: number; readonly overlap: number; readonly similarity: number }

type Token = string | number

const at = (column: Uint32Array | Int32Array, index: number): number => column[index] as number

/** Grows by doubling, filled with -1. */
const grown = (column: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> => {
  if (length <= column.length) return column
  const next = new Int32Array(Math.max(length, 2 * column.length)).fill(-1)
  next.set(column)
  return next
}

const isLess = (a: Threshold, b: Threshold): boolean => a.p * b.q < b.p * a.q

/**
 * Sets or bags that can be searched by any threshold from `least` on, and added to at any time.
 *
 * The order of tokens is that of their frequency among the first records; a token that comes later stands before all
 * others, and no token ever changes its place. The prefix of each record for the least threshold is posted, with the
 * positions: a record may be searched for and found by smaller and by larger ones.
 *
 * Source: Xiao et al. 2008, section 5.
 */
export class SearchIndex {
  readonly #measure: Measure
  readonly #least: Bounds
  readonly #numbering = new BagNumbering()
  /** Of the tokens of the first records the rank, by number, and the number, by rank; a later token has a rank below 0. */
  readonly #firstRanks: Uint32Array
  readonly #firstNumbers: Uint32Array
  #tokens = new Int32Array(1024)
  #offsets = new Int32Array(1024)
  #count = 0
  /** Of each token the posting that came last; of each posting the one before it. */
  #lastPosting = new Int32Array(1024).fill(-1)
  #before = new Int32Array(1024)
  #records = new Int32Array(1024)
  #positions = new Int32Array(1024)
  #postings = 0
  #shared = new Int32Array(1024)

  /** `first`: the records 0, 1, 2, … that the order of tokens is made of. */
  constructor(measure: Measure, least: string | number, first: readonly Iterable<Token>[] = []) {
    this.#measure = measure
    this.#least = boundsOf(measure, thresholdOf(least))
    this.#offsets[0] = 0
    const { tokens, vocabularySize } = numberBags(first)
    this.#firstNumbers = tokensByFrequency(tokens, vocabularySize)
    this.#firstRanks = new Uint32Array(vocabularySize)
    this.#firstNumbers.forEach((number, rank) => {
      this.#firstRanks[number] = rank
    })
    for (const bag of first) this.add(bag)
  }

  get count(): number {
    return this.#count
  }

  /** The number of the new record. */
  add(bag: Iterable<Token>): number {
    const record = this.#count++
    const ranks = Int32Array.from(this.#numbering.number(bag), (number) => this.#rankOf(number)).sort()
    const start = at(this.#offsets, record)
    const end = start + ranks.length
    this.#tokens = grown(this.#tokens, end)
    this.#offsets = grown(this.#offsets, record + 2)
    this.#lastPosting = grown(this.#lastPosting, this.#numbering.size)
    if (record >= this.#shared.length) this.#shared = new Int32Array(2 * this.#shared.length)
    this.#tokens.set(ranks, start)
    this.#offsets[record + 1] = end
    const prefix = ranks.length === 0 ? 0 : Math.min(ranks.length, this.#least.probePrefix(ranks.length))
    for (let position = 0; position < prefix; position++)
      this.#post(this.#numberOf(at(ranks, position)), record, position)
    return record
  }

  /**
   * All records whose similarity to the bag reaches the threshold, the best first, equal ones by number. Tokens that no
   * record has count too. Throws RangeError where the threshold is below the least.
   */
  search(bag: Iterable<Token>, threshold: string | number): Found[] {
    const bounds = boundsOf(this.#measure, thresholdOf(threshold))
    if (isLess(bounds.threshold, this.#least.threshold))
      throw new RangeError(`The threshold must be ${this.#least.threshold.value} or more`)
    const { known, unknown } = this.#numbering.lookUp(bag)
    const x = Int32Array.from(known, (number) => this.#rankOf(number)).sort()
    const size = x.length + unknown
    const prefix = size === 0 ? 0 : bounds.probePrefix(size)
    const [minSize, maxSize] = size === 0 ? [1, 0] : [bounds.minSize(size), bounds.maxSize(size)]
    const met: number[] = []
    // Tokens that no record has stand before all others.
    for (let position = unknown; position < prefix; position++) {
      const number = this.#numberOf(at(x, position - unknown))
      for (let posting = at(this.#lastPosting, number); posting >= 0; posting = at(this.#before, posting)) {
        const y = at(this.#records, posting)
        const otherSize = this.#sizeOf(y)
        if (otherSize < minSize || otherSize > maxSize) continue
        const otherPosition = at(this.#positions, posting)
        if (otherPosition >= bounds.probePrefix(otherSize)) continue
        const shared = at(this.#shared, y)
        if (shared < 0) continue
        if (shared === 0) met.push(y)
        const rest = Math.min(size - position, otherSize - otherPosition)
        this.#shared[y] = shared + rest < bounds.minOverlap(size, otherSize) ? -1 : shared + 1
      }
    }
    const found: Found[] = []
    for (const y of met) {
      const shared = at(this.#shared, y)
      this.#shared[y] = 0
      if (shared < 0) continue
      const otherSize = this.#sizeOf(y)
      const least = bounds.minOverlap(size, otherSize)
      const start = at(this.#offsets, y)
      const end = start + otherSize
      const prefixEnd = start + Math.min(bounds.probePrefix(otherSize), otherSize)
      const overlap = resumedOverlap(
        x,
        0,
        prefix - unknown,
        x.length,
        this.#tokens,
        start,
        prefixEnd,
        end,
        shared,
        least,
      )
      if (overlap >= least)
        found.push({ record: y, overlap, similarity: similarity(this.#measure, overlap, size, otherSize) })
    }
    return found.sort((a, b) => b.similarity - a.similarity || a.record - b.record)
  }

  /** The k most similar of the records that reach the least threshold. */
  top(bag: Iterable<Token>, k: number): Found[] {
    return this.search(bag, this.#least.threshold.value).slice(0, k)
  }

  #post(number: number, record: number, position: number): void {
    const posting = this.#postings++
    this.#before = grown(this.#before, this.#postings)
    this.#records = grown(this.#records, this.#postings)
    this.#positions = grown(this.#positions, this.#postings)
    this.#before[posting] = at(this.#lastPosting, number)
    this.#records[posting] = record
    this.#positions[posting] = position
    this.#lastPosting[number] = posting
  }

  #sizeOf(record: number): number {
    return at(this.#offsets, record + 1) - at(this.#offsets, record)
  }

  #rankOf(number: number): number {
    const first = this.#firstRanks.length
    return number < first ? at(this.#firstRanks, number) : first - 1 - number
  }

  #numberOf(rank: number): number {
    return rank < 0 ? this.#firstRanks.length - 1 - rank : at(this.#firstNumbers, rank)
  }
}
