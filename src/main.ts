#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { constants, setPriority } from 'node:os'
import closeWithGrace from 'close-with-grace'
import { Command, InvalidArgumentError, Option } from 'commander'
import { pino } from 'pino'
import { defaultCollection } from './access/collection-name.ts'
import { KeyRing } from './access/key-ring.ts'
import type { resign } from './compose.ts'
import { type Config, loadConfig, type Setting, settings } from './config.ts'
import { Engine } from './engine/engine.ts'
import { DittographError } from './errors.ts'
import type { EvaluateOptions } from './evaluate.ts'
import { buildApp } from './http/app.ts'
import { openapiDocument } from './http/openapi.ts'
import { collectionOption, keysCommand } from './keys.ts'
import type { Collections, DocumentInput } from './service/service.ts'

const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

const flagOf = (name: string): string => `--${name.toLowerCase().replaceAll('_', '-')}`

const optionOf = (name: string, setting: Setting): Option => {
  const choices = setting.kind === 'choice' ? ` (${setting.choices.join(' | ')})` : ''
  const option = new Option(`${flagOf(name)} <value>`, setting.description + choices).env(name)
  if (setting.default !== null) option.default(String(setting.default))
  return option
}

/** Settings by name from the flags and environment variables that commander has merged. */
const textsOf = (options: Record<string, unknown>): Record<string, string> => {
  const texts: Record<string, string> = {}
  for (const name of Object.keys(settings)) {
    const camel = name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    const text = options[camel]
    if (typeof text === 'string') texts[name] = text
  }
  return texts
}

const build = (config: Config, collections: Collections, ring: KeyRing | null, logger: pino.Logger | false) =>
  buildApp(collections, {
    keys: ring === null ? null : { ring, requestsPerMinute: config.KEY_REQUESTS_PER_MINUTE },
    bodyLimitBytes: config.BODY_LIMIT_BYTES,
    exactMinThreshold: config.EXACT_MIN_THRESHOLD,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    connectionLimit: config.CONNECTION_LIMIT,
    logger,
    version,
  })

/** For what is left to do when all connections are closed. */
const closingTimeMs = 5000

/** Nothing logs the head of a request; should an error bring one along, the key in it stays out of the log. */
const redact = ['headers', 'req.headers', 'request.headers', 'err.headers'].map(
  (path) => `${path}.authorization`,
)

const openKeyRing = async (config: Config, logger: pino.Logger): Promise<KeyRing | null> => {
  if (config.API_KEYS_FILE === null) return null
  return KeyRing.open(config.API_KEYS_FILE, {
    onChange: (count) => logger.info({ keys: count }, 'The file of API keys has changed, and is in force'),
    onFailure: (err) =>
      logger.error({ err }, 'The file of API keys cannot be used: the keys before it stay in force'),
  })
}

const serve = async (config: Config): Promise<void> => {
  const logger = pino({ level: config.LOG_LEVEL, redact })
  const ring = await openKeyRing(config, logger)
  const engine = await Engine.start(config, ring?.collections())
  const app = await build(config, engine, ring, logger)
  engine.onFailure((err) => {
    logger.fatal({ err }, 'The engine ended')
    process.exit(1)
  })
  try {
    await app.listen({ host: config.HOST, port: config.PORT })
  } catch (cause) {
    await engine.close()
    const detail = `Nobody can listen on ${config.HOST}, port ${config.PORT}: ${(cause as Error).message}`
    throw new DittographError('invalid_configuration', detail, { cause })
  }
  const delay = config.SHUTDOWN_TIMEOUT_MS + closingTimeMs
  closeWithGrace({ delay, logger }, async ({ err }) => {
    if (err) logger.fatal({ err }, 'Stopping after an unexpected error')
    // Who has not finished by then, an upload that has stalled for example, is cut off.
    const cutOff = setTimeout(() => app.server.closeAllConnections(), config.SHUTDOWN_TIMEOUT_MS)
    await app.close()
    clearTimeout(cutOff)
    ring?.close()
    await engine.close()
  })
  for (const { address, port, family } of app.addresses() as AddressInfo[]) {
    const host = family === 'IPv6' ? `[${address}]` : address
    logger.info(`Dittograph ${version} is ready: http://${host}:${port} (documentation at /docs)`)
  }
}

