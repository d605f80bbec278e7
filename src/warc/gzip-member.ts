import { crc32 } from 'node:zlib'
import { FileBytes } from './file-bytes.ts'
import { Inflater } from './inflater.ts'

/** A file of archived records, decompressed, in pieces. */
export type Piece =
  /** What follows was compressed into a member that lies there in the file, or is the file as it is from there on. */
  | { readonly kind: 'start'; readonly offset: number; readonly isCompressed: boolean }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** The member has ended, and its checksum is right; or the file that is not compressed has ended. */
  | { readonly kind: 'end' }
  /** The member that lies there is damaged or cut short; what comes next does not follow on what came before. */
  | { readonly kind: 'damage'; readonly offset: number; readonly detail: string }

const fixedHeaderBytes = 10
const trailerBytes = 8
/** Optional fields are names and comments: more is no header. */
const mostHeaderBytes = 128 * 1024
/** Damage is noticed behind it, so that the next member is sought in what was read last, this far back. */
const windowBytes = 512 * 1024
/** The most that is read a second time: crafted files could have each byte read as often as they like. */
const mostRereadBytes = 64 * 1024 * 1024
/** Of data that expands more than this nothing is used beyond the first so many bytes. */
const mostExpansion = 250
const unsuspiciousBytes = 16 * 1024 * 1024

const extraFlag = 4
const nameFlag = 8
const commentFlag = 16
const checksumFlag = 2

/** Whether a gzip member may begin here: magic, method, no reserved flag, a known level and operating system. */
const isMemberStart = (bytes: Buffer, at: number): boolean => {
  const [flags = 255, level = 255, system = 255] = [bytes[at + 3], bytes[at + 8], bytes[at + 9]]
  return (
    bytes[at] === 0x1f &&
    bytes[at + 1] === 0x8b &&
    bytes[at + 2] === 8 &&
    flags < 32 &&
    (level === 0 || level === 2 || level === 4) &&
    (system < 20 || system === 255)
  )
}

/** Length of the header that begins there (RFC 1952, section 2.3); null where it goes on beyond the bytes. */
const headerLength = (bytes: Buffer): number | null => {
  if (bytes.length < fixedHeaderBytes) return null
  const flags = bytes[3] ?? 0
  let at = fixedHeaderBytes
  if (flags & extraFlag) {
    if (bytes.length < at + 2) return null
    at += 2 + bytes.readUInt16LE(at)
  }
  for (const flag of [nameFlag, commentFlag]) {
    if (!(flags & flag)) continue
    const end = bytes.indexOf(0, at)
    if (end === -1) return null
    at = end + 1
  }
  if (flags & checksumFlag) at += 2
  return at > bytes.length ? null : at
}

/** The bytes that were read last, copied: chunks are often small parts of large buffers. */
class Window {
  readonly #buffer = Buffer.allocUnsafe(2 * windowBytes)
  #length = 0

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  clear(): void {
    this.#length = 0
  }

  append(bytes: Buffer): void {
    const part = bytes.subarray(-windowBytes)
    if (this.#length + part.length > this.#buffer.length) {
      this.#buffer.copyWithin(0, this.#length - windowBytes, this.#length)
      this.#length = windowBytes
    }
    this.#length += part.copy(this.#buffer, this.#length)
  }
}

class MemberReader {
  readonly #file: FileBytes
  readonly #window = new Window()
  #rereadLeft = mostRereadBytes

  constructor(file: FileBytes) {
    this.#file = file
  }

