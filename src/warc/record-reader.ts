import type { ByteStore, RecordLimits } from './byte-store.ts'
import { readPieces } from './gzip-member.ts'
import { type Headers, isBeforeRecord, type RecordHead, readHead } from './record-head.ts'
import { Scanner, warcStartIn } from './scanner.ts'

/** A record of an archive. */
export type ArchiveRecord = {
  readonly kind: 'record'
  /** Where in the file it begins; of a compressed one, where its gzip member does. */
  readonly offset: number
  /** WARC-Type in lower case; of ARC files `response`, and `warcinfo` for the description of the file. */
  readonly type: string
  /** Of ARC files WARC-Target-URI, WARC-Date and Content-Type only. */
  readonly headers: Headers
  /** What the record holds, to be cleared by whoever got it; null where it is larger than the limit. */
  readonly block: ByteStore | null
}

/** A place where records are lost. */
export type Damage = { readonly kind: 'damage'; readonly offset: number; readonly detail: string }

/** The most that is looked at again after records with a wrong length: crafted files would make it endless. */
const mostRereadBytes = 256 * 1024 * 1024

class RecordReader {
  readonly #scanner: Scanner
  readonly #limits: RecordLimits
  #rereadLeft = mostRereadBytes
  /** Damage was reported, and no record has been found since: more of it is the same. */
  #isLost = false

  constructor(scanner: Scanner, limits: RecordLimits) {
    this.#scanner = scanner
    this.#limits = limits
  }

  async *readAll(): AsyncGenerator<ArchiveRecord | Damage> {
    const scanner = this.#scanner
    for (;;) {
      await scanner.peek(1)
      await scanner.takeNewlines()
      await scanner.peek(1)
      if (scanner.stop === null) yield* this.#readRecord()
      else if (scanner.stop.kind === 'end') return
      else {
        yield* this.#report(scanner.stop.offset, scanner.stop.detail)
        scanner.resume()
      }
    }
  }

  async *#readRecord(): AsyncGenerator<ArchiveRecord | Damage> {
    const { offset, position } = this.#scanner
    const result = await readHead(this.#scanner)
    if ('detail' in result) {
      if (!this.#isInDamage()) yield* this.#report(offset, result.detail)
      // What looked like a record is not to be found again.
      if (this.#scanner.position === position) this.#scanner.skip(1)
      await this.#scanner.skipToWarc()
      return
    }
    this.#isLost = false
    const { head } = result
    const block = head.length > this.#limits.limitBytes ? null : this.#limits.createStore()
    let fault: string | null
    let isReportedLater: boolean
    try {
      fault = await this.#readBlock(head, block)
      isReportedLater = this.#isInDamage()
      if (fault !== null) await this.#goToNextRecord(block)
    } catch (error) {
      block?.clear()
      throw error
    }
    if (fault === null) yield { kind: 'record', offset, type: head.type, headers: head.headers, block }
    else if (!isReportedLater) yield* this.#report(offset, fault)
  }

  /** Returns what is wrong with the length of the block, or null. */
  async #readBlock(head: RecordHead, block: ByteStore | null): Promise<string | null> {
    const scanner = this.#scanner
    const count = await scanner.readBlock(head.length, block)
    if (count < head.length)
      return scanner.stop === null
        ? `The next record begins after ${count} of the ${head.length} bytes that Content-Length says`
        : `The file is truncated: it ends after ${count} of the ${head.length} bytes that Content-Length says`
    const end = scanner.position
    const newlines = await scanner.takeNewlines()
    if (scanner.isAtMemberEnd) return null
    await scanner.peek(1)
    // A member that turns out to be damaged may have been damaged in this record.
    if (scanner.stop !== null)
      return scanner.stop.kind === 'end' || end <= scanner.verifiedTo
        ? null
        : 'The record lies in a damaged member'
    if (await isBeforeRecord(scanner)) return null
    scanner.unread(newlines)
    return `No record follows the ${head.length} bytes that Content-Length says`
  }

  /** Goes on at the first record in the block, which a wrong length made part of it, or behind it. */
  async #goToNextRecord(block: ByteStore | null): Promise<void> {
    if (block === null) return this.#scanner.skipToWarc()
    const bytes = block.view()
    const at = warcStartIn(bytes)
    const isWithin = at !== -1 && bytes.length - at <= this.#rereadLeft
    if (isWithin) {
      this.#rereadLeft -= bytes.length - at
      this.#scanner.unread(Buffer.from(bytes.subarray(at)))
    }
    block.clear()
    if (!isWithin) await this.#scanner.skipToWarc()
  }

  /** Whether the bytes end in damage that is reported when it is reached. */
  #isInDamage(): boolean {
    return this.#scanner.stop?.kind === 'damage'
  }

  *#report(offset: number, detail: string): Generator<Damage> {
    if (!this.#isLost) yield { kind: 'damage', offset, detail }
    this.#isLost = true
  }
}

/**
 * The records of a WARC or ARC file in order, whether it is compressed record by record, as a whole, or not at
 * all, and the places where it is damaged; after each of them reading goes on at the next record that can be
 * found. Where a whole file is one member, a record may be given before the checksum of all has been seen. The
 * next record is read when the one before has been taken; its block stays the caller's. Throws what the chunks and the stores throw. Time: linear; memory: one record up to the limit.
 * Source: ISO 28500:2017 (WARC 1.1); ARC file format, versions 1 and 2.
 */
export async function* readRecords(
  chunks: AsyncIterable<Uint8Array>,
  limits: RecordLimits,
): AsyncGenerator<ArchiveRecord | Damage> {
  const pieces = readPieces(chunks)
  try {
    yield* new RecordReader(new Scanner(pieces), limits).readAll()
  } finally {
    await pieces.return(undefined)
  }
}
