import type Database from 'better-sqlite3'
import type { PostingKey } from '../posting.ts'
import type { PostingColumns } from '../posting-columns.ts'
import {
  BlockReader,
  type BlockShape,
  BlockWriter,
  numberBytesFor,
  postingsInBlock,
} from './posting-block.ts'
import { PostingFilter } from './posting-filter.ts'
import { lowMask, plainSlots, valueBytes } from './posting-slot.ts'
import { postingSql } from './sql.ts'

/** A sorted run: a row of `posting_run`. */
export type Run = {
  readonly run: number
  readonly level: number
  readonly firstNumber: number
  readonly lastNumber: number
  readonly numberBytes: number
  readonly numbers: number
  gone: number
}

const slotsInRun = 64
/**
 * Features are many, and their filters are held in memory: half of the bits still tell of 7 in 8 features that the run
 * does not have them.
 */
const featureFilterShare = 0.5
/** Reading a block costs as much as going through so many postings. */
const postingsOfLookUp = 64
const blocksInRun = 2 ** 24
const bytesInStart = 16

export const segmentNumber = (run: number, slot: number): number => slotsInRun * run + slot

/** First and last number that blocks of a run may have. */
export const blockRange = (run: number): readonly [first: number, last: number] => [
  blocksInRun * run,
  blocksInRun * (run + 1) - 1,
]

const shapeOf = (
  { firstNumber, numberBytes }: Pick<Run, 'firstNumber' | 'numberBytes'>,
  slot: number,
): BlockShape => ({
  valueBytes: valueBytes(slot),
  numberBytes,
  firstNumber,
})

type SegmentRow = {
  readonly firstBlock: number
  readonly postings: number
  readonly blockStarts: Buffer
  readonly filter: Buffer
}

/** All postings of a run in one slot. */
class Segment {
  readonly postings: number
  readonly firstBlock: number
  readonly blockCount: number
  readonly #filter: PostingFilter
  readonly #highs: Uint32Array
  readonly #lows: Uint32Array
  readonly #numbers: Float64Array

  constructor({ firstBlock, postings, blockStarts, filter }: SegmentRow) {
    this.firstBlock = firstBlock
    this.postings = postings
    this.blockCount = blockStarts.length / bytesInStart
    const starts = Array.from({ length: this.blockCount }, (_, block) => bytesInStart * block)
    this.#highs = Uint32Array.from(starts, (start) => blockStarts.readUInt32BE(start))
    this.#lows = Uint32Array.from(starts, (start) => blockStarts.readUInt32BE(start + 4))
    this.#numbers = Float64Array.from(starts, (start) => Number(blockStarts.readBigUInt64BE(start + 8)))
    // A copy: the bytes of a row need not begin at a multiple of four.
    this.#filter = new PostingFilter(new Uint32Array(Uint8Array.from(filter).buffer))
  }

  mayHave(high: number, low: number): boolean {
    return this.#filter.mayHave(high, low)
  }

  /** The block in which the first posting of the value with a number greater than `after` is, if any. */
  blockFor(high: number, low: number, after: number): number {
    let from = 0
    let to = this.blockCount
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#startsAfter(middle, high, low, after)) to = middle
      else from = middle + 1
    }
    return Math.max(0, from - 1)
  }

  /** Whether the block begins with a greater value, or with this one and a greater number. */
  #startsAfter(block: number, high: number, low: number, after: number): boolean {
    const [otherHigh, otherLow] = [this.#highs[block] as number, this.#lows[block] as number]
    if (otherHigh !== high) return otherHigh > high
    return otherLow !== low ? otherLow > low : (this.#numbers[block] as number) > after
  }

  startsWithGreater(block: number, high: number, low: number): boolean {
    return this.#startsAfter(block, high, low, Number.POSITIVE_INFINITY)
  }
}

/** Reads runs that are ready. */
export class RunReader {
  readonly #segmentRow: Database.Statement<[number], SegmentRow>
  readonly #blockEntries: Database.Statement<[number], Buffer>
  /** By run and slot, as they are asked for; null where the run has no posting in the slot. */
  readonly #segments = new Map<number, (Segment | null | undefined)[]>()

