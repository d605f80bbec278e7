import { type Headers, parseHeaders } from './record-head.ts'

export type HttpResponse = {
  readonly status: number
  readonly headers: Headers
  /** A view of the bytes that were given. */
  readonly body: Buffer
}

const newline = 0x0a
const carriageReturn = 0x0d

/** Behind the blank line that ends the head; the end of the bytes where none does. */
const headEnd = (bytes: Buffer): number => {
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) {
    if (bytes[at + 1] === newline) return at + 2
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === newline) return at + 3
  }
  return bytes.length
}

/** An HTTP response as it came over the wire; null where the bytes are none. A blank line that is missing is forgiven. */
export const parseHttpResponse = (bytes: Buffer): HttpResponse | null => {
  const status = /^HTTP\/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)/.exec(bytes.toString('latin1', 0, 32))?.[1]
  if (status === undefined) return null
  const end = headEnd(bytes)
  const [, ...lines] = bytes.toString('latin1', 0, end).split(/\r?\n/)
  return { status: Number(status), headers: parseHeaders(lines), body: bytes.subarray(end) }
}

/** One chunk: where its data begins and ends, and where the next one begins. */
type Chunk = { readonly start: number; readonly end: number; readonly next: number }

const mostChunkLineBytes = 4096

/** The chunk that begins there (RFC 9112, section 7.1); `cut` where the bytes end first, null where none begins. */
const readChunk = (bytes: Buffer, at: number): Chunk | 'cut' | null => {
  const lineEnd = bytes.subarray(at, at + mostChunkLineBytes).indexOf(newline)
  const line = bytes.toString('latin1', at, lineEnd === -1 ? at + mostChunkLineBytes : at + lineEnd)
  const digits = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?\r?$/i.exec(line)?.[1]
  if (lineEnd === -1)
    return bytes.length - at < mostChunkLineBytes && (line === '' || digits !== undefined) ? 'cut' : null
  if (digits === undefined) return null
  const start = at + lineEnd + 1
  const end = start + Number.parseInt(digits, 16)
  if (end > bytes.length) return 'cut'
  let next = end
  if (bytes[next] === carriageReturn) next++
  if (bytes[next] === newline) return { start, end, next: next + 1 }
  return next === bytes.length || start === end ? { start, end, next } : null
}

/**
 * How the chunked transfer coding lies on a body: `whole` with a last chunk, `unended` where the bytes end between
 * two chunks, `cut` where they end within one, `broken` where something else stands in the place of a later chunk,
 * and `none` where nothing is chunked.
 */
export const chunkingOf = (body: Buffer): 'whole' | 'unended' | 'cut' | 'broken' | 'none' => {
  for (let at = 0; ; ) {
    if (at === body.length && at > 0) return 'unended'
    const chunk = readChunk(body, at)
    if (chunk === 'cut') return 'cut'
    if (chunk === null) return at === 0 ? 'none' : 'broken'
    if (chunk.start === chunk.end) return 'whole'
    at = chunk.next
  }
}

/** The data of the chunks up to the last or to where the bytes end, moved together at the start of the same bytes. */
export const joinChunks = (body: Buffer): Buffer => {
  let length = 0
  for (let at = 0; ; ) {
    const chunk = readChunk(body, at)
    if (chunk === 'cut') {
      const start = body.indexOf(newline, at) + 1
      if (start === 0) return body.subarray(0, length)
      return body.subarray(0, length + body.copy(body, length, start))
    }
    if (chunk === null || chunk.start === chunk.end) return body.subarray(0, length)
    length += body.copy(body, length, chunk.start, chunk.end)
    at = chunk.next
  }
}
