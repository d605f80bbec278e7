import type { PostingColumns } from '../posting-columns.ts'

/** An element that exists: every index below is a posting or a table place within bounds. */
const at = (column: Uint32Array | Float64Array, index: number): number => column[index] as number

const nobody = 0xffff_ffff

/**
 * Posting lists of one slot in memory. Postings are numbered in the order in which they came; `nextPosting`
 * chains those of one value into a ring, whose last one stands in an open-addressing table:
 *
 *   table place -> last posting of a value -> nextPosting: first one -> second one -> ... -> last one
 *
 * What makes one value of a list are the high half and those bits of the low one that are in the mask.
 */
export class PostingLists {
  readonly #lowMask: number
  #count = 0
  #valueCount = 0
  #highs = new Uint32Array(64)
  #lows = new Uint32Array(64)
  #numbers = new Float64Array(64)
  #nextPosting = new Uint32Array(64)
  #lastPosting = new Uint32Array(128).fill(nobody)

  constructor(lowMask = -1) {
    this.#lowMask = lowMask
  }

  get count(): number {
    return this.#count
  }

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

  /** Calls `visit` with the low half and the number of each posting in the list, by number. */
  forEach(high: number, low: number, visit: (low: number, number: number) => void): void {
    const last = at(this.#lastPosting, this.#placeOf(high, low))
    if (last === nobody) return
    let posting = last
    do {
      posting = at(this.#nextPosting, posting)
      visit(at(this.#lows, posting), at(this.#numbers, posting))
    } while (posting !== last)
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
    const lowMask = this.#lowMask
    let hash = Math.imul((low & lowMask) ^ Math.imul(high, 0x85eb_ca6b), 0xc2b2_ae35)
    hash ^= hash >>> 16
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const last = at(this.#lastPosting, place)
      if (last === nobody) return place
      if (((at(this.#lows, last) ^ low) & lowMask) === 0 && this.#highs[last] === high) return place
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