  constructor(db: Database.Database) {
    this.#segmentRow = db.prepare(postingSql.segment)
    this.#blockEntries = db.prepare<[number], Buffer>(postingSql.blockEntries).pluck()
  }

  /** Appends to `into` at most `count` numbers greater than `after` and up to `through`, in increasing order. */
  read(run: Run, key: PostingKey, after: number, through: number, count: number, into: number[]): void {
    const { slot, high, low } = key
    const segment = this.segment(run.run, slot)
    if (segment === null || !segment.mayHave(high, low)) return
    let left = count
    for (let block = segment.blockFor(high, low, after); block < segment.blockCount && left > 0; block++) {
      if (block > 0 && segment.startsWithGreater(block, high, low)) return
      const reader = this.block(run, slot, segment, block)
      for (let i = reader.find(high, low, after); i < reader.count && left > 0; i++) {
        if (reader.low(i) !== low || reader.high(i) !== high) return
        const number = reader.number(i)
        if (number > through) return
        into.push(number)
        left--
      }
    }
  }

  /**
   * Calls `visit` with the low half and the number of each posting whose value is in a range of lows under one high
   * half, and whose number is greater than `after`, by value; the range belongs to one list of the slot. Returns how
   * many postings it went through, and `postingsOfLookUp` where it had to look into a block.
   */
  readRange(
    run: Run,
    slot: number,
    { high, low, lastLow }: { readonly high: number; readonly low: number; readonly lastLow: number },
    after: number,
    visit: (low: number, number: number) => void,
  ): number {
    const segment = this.segment(run.run, slot)
    if (segment === null || !segment.mayHave(high, (low & lowMask(slot)) >>> 0)) return 0
    let count = postingsOfLookUp
    for (let block = segment.blockFor(high, low, 0); block < segment.blockCount; block++) {
      const reader = this.block(run, slot, segment, block)
      for (let i = reader.find(high, low, 0); i < reader.count; i++) {
        const otherLow = reader.low(i)
        if (otherLow > lastLow || reader.high(i) !== high) return count
        count++
        const number = reader.number(i)
        if (number > after) visit(otherLow, number)
      }
      if (block + 1 < segment.blockCount && segment.startsWithGreater(block + 1, high, lastLow)) return count
    }
    return count
  }

  /**
   * What `readRange` would return, or up to two blocks less, without reading any.
   */
  leastInRange(
    run: Run,
    slot: number,
    { high, low, lastLow }: { readonly high: number; readonly low: number; readonly lastLow: number },
  ): number {
    const segment = this.segment(run.run, slot)
    if (segment === null || !segment.mayHave(high, (low & lowMask(slot)) >>> 0)) return 0
    const last = segment.blockFor(high, lastLow, Number.POSITIVE_INFINITY)
    const blocks = Math.max(0, last - segment.blockFor(high, low, 0) - 1)
    return postingsOfLookUp + Math.floor((blocks * segment.postings) / segment.blockCount)
  }

  segment(run: number, slot: number): Segment | null {
    let segments = this.#segments.get(run)
    if (segments === undefined) {
      segments = Array(slotsInRun)
      this.#segments.set(run, segments)
    }
    let segment = segments[slot]
    if (segment === undefined) {
      const row = this.#segmentRow.get(segmentNumber(run, slot))
      segment = row === undefined ? null : new Segment(row)
      segments[slot] = segment
    }
    return segment
  }

  block(run: Run, slot: number, segment: Segment, block: number): BlockReader {
    const entries = this.#blockEntries.get(segment.firstBlock + block)
    if (entries === undefined) throw new Error(`Run ${run.run} has lost a block of slot ${slot}`)
    return new BlockReader(entries, shapeOf(run, slot))
  }

  /** All postings of a run in one slot by value and then by number, in parts of at least so many but for the last. */
  *readAll(run: Run, slot: number, postingsAtOnce: number): Generator<PostingColumns, void> {
    const segment = this.segment(run.run, slot)
    if (segment === null) return
    for (let block = 0; block < segment.blockCount; ) {
      const blocks: BlockReader[] = []
      let length = 0
      for (; block < segment.blockCount && length < postingsAtOnce; block++) {
        const reader = this.block(run, slot, segment, block)
        blocks.push(reader)
        length += reader.count
      }
      const columns = {
        highs: new Uint32Array(length),
        lows: new Uint32Array(length),
        numbers: new Float64Array(length),
      }
      let start = 0
      for (const reader of blocks) {
        reader.copyTo(columns, start)
        start += reader.count
      }
      yield columns
    }
  }

