import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
} from 'node:zlib'
import { DittographError } from '../errors.ts'
import { bodyError } from './validation.ts'

type Decoder = Gunzip | BrotliDecompress

const options = { chunkSize: 65_536 }
const decoders: ReadonlyMap<string, () => Decoder> = new Map([
  ['gzip', () => createGunzip(options)],
  ['x-gzip', () => createGunzip(options)],
  ['deflate', () => createInflate(options)],
  ['br', () => createBrotliDecompress(options)],
])

/** Makes the decoder of the body, or is null where the body is not encoded. */
const decoderFactoryOf = (raw: IncomingMessage): (() => Decoder) | null => {
  const codings = (raw.headers['content-encoding'] ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const [coding] = codings
  if (coding === undefined) return null
  const create = codings.length === 1 ? decoders.get(coding) : undefined
  if (create === undefined)
    throw new DittographError(
      'unsupported_encoding',
      'Content-Encoding must be one of gzip, deflate and br, applied once',
    )
  return create
}

async function* decodedChunks(raw: IncomingMessage, decoder: Decoder): AsyncGenerator<Buffer> {
  let received = 0
  const count = (chunk: Buffer) => {
    received += chunk.length
  }
  const cutShort = () => {
    if (!raw.complete) decoder.destroy(new Error('The request was cut short'))
  }
  raw.on('data', count).once('close', cutShort).once('error', cutShort).pipe(decoder)
  try {
    yield* decoder
    // zlib is silent about what follows the end of its data, which is then lost.
    if (received > decoder.bytesWritten) throw new Error('Data after the end of the encoded data')
  } catch {
    throw bodyError('', 'is cut short, or is not what its Content-Encoding says')
  } finally {
    raw.unpipe(decoder).off('data', count).off('close', cutShort)
    decoder.destroy()
  }
}

async function* plainChunks(raw: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* raw.iterator({ destroyOnReturn: false })
  } catch {
    throw bodyError('', 'is cut short')
  }
}

/**
 * The decoded body as it arrives. Throws `unsupported_encoding`, and `invalid_body` where the body is cut
 * short or is not what its encoding says. Whoever stops early leaves a connection that can be used again:
 * the rest of the body is read and dropped.
 */
export async function* readChunks(raw: IncomingMessage): AsyncGenerator<Buffer> {
  const createDecoder = decoderFactoryOf(raw)
  try {
    yield* createDecoder === null ? plainChunks(raw) : decodedChunks(raw, createDecoder())
  } finally {
    raw.resume()
  }
}

/** Bytes that all requests together may hold in memory while they arrive. */
export class BodyMemory {
  #free: number

  constructor(limitBytes: number) {
    this.#free = limitBytes
  }

  /** Throws `overloaded` where other bodies hold too much. */
  take(bytes: number): void {
    if (bytes > this.#free)
      throw new DittographError('overloaded', 'Too many bodies are being read at this moment')
    this.#free -= bytes
  }

  giveBack(bytes: number): void {
    this.#free += bytes
  }
}

const leastCapacity = 4096

/**
 * Bytes joined as they come. They are copied at once, since a body sent a byte at a time would otherwise cost
 * a hundred times its size in small buffers.
 */
export class GrowingBytes {
  readonly #memory: BodyMemory
  #bytes = Buffer.alloc(0)
  #length = 0

  constructor(memory: BodyMemory) {
    this.#memory = memory
  }

  get length(): number {
    return this.#length
  }

  /** The bytes so far, valid until the next call of `append`. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Throws `overloaded`. */
  append(part: Uint8Array): void {
    const needed = this.#length + part.length
    if (needed > this.#bytes.length) {
      const capacity = Math.max(needed, this.#bytes.length * 2, leastCapacity)
      this.#memory.take(capacity - this.#bytes.length)
      const grown = Buffer.allocUnsafeSlow(capacity)
      grown.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = grown
    }
    this.#bytes.set(part, this.#length)
    this.#length = needed
  }

  /** Hands the bytes over and starts anew with none. */
  release(): Buffer {
    const bytes = this.view()
    this.#memory.giveBack(this.#bytes.length)
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    return bytes
  }
}

const tooLarge = (limitBytes: number): DittographError =>
  new DittographError('body_too_large', `The decoded body may have at most ${limitBytes} bytes`)

/**
 * Reads a whole body and hands it to `use`; its bytes count against `memory` until that has ended. Throws
 * what `readChunks` throws, `body_too_large` and `overloaded`.
 */
export const withBody = async <T>(
  raw: IncomingMessage,
  { limitBytes, memory }: { limitBytes: number; memory: BodyMemory },
  use: (bytes: Buffer) => Promise<T>,
): Promise<T> => {
  const isEncoded = decoderFactoryOf(raw) !== null
  if (!isEncoded && Number(raw.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const body = new GrowingBytes(memory)
  try {
    for await (const chunk of readChunks(raw)) {
      if (body.length + chunk.length > limitBytes) throw tooLarge(limitBytes)
      body.append(chunk)
    }
    return await use(body.view())
  } finally {
    body.release()
  }
}

/**
 * The JSON value of UTF-8 bytes, a byte order mark allowed. Throws `invalid_body`, never with a part of the
 * text. `__proto__` is an own property like any other.
 */
export const parseJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw bodyError('', 'is not UTF-8')
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  } catch {
    throw bodyError('', 'is not JSON: it is malformed or cut short')
  }
}
