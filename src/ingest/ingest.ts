import { DittographError } from '../errors.ts'
import { ArchiveTally } from '../http/archive.ts'
import { BodyMemory } from '../http/body.ts'
import type { DocumentInput, StoredDocument } from '../service/service.ts'
import { Display, reportOf } from './display.ts'
import { findInputs, type Input, kindOfBytes } from './input.ts'
import { batchesOfInput, type InputEntry } from './input-batches.ts'
import { type InputState, Progress } from './progress.ts'

export type IngestOptions = {
  /** A file, a directory, or `-` for the standard input. */
  readonly path: string
  readonly limitBytes: number
  /** File in which is kept how far the run has come; null: nowhere. */
  readonly resumeFile: string | null
  readonly store: (inputs: readonly DocumentInput[]) => Promise<readonly (StoredDocument | DittographError)[]>
}

/** Records in memory at once, of a batch and of one on its way: a few times the largest. */
const recordsInMemory = 16
/** Files of one page each that are stored together, since each commit waits for the disk. */
const pagesAtOnce = 4
/** Failures that are shown one by one; the number of all is in the table. */
const mostFailuresShown = 20

const isFaultOfDocument = ({ kind }: DittographError): boolean =>
  kind === 'invalid' || kind === 'too-large' || kind === 'unsupported-media-type'

const isInput = (entry: InputEntry): entry is Extract<InputEntry, { input: DocumentInput }> =>
  'input' in entry

const standardInput = async (): Promise<Input> => {
  const start: Buffer = await new Promise((resolve) => {
    process.stdin.once('readable', () => resolve(process.stdin.read() ?? Buffer.alloc(0)))
  })
  process.stdin.unshift(start)
  const kind = kindOfBytes(start)
  if (kind === null)
    throw new DittographError(
      'invalid_configuration',
      'The standard input is neither WARC, ARC, NDJSON nor HTML',
    )
  return { kind, path: null, name: 'standard input', sizeBytes: 0, modifiedMs: 0 }
}

/** Inputs in order: pages a few at a time, all others one by one. */
const groupsOf = (inputs: readonly Input[]): Input[][] => {
  const groups: Input[][] = []
  for (const input of inputs) {
    const group = groups.at(-1)
    const goesWithIt = group?.every(({ kind }) => kind === 'page') && group.length < pagesAtOnce
    if (input.kind === 'page' && goesWithIt) group?.push(input)
    else groups.push([input])
  }
  return groups
}

/**
 * Stores all documents of a file, a directory or the standard input, and writes to the standard output what became
 * of them, to the standard error how far it is. Resolves with whether all went well: nothing failed, and nothing was
 * damaged. Throws `invalid_configuration`, and whatever `store` throws.
 */
export const ingest = async ({ path, limitBytes, resumeFile, store }: IngestOptions): Promise<boolean> => {
  const { inputs, otherCount } =
    path === '-' ? { inputs: [await standardInput()], otherCount: 0 } : await findInputs(path)
  const progress = await Progress.open(resumeFile)
  const totalBytes = path === '-' ? null : inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const display = new Display(process.stderr, totalBytes, Date.now())
  const limits = { limitBytes, memory: new BodyMemory(recordsInMemory * limitBytes) }
  const states: (readonly [name: string, state: InputState])[] = []
  const sums = { doneBytes: 0, documents: 0, failed: 0 }

  const note = (state: InputState, place: string, result: unknown) => {
    state.done += 1
    sums.documents += 1
    if (!(result instanceof Error)) {
      state.counts[(result as StoredDocument).status] += 1
      return
    }
    if (!(result instanceof DittographError)) throw result
    state.counts.failed += 1
    sums.failed += 1
    if (sums.failed <= mostFailuresShown) display.note(`${place}: ${result.message}`)
  }

  const storeBatch = async (state: InputState, batch: readonly InputEntry[]): Promise<void> => {
    const results = await store(batch.filter(isInput).map(({ input }) => input))
    // Not the fault of a document: it could be stored when that is mended, and the run taken up again.
    const broken = results.find((result) => result instanceof DittographError && !isFaultOfDocument(result))
    if (broken !== undefined) throw broken
    let stored = 0
    for (const entry of batch) note(state, entry.place, isInput(entry) ? results[stored++] : entry.error)
  }

  const ingestInput = async (input: Input): Promise<void> => {
    const state = progress.of(input)
    states.push([input.name, state])
    if (state.rest !== null) {
      sums.doneBytes += input.sizeBytes
      return
    }
    const tally = new ArchiveTally()
    const onBytes = (count: number) => {
      sums.doneBytes += count
      display.update(input.name, sums, Date.now())
    }
    let seen = 0
    try {
      for await (const batch of batchesOfInput(input, limits, { tally, onBytes })) {
        const fresh = batch.slice(Math.max(0, state.done - seen))
        seen += batch.length
        if (fresh.length === 0) continue
        await storeBatch(state, fresh)
        await progress.save(Date.now())
      }
    } catch (error) {
      // An input that holds nothing at all; the others may be better.
      if (!(error instanceof DittographError) || error.code !== 'invalid_body') throw error
      note(state, input.name, error)
    }
    state.rest = tally.summary()
    if (input.kind !== 'page') display.finishInput(input.name, state)
  }

  try {
    for (const group of groupsOf(inputs)) await Promise.all(group.map(ingestInput))
  } finally {
    await progress.save(Infinity)
  }
  process.stdout.write(reportOf(states, otherCount))
  return states.every(([, { counts, rest }]) => counts.failed === 0 && rest?.damaged.length === 0)
}