  /** To be called when the run is dropped. */
  forget(run: number): void {
    this.#segments.delete(run)
  }
}

/** Writes the segments of a run one after the other. */
export class RunWriter {
  readonly numberBytes: number
  readonly #firstNumber: number
  readonly #run: number
  readonly #mostInBlock: number
  readonly #insertBlock: Database.Statement<[number, number, number, Buffer]>
  readonly #insertSegment: Database.Statement<[number, number, number, Buffer, Buffer]>
  #nextBlock: number
  /** Full blocks that are not saved yet. */
  #full: { readonly postings: number; readonly entries: Buffer }[] = []
  #slot = 0
  #capacity = 0
  #block: BlockWriter | null = null
  #starts: bigint[] = []
  #filter = new PostingFilter(0)
  #postings = 0

  /** No block holds more than `mostInBlock` postings. */
  constructor(
    db: Database.Database,
    { run, firstNumber, lastNumber }: Pick<Run, 'run' | 'firstNumber' | 'lastNumber'>,
    mostInBlock: number,
  ) {
    this.numberBytes = numberBytesFor(firstNumber, lastNumber)
    this.#firstNumber = firstNumber
    this.#run = run
    this.#mostInBlock = mostInBlock
    this.#nextBlock = blockRange(run)[0]
    this.#insertBlock = db.prepare(postingSql.insertBlock)
    this.#insertSegment = db.prepare(postingSql.insertSegment)
  }

  /** Begins the postings of a slot, about so many. */
  begin(slot: number, postings: number): void {
    const shape = shapeOf({ firstNumber: this.#firstNumber, numberBytes: this.numberBytes }, slot)
    this.#slot = slot
    this.#capacity = Math.min(postingsInBlock(shape), this.#mostInBlock)
    this.#block = new BlockWriter(shape, this.#capacity)
    this.#starts = []
    this.#filter = new PostingFilter(slot < plainSlots ? postings : postings * featureFilterShare)
    this.#postings = 0
  }

  /** Adds postings from one index to another. They come by unsigned value and then by number. */
  add(columns: PostingColumns, from: number, end: number): void {
    const block = this.#block
    if (block === null) throw new Error('No slot was begun')
    const { highs, lows, numbers } = columns
    for (let next = from; next < end; ) {
      if (block.count === 0) {
        const value = (BigInt(highs[next] as number) << 32n) | BigInt(lows[next] as number)
        this.#starts.push(value, BigInt(numbers[next] as number))
      }
      const endInBlock = Math.min(end, next + this.#capacity - block.count)
      block.add(columns, next, endInBlock)
      if (block.count === this.#capacity) this.#takeBlock(block)
      next = endInBlock
    }
    const mask = lowMask(this.#slot)
    for (let i = from; i < end; i++) this.#filter.add(highs[i] as number, ((lows[i] as number) & mask) >>> 0)
    this.#postings += end - from
  }

  /** Inserts the full blocks, within the transaction of the caller. */
  save(): void {
    for (const { postings, entries } of this.#full)
      this.#insertBlock.run(this.#nextBlock++, this.#slot, postings, entries)
    this.#full = []
  }

  /** Ends the slot, within the transaction of the caller. */
  end(): void {
    if (this.#block !== null && this.#block.count > 0) this.#takeBlock(this.#block)
    this.save()
    if (this.#postings === 0) return
    const starts = Buffer.alloc(8 * this.#starts.length)
    for (const [i, half] of this.#starts.entries()) starts.writeBigUInt64BE(half, 8 * i)
    const { words } = this.#filter
    const filter = Buffer.from(words.buffer, words.byteOffset, words.byteLength)
    const firstBlock = this.#nextBlock - this.#starts.length / 2
    this.#insertSegment.run(segmentNumber(this.#run, this.#slot), firstBlock, this.#postings, starts, filter)
  }

  #takeBlock(block: BlockWriter): void {
    this.#full.push({ postings: block.count, entries: block.take() })
  }
}
