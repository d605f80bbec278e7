import { createHash, randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { DittographError } from '../errors.ts'
import { collectionNamePattern } from './collection-name.ts'
import { withFileLock } from './file-lock.ts'

/** A check of a key compares it with every one of them. */
const mostKeys = 1000
export const mostRequestsPerMinute = 1_000_000

export const keyNamePattern = '^[^\\p{Cc}]{1,100}$'

const KeyRecord = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9]{1,64}$' }),
    name: Type.String({ pattern: keyNamePattern }),
    collection: Type.String({ pattern: collectionNamePattern }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    createdAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z$' }),
    requestsPerMinute: Type.Optional(Type.Integer({ minimum: 1, maximum: mostRequestsPerMinute })),
  },
  { additionalProperties: false },
)
const KeyFile = Type.Object(
  { version: Type.Literal(1), keys: Type.Array(KeyRecord, { maxItems: mostKeys }) },
  { additionalProperties: false },
)

/**
 * What is kept of a key, such as `{"id": "5f0c9a3e", "name": "crawler", "collection": "news", "sha256": "9b…",
 * "createdAt": "2026-12-01T09:00:00.000Z", "requestsPerMinute": 600}`. The key itself cannot be had from it.
 */
export type KeyRecord = Readonly<Static<typeof KeyRecord>>

/**
 * The digest by which a key is known. A key is 256 random bits, which nobody can guess however fast he tries, so it
 * needs no slow hash as a password does; and a slow one, computed for every request, would be the way to overload
 * the service.
 */
export const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest()

const refuse = (file: string, detail: string, cause?: unknown): DittographError =>
  new DittographError('invalid_configuration', `API_KEYS_FILE ${file} ${detail}`, { cause })

const parse = (file: string, text: string): readonly KeyRecord[] => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Without the cause: its message repeats a part of the file.
    throw refuse(file, 'is not JSON')
  }
  if (!Value.Check(KeyFile, value)) {
    const [fault] = Value.Errors(KeyFile, value)
    const place = fault?.instancePath ? `at ${fault.instancePath}` : 'at the top'
    throw refuse(file, `is not a file of keys: ${place} it ${fault?.message ?? 'is not valid'}`)
  }
  for (const name of ['id', 'sha256'] as const)
    if (new Set(value.keys.map((key) => key[name])).size < value.keys.length)
      throw refuse(file, `has two keys of one ${name}`)
  return value.keys
}

const readText = async (file: string): Promise<string | null> => {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw refuse(file, `cannot be read (${code})`, cause)
  }
}

/** The keys of a file. Throws `invalid_configuration` where it is missing, cannot be read, or is something else. */
export const readKeyFile = async (file: string): Promise<readonly KeyRecord[]> => {
  const text = await readText(file)
  if (text === null)
    throw refuse(
      file,
      'does not exist: make the first key with `dittograph keys add`, or unset API_KEYS_FILE',
    )
  return parse(file, text)
}

/** Puts the file in its place as a whole, readable by its owner only, and safe on the disk. */
const replaceFile = async (file: string, text: string): Promise<void> => {
  const begun = `${file}-new`
  const handle = await open(begun, 'w', 0o600)
  try {
    await handle.chmod(0o600) // what an interrupted run left keeps its mode otherwise
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(begun, file)
  const directory = await open(dirname(file))
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Changes the keys of a file; who else changes it meanwhile waits. A missing file has no keys. */
const changeKeyFile = async (
  file: string,
  change: (keys: readonly KeyRecord[]) => readonly KeyRecord[],
): Promise<void> => {
  try {
    await withFileLock(file, async () => {
      const text = await readText(file)
      const keys = change(text === null ? [] : parse(file, text))
      await replaceFile(file, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`)
    })
  } catch (cause) {
    if (cause instanceof DittographError) throw cause
    throw refuse(file, `cannot be changed: ${(cause as Error).message}`, cause)
  }
}

/** Adds a key that is made here, and resolves with it: it is kept nowhere. */
export const addKey = async (
  file: string,
  { name, collection, requestsPerMinute }: Pick<KeyRecord, 'name' | 'collection' | 'requestsPerMinute'>,
  now: number,
): Promise<{ readonly id: string; readonly key: string }> => {
  const key = `dg_${randomBytes(32).toString('base64url')}`
  const id = randomBytes(6).toString('hex')
  const record: KeyRecord = {
    id,
    name,
    collection,
    sha256: digestOf(key).toString('hex'),
    createdAt: new Date(now).toISOString(),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
  }
  await changeKeyFile(file, (keys) => {
    if (keys.length >= mostKeys) throw refuse(file, `has ${mostKeys} keys, which is the most: revoke some`)
    return [...keys, record]
  })
  return { id, key }
}

/** Takes a key out of the file. Throws `invalid_configuration` where none has this id. */
export const revokeKey = (file: string, id: string): Promise<void> =>
  changeKeyFile(file, (keys) => {
    const rest = keys.filter((key) => key.id !== id)
    if (rest.length === keys.length)
      throw refuse(file, `has no key with the id "${id}": \`dittograph keys list\` shows them`)
    return rest
  })
