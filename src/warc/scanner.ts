import type { ByteStore } from './byte-store.ts'
import type { Piece } from './gzip-member.ts'

const newline = 0x0a
const carriageReturn = 0x0d
const mostNewlines = 64 * 1024
const recordMark = Buffer.from('WARC/')

/** Why no more bytes come: the file has ended, or some are missing here. */
export type Stop = { readonly kind: 'end' } | Extract<Piece, { kind: 'damage' }>

type Start = { readonly position: number; readonly offset: number; readonly isCompressed: boolean }

/** Whether a WARC record begins with these bytes. */
export const startsLikeWarc = (bytes: Buffer): boolean =>
  bytes.subarray(0, recordMark.length).equals(recordMark)

/** Where in the bytes a line begins as a WARC record does, be it cut off at their end; -1 where none does. */
export const warcStartIn = (bytes: Buffer): number => {
  for (let at = bytes.indexOf(recordMark); at !== -1; at = bytes.indexOf(recordMark, at + 1))
    if (bytes[at - 1] === newline) return at
  const tail = bytes.length - recordMark.length
  const last = bytes.indexOf(newline, Math.max(0, tail)) + 1
  const isCutOff = last > 0 && recordMark.subarray(0, bytes.length - last).equals(bytes.subarray(last))
  return isCutOff ? last : -1
}

/**
 * The decompressed bytes of an archive, by lines and blocks. They come in stretches that end where bytes are
 * missing: there every method stops, until `resume` begins the next stretch.
 */
export class Scanner {
  readonly #pieces: AsyncGenerator<Piece>
  #bytes: Buffer = Buffer.alloc(0)
  /** Number of bytes, decompressed, that have been taken. */
  #position = 0
  /** Where members begin: the one that the position is in, and those that are at hand behind it. */
  readonly #starts: Start[] = []
  #lastByte = newline
  #verifiedTo = 0
  #stop: Stop | null = null

  constructor(pieces: AsyncGenerator<Piece>) {
    this.#pieces = pieces
  }

  get position(): number {
    return this.#position
  }

  /** Up to this position members have ended with the right checksum. */
  get verifiedTo(): number {
    return this.#verifiedTo
  }

  /** Why nothing is left in this stretch; null where there is, or where nobody has looked yet. */
  get stop(): Stop | null {
    return this.#bytes.length === 0 ? this.#stop : null
  }

  /** Whether what is at hand is the last of this stretch. */
  get hasStopped(): boolean {
    return this.#stop !== null
  }

  /** Where the position lies in the file: of compressed data, where its member begins. */
  get offset(): number {
    const start = this.#starts[0]
    if (start === undefined) return 0
    return start.isCompressed ? start.offset : start.offset + this.#position - start.position
  }

  /** Whether all that came so far has been taken, and ends with a member: looking further means waiting. */
  get isAtMemberEnd(): boolean {
    const isCompressed = this.#starts.at(-1)?.isCompressed === true
    return isCompressed && this.#bytes.length === 0 && this.#verifiedTo === this.#position
  }

