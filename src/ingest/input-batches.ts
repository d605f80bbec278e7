import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { DittographError } from '../errors.ts'
import { type ArchiveTally, batchesOfArchive } from '../http/archive.ts'
import { type BodyMemory, GrowingBytes } from '../http/body.ts'
import { documentFromLine, pageFromBytes } from '../http/document-input.ts'
import { batchesOf, type Entry, LineSplitter } from '../http/ndjson.ts'
import type { DocumentInput } from '../service/service.ts'
import { type Input, isGzip } from './input.ts'

/** A document of an input, or why there is none; and its place, as it is shown. */
export type InputEntry = Entry<DocumentInput, { readonly place: string }>

export type ReadingLimits = { readonly limitBytes: number; readonly memory: BodyMemory }

const chunkBytes = 256 * 1024

async function* chunksOf(input: Input, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  const stream =
    input.path === null ? process.stdin : createReadStream(input.path, { highWaterMark: chunkBytes })
  for await (const chunk of stream) {
    onBytes(chunk.length)
    yield chunk
  }
}

async function* unpacked(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await chunks.next()
  if (first.done) return
  if (!isGzip(first.value)) {
    yield first.value
    yield* chunks
    return
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes })
  const feed = async () => {
    gunzip.write(first.value)
    for await (const chunk of chunks)
      if (!gunzip.write(chunk))
        await new Promise((resolve) => gunzip.once('drain', resolve).once('close', resolve))
    gunzip.end()
  }
  feed().catch((error) => gunzip.destroy(error))
  try {
    yield* gunzip
  } catch (cause) {
    throw new DittographError('invalid_body', 'The gzip data is damaged or cut short', { cause })
  } finally {
    gunzip.destroy()
  }
}

async function* readPage(
  input: Input,
  { limitBytes, memory }: ReadingLimits,
  chunks: AsyncGenerator<Buffer>,
): AsyncGenerator<readonly InputEntry[]> {
  const place = input.name
  const bytes = new GrowingBytes(memory)
  try {
    for await (const chunk of chunks) {
      if (bytes.length + chunk.length > limitBytes) {
        const error = new DittographError('body_too_large', `A page may have at most ${limitBytes} bytes`)
        yield [{ place, error }]
        return
      }
      bytes.append(chunk)
    }
    const page = pageFromBytes(bytes.view(), 'text/html', null)
    yield [
      {
        place,
        input: { id: input.path === null ? null : input.name, page, fetchedAt: null, metadata: null },
      },
    ]
  } finally {
    bytes.clear()
  }
}

/** The documents of an input, in batches that hold until the next one is asked for. Throws what the readers throw. */
export async function* batchesOfInput(
  input: Input,
  limits: ReadingLimits,
  { tally, onBytes }: { tally: ArchiveTally; onBytes: (count: number) => void },
): AsyncGenerator<readonly InputEntry[]> {
  const { limitBytes, memory } = limits
  const chunks = chunksOf(input, onBytes)
  if (input.kind === 'page') yield* readPage(input, limits, chunks)
  else if (input.kind === 'archive') {
    const createStore = () => new GrowingBytes(memory)
    for await (const batch of batchesOfArchive(chunks, { limitBytes, createStore }, tally))
      yield batch.map(({ offset, url: _url, ...rest }) => ({
        place: `${input.name}, byte ${offset}`,
        ...rest,
      }))
  } else {
    const splitter = new LineSplitter(limitBytes, memory)
    for await (const batch of batchesOf(unpacked(chunks), splitter, documentFromLine(limitBytes)))
      yield batch.map(({ line, ...rest }) => ({ place: `${input.name}, line ${line}`, ...rest }))
  }
}
