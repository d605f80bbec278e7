import type { PostingKey } from '../posting.ts'
import type { PostingColumns } from '../posting-columns.ts'
import type { DocumentNumber } from '../store.ts'
import { PostingLists } from './posting-lists.ts'

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