  get #isAtMemberStart(): boolean {
    return this.#starts[0]?.position === this.#position
  }

  /** Goes on behind missing bytes. */
  resume(): void {
    this.skip(this.#bytes.length)
    this.#stop = null
  }

  /** The bytes at hand without taking them: at least so many, fewer only before a stop. */
  async peek(least: number): Promise<Buffer> {
    while (this.#bytes.length < least && (await this.#pull())) {}
    return this.#bytes
  }

  /** Takes bytes that are at hand. */
  skip(count: number): void {
    if (count > 0) this.#lastByte = this.#bytes[count - 1] ?? newline
    this.#bytes = this.#bytes.subarray(count)
    this.#position += count
    this.#dropStarts()
  }

  /** Takes newlines up to something else, a stop or the end of a member, and gives them: 64 KiB at most. */
  async takeNewlines(): Promise<Buffer> {
    let taken: Buffer = Buffer.alloc(0)
    while (taken.length < mostNewlines) {
      let count = 0
      while (this.#bytes[count] === newline || this.#bytes[count] === carriageReturn) count++
      if (count > 0) taken = Buffer.concat([taken, this.#bytes.subarray(0, count)])
      this.skip(count)
      if (this.#bytes.length > 0 || this.isAtMemberEnd || !(await this.#pull())) break
    }
    return taken
  }

  /** The next line without its end; null where it has more bytes than allowed or a stop comes before its end. */
  async peekLine(mostBytes: number): Promise<Buffer | null> {
    const end = await this.#lineEnd(mostBytes)
    return end === -1
      ? null
      : this.#bytes.subarray(0, this.#bytes[end - 1] === carriageReturn ? end - 1 : end)
  }

  /** Takes that line. */
  async readLine(mostBytes: number): Promise<Buffer | null> {
    const line = await this.peekLine(mostBytes)
    if (line !== null) this.skip(this.#bytes.indexOf(newline) + 1)
    return line
  }

  /**
   * Takes so many bytes and adds them to the store, or leaves them out where that is null. Returns how many there
   * were: fewer before a stop, and where a member begins with a record.
   */
  async readBlock(length: number, store: ByteStore | null): Promise<number> {
    let left = length
    while (left > 0) {
      if (this.#bytes.length === 0 && (await this.peek(1)).length === 0) break
      if (this.#isAtMemberStart && left < length && startsLikeWarc(await this.peek(recordMark.length))) break
      const border = this.#starts[1]?.position ?? Infinity
      const part = this.#bytes.subarray(0, Math.min(left, border - this.#position))
      store?.append(part)
      left -= part.length
      this.skip(part.length)
    }
    return length - left
  }

  /** Puts back bytes that were taken last, from the start of a line on. */
  unread(bytes: Buffer): void {
    this.#lastByte = newline
    this.#bytes = Buffer.concat([bytes, this.#bytes])
    this.#position -= bytes.length
  }

  /** Takes bytes up to a WARC record that begins a line or a member, or to a stop. Linear. */
  async skipToWarc(): Promise<void> {
    for (;;) {
      const bytes = await this.peek(recordMark.length)
      const isEnd = bytes.length < recordMark.length
      const at = isEnd ? bytes.length : bytes.indexOf(recordMark)
      // Without one all but its possible beginning can go.
      this.skip(at === -1 ? bytes.length - recordMark.length + 1 : at)
      if (isEnd || (at !== -1 && (this.#lastByte === newline || this.#isAtMemberStart))) return
      if (at !== -1) this.skip(1)
    }
  }

  async #lineEnd(mostBytes: number): Promise<number> {
    let end = this.#bytes.indexOf(newline)
    while (end === -1) {
      const searched = this.#bytes.length
      if (searched > mostBytes || !(await this.#pull())) return -1
      end = this.#bytes.indexOf(newline, searched)
    }
    return end > mostBytes ? -1 : end
  }

  #dropStarts(): void {
    while ((this.#starts[1]?.position ?? Infinity) <= this.#position) this.#starts.shift()
  }

  /** Takes the next piece; false at a stop. */
  async #pull(): Promise<boolean> {
    if (this.#stop !== null) return false
    const { value: piece, done } = await this.#pieces.next()
    const end = this.#position + this.#bytes.length
    if (done) this.#stop = { kind: 'end' }
    else if (piece.kind === 'damage') this.#stop = piece
    else if (piece.kind === 'end') this.#verifiedTo = end
    else if (piece.kind === 'bytes')
      this.#bytes = this.#bytes.length === 0 ? piece.bytes : Buffer.concat([this.#bytes, piece.bytes])
    else {
      this.#starts.push({ position: end, offset: piece.offset, isCompressed: piece.isCompressed })
      this.#dropStarts()
    }
    return this.#stop === null
  }
}
