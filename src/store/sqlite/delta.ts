import { halvesOf, signedOfHalves } from '../codec.ts'
import type { PostingKey } from '../posting.ts'
import { slotCount } from './posting-table.ts'

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

  /** Numbers of one value must come in increasing order. */
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

  /** All postings by signed value and then by number. */
  *sorted(): Generator<readonly [value: bigint, number: number]> {
    const values = new BigInt64Array(this.#valueCount)
    let valueCount = 0
    for (let place = 0; place < this.#lastPosting.length; place++) {
      const last = at(this.#lastPosting, place)
      if (last !== nobody) values[valueCount++] = signedOfHalves(at(this.#highs, last), at(this.#lows, last))
    }
    for (const value of values.sort()) {
      const [high, low] = halvesOf(value)
      const last = at(this.#lastPosting, this.#placeOf(high, low))
      let posting = last
      do {
        posting = at(this.#nextPosting, posting)
        yield [value, at(this.#numbers, posting)]
      } while (posting !== last)
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

/**
 * Postings that are in no run yet. Derived from stored rows, so nothing is lost with it; about 650 bytes for a
 * set with one document.
 */
export class Delta {
  /** Sets and documents with their numbers. */
  setCount = 0
  documentCount = 0
  /** How many of them are gone again. */
  goneCount = 0
  firstNumber = Number.POSITIVE_INFINITY
  lastNumber = 0
  readonly #slots = Array.from({ length: slotCount }, () => new PostingLists())

  addSet(set: number, keys: readonly PostingKey[]): void {
    this.setCount++
    this.#add(set, keys)
  }

  addDocument(document: number, keys: readonly PostingKey[]): void {
    this.documentCount++
    this.#add(document, keys)
  }

  /** Appends to `into` at most `count` numbers greater than `after`, in increasing order. */
  read({ slot, high, low }: PostingKey, after: number, count: number, into: number[]): void {
    this.#slots[slot]?.read(high, low, after, count, into)
  }

  /** The postings of a slot in the order of the posting tables: by signed value, then by number. */
  sorted(slot: number): Generator<readonly [value: bigint, number: number]> {
    const lists = this.#slots[slot]
    if (lists === undefined) throw new RangeError(`There is no posting slot ${slot}`)
    return lists.sorted()
  }

  #add(number: number, keys: readonly PostingKey[]): void {
    this.firstNumber = Math.min(this.firstNumber, number)
    this.lastNumber = Math.max(this.lastNumber, number)
    for (const { slot, high, low } of keys) this.#slots[slot]?.add(high, low, number)
  }
}

/** A delta is full when its sets or its documents reach the bound. */
export const isFull = (delta: Delta, bound: number): boolean =>
  delta.setCount >= bound || delta.documentCount >= bound
