import { setImmediate, setTimeout } from 'node:timers/promises'
import { DittographError } from '../errors.ts'
import type { StoredDocument } from '../service/service.ts'
import { type BodyMemory, GrowingBytes } from './body.ts'
import type { Problem } from './schema/problem.ts'
import { bodyError } from './validation.ts'

/** One line of a body: its number from 1, and its bytes, or null where it is longer than the limit. */
export type Line = { readonly number: number; readonly bytes: Buffer | null }

const newline = 0x0a
const carriageReturn = 0x0d
const byteOrderMark = Buffer.from('\ufeff')

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09)

/**
 * Cuts bytes into lines, whichever way they arrive. A carriage return before the newline and a byte order mark
 * at the start do not belong to a line; blank lines are counted and left out. Of a line longer than the limit
 * nothing is kept.
 */
export class LineSplitter {
  readonly #limitBytes: number
  readonly #memory: BodyMemory
  readonly #start: GrowingBytes
  /** Hold lines that were handed out. */
  readonly #lent: Buffer[] = []
  #length = 0
  #number = 1

  constructor(limitBytes: number, memory: BodyMemory) {
    this.#limitBytes = limitBytes
    this.#memory = memory
    this.#start = new GrowingBytes(memory)
  }

  /** Number of the line whose end has not been seen yet. */
  get number(): number {
    return this.#number
  }

  /**
   * The lines that end in this chunk; all of them have to be taken. Their bytes may be those of the chunk, and
   * hold until `recycle`.
   * Throws `overloaded`, after the last line, where the start of the next one finds no memory.
   */
  *push(chunk: Buffer): Generator<Line> {
    let from = 0
    for (let to = chunk.indexOf(newline); to !== -1; to = chunk.indexOf(newline, from)) {
      yield* this.#endLine(chunk.subarray(from, to))
      from = to + 1
    }
    this.#keep(chunk.subarray(from))
  }

  /** The last line where no newline ended it. */
  *end(): Generator<Line> {
    if (this.#length > 0) yield* this.#endLine(Buffer.alloc(0))
  }

  /** Nobody looks any more at the lines so far: their memory can be used again. */
  recycle(): void {
    for (const buffer of this.#lent.splice(0)) this.#memory.giveBack(buffer)
  }

  /** Gives all memory back, that of an unfinished line too. */
  close(): void {
    this.recycle()
    this.#start.clear()
  }

  #keep(part: Buffer): void {
    this.#length += part.length
    if (this.#length > this.#limitBytes) this.#start.clear()
    else if (part.length > 0) this.#start.append(part)
  }

  *#endLine(rest: Buffer): Generator<Line> {
    const number = this.#number
    let bytes: Buffer | null = rest
    if (this.#length > 0) {
      this.#keep(rest)
      bytes = this.#start.view()
      const buffer = this.#start.release()
      if (buffer !== null) this.#lent.push(buffer)
    } else this.#length = rest.length
    if (this.#length > this.#limitBytes) bytes = null
    this.#length = 0
    this.#number += 1
    if (bytes !== null) {
      if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1)
      if (number === 1 && bytes.subarray(0, 3).equals(byteOrderMark)) bytes = bytes.subarray(3)
      if (isBlank(bytes)) return
    }
    yield { number, bytes }
  }
}

export const mostEntriesInBatch = 64
export const mostBytesInBatch = 1024 * 1024
/** A body that pauses for so long has what it sent so far answered. */
export const pauseMs = 10

/** What one line, or record, asks for, or why it cannot be done; and where in the body it stands. */
export type Entry<T, Place extends object = { readonly line: number }> = Place &
  ({ readonly input: T } | { readonly error: unknown })

/**
 * The lines of a body as inputs, in batches: up to 64 lines or 1 MiB, or what there is when the body pauses.
 * `read` makes an input of the bytes of a line; what it throws becomes the error of that line. Damage to the
 * body is the error of the line it was met in, and the last entry. A body without any line throws, and so does
 * damage before the first line.
 */
export async function* batchesOf<T>(
  chunks: AsyncGenerator<Buffer>,
  splitter: LineSplitter,
  read: (line: Line) => T,
): AsyncGenerator<readonly Entry<T>[]> {
  let batch: Entry<T>[] = []
  let batchBytes = 0
  let isEmpty = true
  const add = (line: Line) => {
    isEmpty = false
    batchBytes += line.bytes?.length ?? 0
    try {
      batch.push({ line: line.number, input: read(line) })
    } catch (error) {
      batch.push({ line: line.number, error })
    }
  }
  const isFull = () => batch.length >= mostEntriesInBatch || batchBytes >= mostBytesInBatch
  const takeBatch = () => {
    const taken = batch
    batch = []
    batchBytes = 0
    return taken
  }
  try {
    let next = chunks.next()
    for (;;) {
      // While a batch is being stored nobody waits for `next`: a rejection is met later, not unhandled.
      next.catch(() => {})
      const result = batch.length === 0 ? await next : await Promise.race([next, setTimeout(pauseMs, null)])
      if (result === null) {
        yield takeBatch()
        splitter.recycle()
        continue
      }
      for (const line of result.done ? splitter.end() : splitter.push(result.value)) {
        add(line)
        if (!isFull()) continue
        yield takeBatch()
        splitter.recycle()
      }
      if (result.done) break
      next = chunks.next()
    }
  } catch (error) {
    if (isEmpty) throw error
    batch.push({ line: splitter.number, error })
  } finally {
    splitter.close()
    await chunks.return(undefined)
  }
  if (isEmpty) throw bodyError('', 'has no line')
  if (batch.length > 0) yield batch
}

/**
 * Stores batch after batch and answers a line of JSON for each entry, in order: the stored document or a
 * problem, with its place; last a summary, to which `more` may add. The event loop gets a turn after each batch.
 */
export async function* answerBatches<T, Place extends object>(
  batches: AsyncIterable<readonly Entry<T, Place>[]>,
  store: (inputs: readonly T[]) => Promise<readonly (StoredDocument | DittographError)[]>,
  problemOf: (error: unknown) => Problem,
  more: () => object = () => ({}),
): AsyncGenerator<string> {
  const answersTo = async (inputs: readonly T[]): Promise<readonly (StoredDocument | Problem)[]> => {
    if (inputs.length === 0) return []
    try {
      const results = await store(inputs)
      return results.map((result) => (result instanceof DittographError ? problemOf(result) : result))
    } catch (error) {
      const problem = problemOf(error)
      return inputs.map(() => problem)
    }
  }
  const summary = { stored: 0, unchanged: 0, failed: 0 }
  for await (const batch of batches) {
    const answers = await answersTo(batch.flatMap((entry) => ('input' in entry ? [entry.input] : [])))
    let answered = 0
    let text = ''
    for (const entry of batch) {
      const answer = 'input' in entry ? answers[answered++] : problemOf(entry.error)
      if (answer === undefined) throw new Error('The service gave fewer results than it got documents')
      if (typeof answer.status === 'number') summary.failed += 1
      else if (answer.status === 'unchanged') summary.unchanged += 1
      else summary.stored += 1
      const { input: _input, error: _error, ...place } = { input: null, error: null, ...entry }
      text += `${JSON.stringify({ ...place, ...answer })}\n`
    }
    yield text
    await setImmediate()
  }
  yield `${JSON.stringify({ summary: { ...summary, ...more() } })}\n`
}