  async *readAll(): AsyncGenerator<Piece> {
    while ((await this.#file.peek(1)).length > 0) {
      const { offset } = this.#file
      const damage = yield* this.#readMember()
      if (damage === null) continue
      yield { kind: 'damage', offset, detail: damage.detail }
      if (this.#file.offset === offset) this.#file.skip(1)
      else this.#goBackTo(damage.resumeAt ?? offset + 1)
      await this.#skipToMember()
    }
  }

  /**
   * Reads one member. Returns null, or what is wrong, and from which offset on the next member is to be sought
   * where that is known.
   */
  async *#readMember(): AsyncGenerator<Piece, { detail: string; resumeAt?: number } | null> {
    this.#window.clear()
    const { offset } = this.#file
    const isCut = await this.#skipHeader()
    if (isCut !== null) return { detail: isCut }
    yield { kind: 'start', offset, isCompressed: true }
    const inflater = new Inflater()
    let checksum = 0
    let size = 0
    try {
      while (!inflater.hasEnded) {
        const bytes = await this.#file.read()
        if (bytes === null)
          return {
            detail: `The file is truncated: it ends within a gzip member, after ${size} decompressed bytes of it`,
          }
        const usedBefore = inflater.usedBytes
        for await (const inflated of inflater.write(bytes)) {
          checksum = crc32(inflated, checksum)
          size += inflated.length
          if (size > unsuspiciousBytes && size > mostExpansion * (inflater.usedBytes + bytes.length)) {
            this.#file.unread(bytes.subarray(inflater.usedBytes - usedBefore))
            return {
              detail: `The gzip member expands more than ${mostExpansion} times`,
              resumeAt: this.#file.offset,
            }
          }
          yield { kind: 'bytes', bytes: inflated }
        }
        const used = inflater.hasEnded ? inflater.usedBytes - usedBefore : bytes.length
        this.#window.append(bytes.subarray(0, used))
        this.#file.unread(bytes.subarray(used))
        if (inflater.hasFailed)
          return { detail: `The gzip member is damaged after ${size} decompressed bytes of it` }
      }
    } finally {
      inflater.close()
    }
    const trailer = await this.#file.peek(trailerBytes)
    if (trailer.length < trailerBytes)
      return {
        detail: `The file is truncated: it ends within a gzip member, after all ${size} decompressed bytes of it`,
      }
    this.#window.append(trailer.subarray(0, trailerBytes))
    this.#file.skip(trailerBytes)
    if (trailer.readUInt32LE(0) !== checksum || trailer.readUInt32LE(4) !== size % 2 ** 32)
      return { detail: 'The gzip member is damaged: its checksum is another' }
    yield { kind: 'end' }
    return null
  }

  /** Returns what is wrong, or null. */
  async #skipHeader(): Promise<string | null> {
    let bytes = await this.#file.peek(fixedHeaderBytes)
    const isShort = bytes.length < fixedHeaderBytes
    if (!isShort && !isMemberStart(bytes, 0)) return 'No gzip member begins here'
    for (let least = 1024; headerLength(bytes) === null && least <= mostHeaderBytes; least *= 2)
      bytes = await this.#file.peek(least)
    const length = headerLength(bytes)
    if (length === null) return 'The file is truncated: it ends within the header of a gzip member'
    this.#window.append(bytes.subarray(0, length))
    this.#file.skip(length)
    return null
  }

  /** Goes back to an offset, or as far as the window reaches. */
  #goBackTo(offset: number): void {
    const seen = this.#window.bytes()
    const distance = Math.min(Math.max(0, this.#file.offset - offset), seen.length)
    if (distance > this.#rereadLeft) return
    this.#rereadLeft -= distance
    this.#file.unread(Buffer.from(seen.subarray(seen.length - distance)))
  }

  async #skipToMember(): Promise<void> {
    for (;;) {
      const bytes = await this.#file.peek(fixedHeaderBytes)
      const isEnd = bytes.length < fixedHeaderBytes
      const last = bytes.length - fixedHeaderBytes
      let at = isEnd ? -1 : bytes.indexOf(0x1f)
      while (at !== -1 && at <= last && !isMemberStart(bytes, at)) at = bytes.indexOf(0x1f, at + 1)
      const isFound = at !== -1 && at <= last
      this.#file.skip(isFound ? at : isEnd ? bytes.length : last + 1)
      if (isFound || isEnd) return
    }
  }
}

async function* readPlain(file: FileBytes): AsyncGenerator<Piece> {
  yield { kind: 'start', offset: 0, isCompressed: false }
  for (let bytes = await file.read(); bytes !== null; bytes = await file.read())
    yield { kind: 'bytes', bytes }
  yield { kind: 'end' }
}

/**
 * The pieces of a file that is one gzip member, one after the other, or not compressed. A member that is damaged
 * is reported with its offset, and reading goes on at the next bytes that look like the start of one, those within
 * the damaged member included. What was given of a member is only sure to be right when its `end` has come.
 * Memory: about 1 MiB. Time: linear; at most 64 MiB are read again in search of members.
 */
export async function* readPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  const file = new FileBytes(chunks)
  try {
    const start = await file.peek(2)
    yield* start[0] === 0x1f && start[1] === 0x8b ? new MemberReader(file).readAll() : readPlain(file)
  } finally {
    await file.close()
  }
}