const printOpenapi = async (): Promise<void> => {
  // Only here: the thread that speaks HTTP needs none of what the services need.
  const { openServices } = await import('./compose.ts')
  const config = loadConfig({ DATABASE_URL: 'sqlite::memory:' })
  const { services, close } = await openServices(config)
  const only: Collections = { services: () => services, ready: () => services.operations.ready() }
  const app = await build(config, only, null, false)
  await app.ready()
  process.stdout.write(`${JSON.stringify(openapiDocument(app), null, 2)}\n`)
  await app.close()
  await close()
}

const progressPauseMs = 10_000

/** Says now and then how much of something is done. */
const progressOf = (things: string) => {
  let told = performance.now()
  return (done: number, all: number): void => {
    if (performance.now() - told < progressPauseMs) return
    told = performance.now()
    process.stdout.write(`${done} of ${all} ${things}\n`)
  }
}

type CollectionOptions = { readonly collection?: string }

const runReindex = async (
  config: Config,
  { collection = defaultCollection }: CollectionOptions,
): Promise<void> => {
  const { configOfCollection, reindex } = await import('./compose.ts')
  const sets = await reindex(configOfCollection(config, collection), progressOf('sets of equal pages'))
  process.stdout.write(`Reindexed: ${sets} sets of equal pages\n`)
}

type ResignCommandOptions = CollectionOptions & { readonly leaveOut?: boolean; readonly discardOld?: boolean }

const runResign = async (
  config: Config,
  { collection = defaultCollection, leaveOut = false, discardOld = false }: ResignCommandOptions,
): Promise<void> => {
  const { configOfCollection, resign } = await import('./compose.ts')
  // A service that runs meanwhile goes first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const started = performance.now()
  let told = started
  let doneBefore: number | null = null
  const outcome = await resign(configOfCollection(config, collection), {
    leaveOut,
    keepOld: !discardOld,
    onProgress: (done, documents) => {
      doneBefore ??= done
      const now = performance.now()
      if (now - told < progressPauseMs) return
      told = now
      const perSecond = Math.round((1000 * (done - doneBefore)) / (now - started))
      process.stdout.write(`${done} of ${documents} documents, ${perSecond}/s\n`)
    },
  })
  process.stdout.write(`${reportOfResign(outcome)}\n`)
}

const reportOfResign = (outcome: Awaited<ReturnType<typeof resign>>): string => {
  if (outcome.state === 'not-needed') return 'The database is under this scheme already: nothing to do'
  const { state, from, documents, leftOut, oldName } = outcome
  const left = leftOut === 0 ? '' : `, ${leftOut} left out`
  if (state === 'ready')
    return (
      `Ready: ${documents} documents${left}. The service goes on under "${from}". Restart it with the new settings: its ` +
      'start takes over what it has stored since, and the re-signed database with it.'
    )
  const old =
    oldName === null
      ? ''
      : ` The database as it was is kept as ${oldName}: remove it when you need it no more.`
  return `Re-signed: ${documents} documents${left}. Start the service with the new settings.${old}`
}

const runBackup = async (
  file: string,
  { collection = defaultCollection, ...options }: CollectionOptions & Record<string, string>,
): Promise<void> => {
  const { backup, configOfCollection } = await import('./compose.ts')
  await backup(configOfCollection(loadConfig(textsOf(options)), collection), file, progressOf('pages'))
  process.stdout.write('The backup is complete\n')
}

const program = new Command('dittograph')
  .description('Near-duplicate detection for web pages as a service')
  .version(version)

