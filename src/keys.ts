import { Command, InvalidArgumentError, Option } from 'commander'
import { collectionNameRule, isCollectionName } from './access/collection-name.ts'
import {
  addKey,
  type KeyRecord,
  keyNamePattern,
  mostRequestsPerMinute,
  readKeyFile,
  revokeKey,
} from './access/key-file.ts'
import { settings } from './config.ts'

type FileOption = { readonly apiKeysFile: string }
type AddOptions = FileOption & Pick<KeyRecord, 'name' | 'collection' | 'requestsPerMinute'>

/** An option that names a collection, by a name that is allowed. */
export const collectionOption = (description: string): Option =>
  new Option('--collection <name>', description).argParser((name) => {
    if (!isCollectionName(name)) throw new InvalidArgumentError(`It must be ${collectionNameRule}.`)
    return name
  })

const fileOption = (): Option =>
  new Option('--api-keys-file <value>', settings.API_KEYS_FILE.description)
    .env('API_KEYS_FILE')
    .argParser((file) => {
      if (file === '') throw new InvalidArgumentError('API_KEYS_FILE must name a file.')
      return file
    })
    .makeOptionMandatory()

const nameOf = (text: string): string => {
  if (!new RegExp(keyNamePattern, 'u').test(text))
    throw new InvalidArgumentError('It must be 1 to 100 characters, and none of them a control character.')
  return text
}

const requestsOf = (text: string): number => {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > mostRequestsPerMinute)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${mostRequestsPerMinute}.`)
  return count
}

const add = async ({ apiKeysFile, ...key }: AddOptions): Promise<void> => {
  const added = await addKey(apiKeysFile, key, Date.now())
  process.stderr.write(
    `The key ${added.id} opens the collection "${key.collection}". It is shown only now:\n`,
  )
  process.stdout.write(`${added.key}\n`)
}

const list = async ({ apiKeysFile }: FileOption): Promise<void> => {
  const rows = (await readKeyFile(apiKeysFile)).map((key) => [
    key.id,
    key.collection,
    key.createdAt,
    String(key.requestsPerMinute ?? '-'),
    key.name,
  ])
  rows.unshift(['ID', 'COLLECTION', 'CREATED', 'REQUESTS A MINUTE', 'NAME'])
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`)
  }
}

const revoke = async (id: string, { apiKeysFile }: FileOption): Promise<void> => {
  await revokeKey(apiKeysFile, id)
  process.stderr.write(`The key ${id} opens nothing any more\n`)
}

/** `dittograph keys add|list|revoke`. */
export const keysCommand = (): Command => {
  const keys = new Command('keys').description('Make, list and revoke API keys; a running service follows')
  keys
    .command('add')
    .description('Make a key and print it, once: only its hash is kept')
    .addOption(fileOption())
    .addOption(
      collectionOption(
        'the collection that it opens; "default" is DATABASE_URL itself',
      ).makeOptionMandatory(),
    )
    .requiredOption('--name <text>', 'whose key it is, or what for', nameOf)
    .option('--requests-per-minute <count>', 'instead of KEY_REQUESTS_PER_MINUTE', requestsOf)
    .action(add)
  keys.command('list').description('Show what is known of each key').addOption(fileOption()).action(list)
  keys
    .command('revoke')
    .description('Take a key back')
    .argument('<id>', 'as `keys list` shows it')
    .addOption(fileOption())
    .action(revoke)
  return keys
}
