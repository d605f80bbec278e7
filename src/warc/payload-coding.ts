import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Gunzip,
} from 'node:zlib'
import type { ByteStore, RecordLimits } from './byte-store.ts'
import { decodeZstd, isZstd } from './zstd.ts'

type Coding = 'gzip' | 'zlib' | 'deflate' | 'br' | 'zstd'
type Outcome = 'whole' | 'cut' | 'refused' | 'too-large'

/** Bytes and the store that they lie in. */
export type Payload = { readonly bytes: Buffer; readonly store: ByteStore }

/** A payload as it is, the codings undone, or why that cannot be done. */
export type DecodedPayload = Payload | 'too-large' | 'undecodable'

/** Whoever packs a page more often than that means no good. */
const mostCodings = 4

class TooLarge extends Error {}

type ZlibCoding = Exclude<Coding, 'zstd'>
const decoders: Readonly<Record<ZlibCoding, (mayBeCut: boolean) => Gunzip | BrotliDecompress>> = {
  gzip: (mayBeCut) => createGunzip(flushing(mayBeCut)),
  zlib: (mayBeCut) => createInflate(flushing(mayBeCut)),
  deflate: (mayBeCut) => createInflateRaw(flushing(mayBeCut)),
  br: (mayBeCut) => createBrotliDecompress(mayBeCut ? { finishFlush: constants.BROTLI_OPERATION_FLUSH } : {}),
}

const flushing = (mayBeCut: boolean) => (mayBeCut ? { finishFlush: constants.Z_SYNC_FLUSH } : {})

/** The coding that the first bytes give away. Of `zlib` they do so vaguely: the text "x^2" looks like it. */
const codingOfBytes = (bytes: Buffer): 'gzip' | 'zstd' | 'zlib' | null => {
  const [first = 0, second = 0, third = 0] = bytes
  if (first === 0x1f && second === 0x8b && third === 8) return 'gzip'
  if (isZstd(bytes)) return 'zstd'
  return (first & 0x8f) === 0x08 && (first * 256 + second) % 31 === 0 ? 'zlib' : null
}

const codingOfName = (name: string): Coding | null => {
  if (name === 'gzip' || name === 'x-gzip') return 'gzip'
  return name === 'br' || name === 'zstd' || name === 'deflate' ? name : null
}

/** Whether bytes are not what text consists of, in any encoding that has ASCII or begins with a byte order mark. */
const areBinary = (bytes: Buffer): boolean => {
  const mark = bytes.toString('latin1', 0, 2)
  if (mark === '\xff\xfe' || mark === '\xfe\xff') return false
  return bytes
    .subarray(0, 1024)
    .some((byte) => byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32))
}

const decode = async (
  coding: Coding,
  bytes: Buffer,
  { into, limitBytes, mayBeCut }: { into: ByteStore; limitBytes: number; mayBeCut: boolean },
): Promise<Outcome> => {
  const add = (part: Uint8Array) => {
    if (into.length + part.length > limitBytes) throw new TooLarge()
    into.append(part)
  }
  try {
    if (coding === 'zstd') {
      const outcome = decodeZstd(bytes, add)
      return outcome === 'cut' && !mayBeCut ? 'refused' : outcome
    }
    const decoder = decoders[coding](mayBeCut)
    decoder.end(bytes)
    const parts = decoder[Symbol.asyncIterator]()
    for (;;) {
      const part = await parts.next().catch(() => null)
      if (part === null) return 'refused'
      if (part.done) {
        // Without a checksum much is the start of something that decodes to nothing: the text "7" is empty brotli.
        const isUnchecked = coding === 'br' || coding === 'deflate'
        const isNothing = into.length === 0 || decoder.bytesWritten < bytes.length
        return isUnchecked && isNothing ? 'refused' : 'whole'
      }
      try {
        add(part.value)
      } catch (error) {
        decoder.destroy()
        throw error
      }
    }
  } catch (error) {
    if (error instanceof TooLarge) return 'too-large'
    throw error
  }
}

/**
 * Undoes the codings of a payload by what its bytes are. `names` are those of its Content-Encoding, in order: only
 * brotli and raw DEFLATE, which cannot be told from the bytes, are tried because they are named, and a name that
 * is wrong does no harm. The given store is cleared where its bytes are not the result. `mayBeCut`: a payload
 * that ends too early is taken as far as it goes. Throws what the stores throw, and has cleared them then.
 */
export const undoCodings = async (
  payload: Payload,
  names: readonly string[],
  { limitBytes, createStore, mayBeCut }: RecordLimits & { readonly mayBeCut: boolean },
): Promise<DecodedPayload> => {
  const named = names.map(codingOfName)
  let isDoubtful = false
  let { bytes, store } = payload
  /** A step that came to nothing where the bytes could have been of another coding, or of none. */
  const tried = new Set<Coding>()
  for (let depth = 0; ; ) {
    const seen = codingOfBytes(bytes)
    const name = named.at(-1) ?? null
    const isNamed = name !== null && (name === seen || (name === 'deflate' && seen === 'zlib'))
    const coding =
      seen !== null && !tried.has(seen) ? seen : name === 'br' || name === 'deflate' ? name : null
    if (coding === null && named.length > 0) {
      if (named.pop() !== null) isDoubtful = true
      continue
    }
    if (coding === null || bytes.length === 0) break
    if (depth === mostCodings) {
      store.clear()
      return 'undecodable'
    }
    const into = createStore()
    let outcome: Outcome
    try {
      outcome = await decode(coding, bytes, { into, limitBytes, mayBeCut })
    } catch (error) {
      into.clear()
      store.clear()
      throw error
    }
    if (outcome === 'refused') {
      into.clear()
      tried.add(coding)
      isDoubtful = true
      if (coding === name) named.pop()
      continue
    }
    if (outcome === 'too-large') {
      into.clear()
      store.clear()
      return 'too-large'
    }
    if (isNamed || coding === name) named.pop()
    store.clear()
    store = into
    bytes = into.view()
    tried.clear()
    isDoubtful = false
    depth++
  }
  if (isDoubtful && areBinary(bytes)) {
    store.clear()
    return 'undecodable'
  }
  return { bytes, store }
}