const addCommand = <Options extends object>(
  name: string,
  description: string,
  run: (config: Config, options: Options) => Promise<void>,
): Command => {
  const command = program.command(name).description(description)
  for (const [setting, kind] of Object.entries<Setting>(settings)) command.addOption(optionOf(setting, kind))
  return command.action((options) => run(loadConfig(textsOf(options)), options))
}

addCommand('serve', 'Start the service', serve)
addCommand(
  'reindex',
  'Make all postings of a database again, and the exact index with EXACT_INDEX=true; the service must be stopped',
  runReindex,
).addOption(collectionOption('reindex this collection instead of DATABASE_URL itself'))

addCommand(
  'resign',
  'Make the signatures of a database again from its kept texts, under the settings that are given; the service may run',
  runResign,
)
  .addOption(collectionOption('re-sign this collection instead of DATABASE_URL itself'))
  .option('--leave-out', 'leave out documents of which no text is kept, instead of refusing')
  .option('--discard-old', 'do not keep the database as it was')

program
  .command('backup')
  .description('Copy the database into a new file, as it is at this moment, whether or not the service runs')
  .argument('<file>', 'must not exist; judgements go to FILE-jobs, jobs and their results are not copied')
  .addOption(optionOf('DATABASE_URL', settings.DATABASE_URL))
  .addOption(collectionOption('copy this collection instead of DATABASE_URL itself'))
  .action(runBackup)

/** Settings that matter to whoever fills a database. */
const ingestSettings = [
  'DATABASE_URL',
  'BODY_LIMIT_BYTES',
  'TOKENIZER',
  'SITE_RULE',
  'KEEP_TEXT',
  'HASH_SEED',
  'EXACT_INDEX',
  'EXACT_MIN_THRESHOLD',
  'SYNCHRONOUS',
  'INDEX_MEMORY_MB',
] as const

const ingestExitCodes = `
Exit codes: 0 all was stored; 2 documents failed or the input is damaged, as the table says;
1 the run could not begin or broke off, and with --resume FILE can be taken up again.`

/** The key for the service that `--url` names; not from the command line, which every user of the machine can read. */
const apiKeyOf = async (file: string | undefined): Promise<string | null> => {
  if (file === undefined) return process.env.DITTOGRAPH_API_KEY ?? null
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (cause) {
    throw new DittographError('invalid_configuration', `${file} cannot be read`, { cause })
  }
}

const runIngest = async (path: string, options: Record<string, string | undefined>): Promise<void> => {
  // Only here: the service needs none of it.
  const { ingest } = await import('./ingest/ingest.ts')
  const { storeRemotely } = await import('./ingest/remote-documents.ts')
  const { url, resume = null, collection = defaultCollection, apiKeyFile } = options
  const config = loadConfig(textsOf(options))
  if (path === '-' && resume !== null)
    throw new DittographError(
      'invalid_configuration',
      '--resume needs a file or a directory, not the standard input',
    )
  if (url !== undefined && !/^https?:\/\/./.test(url))
    throw new DittographError(
      'invalid_configuration',
      '--url must be that of a service, such as http://127.0.0.1:8080',
    )
  if (url !== undefined && options.collection !== undefined)
    throw new DittographError(
      'invalid_configuration',
      '--collection is for the database itself: with --url the key says which collection it is',
    )
  const common = { path, limitBytes: config.BODY_LIMIT_BYTES, resumeFile: resume }
  const engine = url === undefined ? await startToFill(config, collection) : null
  const store =
    engine === null
      ? storeRemotely(url ?? '', await apiKeyOf(apiKeyFile))
      : (inputs: readonly DocumentInput[]) => engine.services(collection).documents.store(inputs, null)
  try {
    if (!(await ingest({ ...common, store }))) process.exitCode = 2
  } finally {
    await engine?.close()
  }
}

