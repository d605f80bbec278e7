import type { PostingColumns } from '../posting-columns.ts'

/**
 * A block of a posting segment: values in increasing order, and then the numbers of the postings in the same
 * order, each less the first number of the run; all big-endian and unsigned. Values have 4 or 8 bytes, numbers 4
 * to 7, as many as the greatest number of the run needs.
 */

/** A block and the other columns of its row fill one page of the database. */
const largestBlockBytes = 8064
export const postingsInLargestBlock = largestBlockBytes / 8

export type BlockShape = {
  readonly valueBytes: 4 | 8
  readonly numberBytes: number
  readonly firstNumber: number
}

/** Bytes for offsets up to the last number of a run. */
export const numberBytesFor = (firstNumber: number, lastNumber: number): number => {
  let bytes = 4
  while (lastNumber - firstNumber >= 2 ** (8 * bytes)) bytes++
  return bytes
}

export const postingsInBlock = ({ valueBytes, numberBytes }: BlockShape): number =>
  Math.floor(largestBlockBytes / (valueBytes + numberBytes))

/** Reads a block. Indices are not checked. */
export class BlockReader {
  readonly count: number
  readonly #bytes: Buffer
  readonly #shape: BlockShape

  constructor(bytes: Buffer, shape: BlockShape) {
    this.count = bytes.length / (shape.valueBytes + shape.numberBytes)
    this.#bytes = bytes
    this.#shape = shape
  }

  high(index: number): number {
    return this.#shape.valueBytes === 4 ? 0 : this.#bytes.readUInt32BE(8 * index)
  }

  low(index: number): number {
    const { valueBytes } = this.#shape
    return this.#bytes.readUInt32BE(valueBytes * (index + 1) - 4)
  }

  number(index: number): number {
    const { valueBytes, numberBytes, firstNumber } = this.#shape
    const end = this.count * valueBytes + (index + 1) * numberBytes
    const upper = numberBytes === 4 ? 0 : this.#upper(end - 4)
    return firstNumber + upper * 2 ** 32 + this.#bytes.readUInt32BE(end - 4)
  }

  /** Writes all postings of the block into columns, from an index on. */
  copyTo({ highs, lows, numbers }: PostingColumns, start: number): void {
    const { valueBytes, numberBytes, firstNumber } = this.#shape
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length)
    const upperBytes = numberBytes - 4
    let value = 0
    let number = this.count * valueBytes
    for (let to = start; to < start + this.count; to++) {
      if (valueBytes === 8) highs[to] = view.getUint32(value)
      lows[to] = view.getUint32(value + valueBytes - 4)
      value += valueBytes
      let upper = 0
      for (const end = number + upperBytes; number < end; number++)
        upper = 256 * upper + view.getUint8(number)
      numbers[to] = firstNumber + upper * 2 ** 32 + view.getUint32(number)
      number += 4
    }
  }

  /** Index of the first posting of the value with a number greater than `after`, or where it would be. */
  find(high: number, low: number, after: number): number {
    let from = 0
    let to = this.count
    while (from < to) {
      const middle = (from + to) >>> 1
      const otherHigh = this.high(middle)
      const otherLow = this.low(middle)
      const isBefore =
        otherHigh !== high
          ? otherHigh < high
          : otherLow !== low
            ? otherLow < low
            : this.number(middle) <= after
      if (isBefore) from = middle + 1
      else to = middle
    }
    return from
  }

  #upper(end: number): number {
    let upper = 0
    for (let i = end - (this.#shape.numberBytes - 4); i < end; i++)
      upper = 256 * upper + this.#bytes.readUInt8(i)
    return upper
  }
}

/** Collects the postings of one block after another. */
export class BlockWriter {
  count = 0
  readonly #shape: BlockShape
  readonly #values: Buffer
  readonly #numbers: Buffer

  constructor(shape: BlockShape, capacity: number) {
    this.#shape = shape
    this.#values = Buffer.alloc(capacity * shape.valueBytes)
    this.#numbers = Buffer.alloc(capacity * shape.numberBytes)
  }

  /** Adds postings from one index to another, for which there must be room. */
  add({ highs, lows, numbers }: PostingColumns, from: number, end: number): void {
    const { valueBytes, numberBytes, firstNumber } = this.#shape
    const values = new DataView(this.#values.buffer, this.#values.byteOffset, this.#values.length)
    const offsets = new DataView(this.#numbers.buffer, this.#numbers.byteOffset, this.#numbers.length)
    let value = this.count * valueBytes
    let number = this.count * numberBytes
    for (let i = from; i < end; i++) {
      if (valueBytes === 8) values.setUint32(value, highs[i] as number)
      values.setUint32(value + valueBytes - 4, lows[i] as number)
      value += valueBytes
      const offset = (numbers[i] as number) - firstNumber
      let upper = Math.floor(offset / 2 ** 32)
      for (let byte = number + numberBytes - 5; byte >= number; byte--) {
        offsets.setUint8(byte, upper)
        upper >>>= 8
      }
      offsets.setUint32(number + numberBytes - 4, offset % 2 ** 32)
      number += numberBytes
    }
    this.count += end - from
  }

  /** The bytes of the block, and begins a new one. */
  take(): Buffer {
    const { valueBytes, numberBytes } = this.#shape
    const block = Buffer.concat([
      this.#values.subarray(0, this.count * valueBytes),
      this.#numbers.subarray(0, this.count * numberBytes),
    ])
    this.count = 0
    return block
  }
}
