import { constants as fileConstants } from 'node:fs'
import { access, open, readdir, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { DittographError } from '../errors.ts'

type InputKind = 'archive' | 'ndjson' | 'page'

/** A file to read, or the standard input. */
export type Input = {
  readonly kind: InputKind
  /** Null is the standard input. */
  readonly path: string | null
  /** As it is shown; of a page its id too: the path below the directory that was named. */
  readonly name: string
  readonly sizeBytes: number
  readonly modifiedMs: number
}

const kindsByName: readonly (readonly [pattern: RegExp, kind: InputKind])[] = [
  [/\.w?arc(?:\.gz)?$/i, 'archive'],
  [/\.(?:ndjson|jsonl)(?:\.gz)?$/i, 'ndjson'],
  [/\.(?:x?html?)$/i, 'page'],
]

const kindOfName = (name: string): InputKind | null =>
  kindsByName.find(([pattern]) => pattern.test(name))?.[1] ?? null

export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** A few KiB of a file tell what it is; a little of it may expand to a lot. */
const sniffedBytes = 2048

/** What the first bytes of a file, compressed or not, look like; null for nothing that is known. */
export const kindOfBytes = (start: Buffer): InputKind | null => {
  let bytes = start.subarray(0, sniffedBytes)
  if (isGzip(bytes)) {
    try {
      bytes = gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
    } catch {
      return null
    }
  }
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '')
  if (/^(?:WARC\/|filedesc:)/.test(text)) return 'archive'
  if (/^\s*\{/.test(text)) return 'ndjson'
  return /^\s*</.test(text) && !isGzip(start) ? 'page' : null
}

const refuse = (detail: string, cause?: unknown): DittographError =>
  new DittographError('invalid_configuration', detail, { cause })

const readStart = async (path: string): Promise<Buffer> => {
  const file = await open(path)
  try {
    const buffer = Buffer.alloc(sniffedBytes)
    const { bytesRead } = await file.read(buffer, 0, sniffedBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** The names of all files below a directory, each level in the order of its names. */
async function* walk(directory: string): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile()) yield path
  }
}

const inputOf = async (path: string, name: string, kind: InputKind): Promise<Input> => {
  await access(path, fileConstants.R_OK)
  const { size, mtimeMs } = await stat(path)
  return { kind, path, name, sizeBytes: size, modifiedMs: mtimeMs }
}

/**
 * What a path names: a file, of whatever name if its content can be recognised, or the files below a directory that
 * have names of a known kind, in order; `otherCount` is the number of the others. Throws `invalid_configuration`.
 */
export const findInputs = async (path: string): Promise<{ inputs: readonly Input[]; otherCount: number }> => {
  try {
    const status = await stat(path)
    if (!status.isDirectory()) {
      const kind = kindOfName(path) ?? kindOfBytes(await readStart(path))
      if (kind === null) throw refuse(`${path} is neither WARC, ARC, NDJSON nor HTML`)
      return { inputs: [await inputOf(path, basename(path), kind)], otherCount: 0 }
    }
    const inputs: Input[] = []
    let otherCount = 0
    for await (const file of walk(path)) {
      const kind = kindOfName(file)
      if (kind === null) otherCount += 1
      else inputs.push(await inputOf(file, relative(path, file).split(sep).join('/'), kind))
    }
    return { inputs, otherCount }
  } catch (cause) {
    if (cause instanceof DittographError) throw cause
    throw refuse(`${path} cannot be read: ${(cause as Error).message}`, cause)
  }
}
