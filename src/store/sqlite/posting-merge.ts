import { emptyPostings, type PostingColumns, sortPostings } from '../posting-columns.ts'
import type { Run, RunReader } from './posting-run.ts'

/** The postings of a run in one slot from its beginning, some blocks at a time. */
class MergeSource {
  readonly postings: number
  readonly #blocks: Generator<PostingColumns, void>
  #loaded: PostingColumns = emptyPostings
  #following: PostingColumns | null
  #next = 0

  constructor(reader: RunReader, run: Run, slot: number, loadedPostings: number) {
    this.postings = reader.segment(run.run, slot)?.postings ?? 0
    this.#blocks = reader.readAll(run, slot, loadedPostings)
    this.#following = this.#blocks.next().value ?? null
  }

  /** To be called before each question: loads postings where all of those loaded are taken. */
  load(): void {
    if (this.#next < this.#loaded.numbers.length || this.#following === null) return
    this.#loaded = this.#following
    this.#next = 0
    this.#following = this.#blocks.next().value ?? null
  }

  get isAtEnd(): boolean {
    return this.#next === this.#loaded.numbers.length && this.#following === null
  }

  /** Value of the last posting loaded, as `[high, low]`; null where no postings follow it. */
  get bound(): readonly [high: number, low: number] | null {
    if (this.#following === null) return null
    const last = this.#loaded.numbers.length - 1
    return [this.#loaded.highs[last] as number, this.#loaded.lows[last] as number]
  }

  /** Takes what is loaded with lower values, and with this one where `inclusive`; all of it where there is no bound. */
  take(bound: readonly [high: number, low: number] | null, inclusive: boolean): PostingColumns {
    const { highs, lows, numbers } = this.#loaded
    const from = this.#next
    let to = numbers.length
    if (bound !== null) {
      let low = from
      while (low < to) {
        const middle = (low + to) >>> 1
        const order =
          (highs[middle] as number) - bound[0] || (lows[middle] as number) - bound[1] || (inclusive ? -1 : 0)
        if (order < 0) low = middle + 1
        else to = middle
      }
    }
    this.#next = to
    return {
      highs: highs.subarray(from, to),
      lows: lows.subarray(from, to),
      numbers: numbers.subarray(from, to),
    }
  }
}

/** The postings of some runs in one slot, in parts that are one behind the other by value and then by number. */
export class PostingMerge {
  /** Those of numbers that are gone included. */
  readonly postings: number
  #sources: readonly MergeSource[]
  readonly #gone: ReadonlySet<number>

  /** Runs come in the order of their numbers; of each about so many postings are held in memory, twice. */
  constructor(
    reader: RunReader,
    runs: readonly Run[],
    slot: number,
    gone: ReadonlySet<number>,
    loadedPostings: number,
  ) {
    this.#sources = runs.map((run) => new MergeSource(reader, run, slot, loadedPostings))
    this.#gone = gone
    this.postings = this.#sources.reduce((sum, { postings }) => sum + postings, 0)
  }

  /**
   * The next part, without what is gone, and how many postings were read for it; null at the end. What is loaded of
   * all runs up to the least value to which one of them is loaded is complete, so it need only be sorted.
   */
  next(): { readonly part: PostingColumns; readonly read: number } | null {
    for (const source of this.#sources) source.load()
    this.#sources = this.#sources.filter((source) => !source.isAtEnd)
    if (this.#sources.length === 0) return null
    let bound: readonly [high: number, low: number] | null = null
    let bounding = this.#sources.length
    for (const [i, source] of this.#sources.entries()) {
      const other = source.bound
      if (other === null) continue
      if (bound !== null && (other[0] - bound[0] || other[1] - bound[1]) >= 0) continue
      bound = other
      bounding = i
    }
    // More of that very value may follow in the run that is the bound, before that of later runs.
    const taken = this.#sources.map((source, i) => source.take(bound, i <= bounding))
    const read = taken.reduce((sum, { numbers }) => sum + numbers.length, 0)
    return { part: sortPostings(this.#joined(taken, read)), read }
  }

  #joined(parts: readonly PostingColumns[], length: number): PostingColumns {
    const joined = {
      highs: new Uint32Array(length),
      lows: new Uint32Array(length),
      numbers: new Float64Array(length),
    }
    let count = 0
    for (const { highs, lows, numbers } of parts) {
      if (this.#gone.size === 0) {
        joined.highs.set(highs, count)
        joined.lows.set(lows, count)
        joined.numbers.set(numbers, count)
        count += numbers.length
        continue
      }
      for (let i = 0; i < numbers.length; i++) {
        if (this.#gone.has(numbers[i] as number)) continue
        joined.highs[count] = highs[i] as number
        joined.lows[count] = lows[i] as number
        joined.numbers[count++] = numbers[i] as number
      }
    }
    return {
      highs: joined.highs.subarray(0, count),
      lows: joined.lows.subarray(0, count),
      numbers: joined.numbers.subarray(0, count),
    }
  }
}
