import type { PostingKey } from '../posting.ts'
import type { PostingColumns } from '../posting-columns.ts'
import type { DocumentNumber } from '../store.ts'

/** An element that exists: every index below is a posting or a table place within bounds. */
const at = (column: Uint32Array | Float64Array, index: number): number => column[index] as number

const nobody = 0xffff_ffff

/**
 * Posting lists of one slot in memory. Postings are numbered in the order in which they came; `nextPosting`
 * chains those of one value into a ring, whose last one stands in an open-addressing table:
 *
 *   table place -> last posting of a value -> nextPosting: first one -> second one -> ... -> last one
 */
class PostingLists {
  #count = 0
  #valueCount = 0
  #highs = new Uint32Array(64)
  #lows = new Uint32Array(64)
  #numbers = new Float64Array(64)
  #nextPosting = new Uint32Array(64)
  #lastPosting = new Uint32Array(128).fill(nobody)

  /** Numbers must come in increasing order. */
  add(high: number, low: number, number: number): void {
    if (this.#count === this.#numbers.length) this.#growPostings()
    if (2 * this.#valueCount >= this.#lastPosting.length) this.#growTable()
    const place = this.#placeOf(high, low)
    const last = at(this.#lastPosting, place)
    const posting = this.#count++
    this.#highs[posting] = high
    this.#lows[posting] = low
    this.#numbers[posting] = number
    if (last === nobody) {
      this.#valueCount++
      this.#nextPosting[posting] = posting
    } else {
      this.#nextPosting[posting] = at(this.#nextPosting, last)
      this.#nextPosting[last] = posting
    }
    this.#lastPosting[place] = posting
  }

  /** Appends to `into` at most `count` numbers of the value that are greater than `after`. */
  read(high: number, low: number, after: number, count: number, into: number[]): void {
    const last = at(this.#lastPosting, this.#placeOf(high, low))
    if (last === nobody || at(this.#numbers, last) <= after) return
    let posting = last
    let left = count
    do {
      posting = at(this.#nextPosting, posting)
      const number = at(this.#numbers, posting)
      if (number <= after) continue
      into.push(number)
      left--
    } while (left > 0 && posting !== last)
  }

  /** The greatest number of the value; 0 where there is none. */
  last(high: number, low: number): number {
    const last = at(this.#lastPosting, this.#placeOf(high, low))
    return last === nobody ? 0 : at(this.#numbers, last)
  }

  /** All postings by number, without those of some numbers. */
  columnsWithout(gone: ReadonlySet<number>): PostingColumns {
    const highs = this.#highs.slice(0, this.#count)
    const lows = this.#lows.slice(0, this.#count)
    const numbers = this.#numbers.slice(0, this.#count)
    if (gone.size === 0) return { highs, lows, numbers }
    let kept = 0
    for (let posting = 0; posting < this.#count; posting++) {
      const number = at(numbers, posting)
      if (gone.has(number)) continue
      highs[kept] = at(highs, posting)
      lows[kept] = at(lows, posting)
      numbers[kept++] = number
    }
    return {
      highs: highs.subarray(0, kept),
      lows: lows.subarray(0, kept),
      numbers: numbers.subarray(0, kept),
    }
  }

  #placeOf(high: number, low: number): number {
    const mask = this.#lastPosting.length - 1
    let hash = Math.imul(low ^ Math.imul(high, 0x85eb_ca6b), 0xc2b2_ae35)
    hash ^= hash >>> 16
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const last = at(this.#lastPosting, place)
      if (last === nobody || (this.#lows[last] === low && this.#highs[last] === high)) return place
    }
  }

  #growPostings(): void {
    const length = 2 * this.#numbers.length
    const [highs, lows, numbers, nextPosting] = [this.#highs, this.#lows, this.#numbers, this.#nextPosting]
    this.#highs = new Uint32Array(length)
    this.#highs.set(highs)
    this.#lows = new Uint32Array(length)
    this.#lows.set(lows)
    this.#numbers = new Float64Array(length)
    this.#numbers.set(numbers)
    this.#nextPosting = new Uint32Array(length)
    this.#nextPosting.set(nextPosting)
  }

  #growTable(): void {
    const old = this.#lastPosting
    this.#lastPosting = new Uint32Array(2 * old.length).fill(nobody)
    for (let place = 0; place < old.length; place++) {
      const last = at(old, place)
      if (last === nobody) continue
      this.#lastPosting[this.#placeOf(at(this.#highs, last), at(this.#lows, last))] = last
    }
  }
}

/** Posting lists of the documents that are in no run yet. Derived from their rows, so nothing is lost with it. */
export class DocumentDelta {
  count = 0
  firstNumber = Number.POSITIVE_INFINITY
  lastNumber = 0
  readonly #gone = new Set<DocumentNumber>()
  readonly #lists = new Map<number, PostingLists>()

  /** Numbers must come in increasing order. */
  add(number: DocumentNumber, keys: readonly PostingKey[]): void {
    this.count++
    this.firstNumber = Math.min(this.firstNumber, number)
    this.lastNumber = number
    for (const { slot, high, low } of keys) {
      let lists = this.#lists.get(slot)
      if (lists === undefined) {
        lists = new PostingLists()
        this.#lists.set(slot, lists)
      }
      lists.add(high, low, number)
    }
  }

  markGone(number: DocumentNumber): void {
    this.#gone.add(number)
  }

  /** How many of the documents are not gone. */
  get presentCount(): number {
    return this.count - this.#gone.size
  }

  /** Appends to `into` at most `count` numbers greater than `after`, in increasing order. */
  read({ slot, high, low }: PostingKey, after: number, count: number, into: number[]): void {
    this.#lists.get(slot)?.read(high, low, after, count, into)
  }

  /** Numbers in the list that are not gone, the greatest one first; the others in increasing order. */
  *newestFirst({ slot, high, low }: PostingKey): Generator<DocumentNumber, void> {
    const lists = this.#lists.get(slot)
    const last = lists?.last(high, low) ?? 0
    if (last === 0) return
    if (!this.#gone.has(last)) yield last
    const numbers: number[] = []
    lists?.read(high, low, 0, Number.POSITIVE_INFINITY, numbers)
    for (const number of numbers) if (number !== last && !this.#gone.has(number)) yield number
  }

  /** The postings of a slot that are not gone, by number. */
  postings(slot: number): PostingColumns {
    return (this.#lists.get(slot) ?? new PostingLists()).columnsWithout(this.#gone)
  }
}