const startToFill = async (config: Config, collection: string): Promise<Engine> => {
  try {
    return await Engine.start(config, [collection])
  } catch (cause) {
    if (!(cause instanceof DittographError) || cause.code !== 'database_unusable') throw cause
    const detail = `${cause.message}. To fill the database of a running service, name it: --url http://127.0.0.1:8080`
    throw new DittographError(cause.code, detail, { cause })
  }
}

const ingestCommand = program
  .command('ingest')
  .description('Store the pages of WARC, ARC, NDJSON or HTML files in the database, or by a running service')
  .argument('<path>', 'a file, a directory, or - for the standard input')
  .option('--url <url>', 'send them to the service that runs there')
  .option(
    '--api-key-file <file>',
    'holds the API key for that service, which else is taken from the environment (DITTOGRAPH_API_KEY)',
  )
  .addOption(collectionOption('fill this collection instead of DATABASE_URL itself'))
  .option('--resume <file>', 'keep in this file how far the run is, and go on from there')
  .addHelpText('after', ingestExitCodes)
for (const name of ingestSettings) ingestCommand.addOption(optionOf(name, settings[name]))
ingestCommand.action(runIngest)

const evaluateFromOptions = async (options: Record<string, unknown>): Promise<void> => {
  const { url, job, out, title, apiKeyFile, pages, pairs } = options
  if (typeof url === 'string' && typeof job === 'string' && typeof out === 'string') {
    const { evaluateRemoteJob } = await import('./evaluate-job.ts')
    const apiKey = await apiKeyOf(apiKeyFile as string | undefined)
    process.stdout.write(`${await evaluateRemoteJob({ url, job, out, title: String(title), apiKey })}\n`)
    return
  }
  if (pages === undefined || pairs === undefined)
    throw new DittographError(
      'invalid_configuration',
      'There are two ways: --pages with --pairs, or --url with --job and --out',
    )
  const { evaluate } = await import('./evaluate.ts')
  // Each option is required or has a default, and commander has checked the choices.
  process.stdout.write(`${await evaluate(options as EvaluateOptions)}\n`)
}

const hashFamiliesOf = (text: string): number => {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 999.')
  return Number(text)
}

program
  .command('evaluate')
  .description(
    'Measure every algorithm on labelled pairs of your own pages, or report on a join of a service and what was judged of it',
  )
  .option('--url <url>', 'a service that runs; with --job and --out')
  .option('--job <id>', 'a join of that service')
  .option('--api-key-file <file>', 'file with the key for the service, instead of DITTOGRAPH_API_KEY')
  .option(
    '--pages <files...>',
    'NDJSON of documents ({id, url, html} a line, as POST /documents takes them), also .gz',
  )
  .option(
    '--pairs <files...>',
    'tab-separated pairs with a header: a, b, label, and where known reason, stratum; also .gz',
  )
  .addOption(
    new Option('--tokenizer <value>', 'as the setting TOKENIZER')
      .choices(['practical', 'literal'])
      .default('practical'),
  )
  .addOption(
    new Option('--site-rule <value>', 'as the setting SITE_RULE, or each host a site of its own')
      .choices(['public-suffix', 'dots', 'host'])
      .default('public-suffix'),
  )
  .option('--hash-families <count>', 'compare again under so many other hash families', hashFamiliesOf, 10)
  .option('--title <text>', 'heading of the report', 'Evaluation of near-duplicate pairs')
  .option('--out <directory>', 'write report.md, its plots and numbers.json there')
  .action(evaluateFromOptions)

program.addCommand(keysCommand())

program.command('openapi').description('Print the OpenAPI document').action(printOpenapi)

try {
  await program.parseAsync()
} catch (reason) {
  const message = reason instanceof DittographError ? `${reason.title}: ${reason.message}` : reason
  // biome-ignore lint/suspicious/noConsole: the command line is where an operator reads why it did not start
  console.error(message)
  process.exitCode = 1
}
