import { createReadStream } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, gunzipSync } from 'node:zlib'
import { analyzeText } from './analysis/analyze.ts'
import { schemeOf } from './analysis/scheme.ts'
import { openServices } from './compose.ts'
import { loadConfig } from './config.ts'
import { DittographError } from './errors.ts'
import type { EvaluatedPage, EvaluationSiteRule } from './evaluation/collection.ts'
import { evaluateLabelled } from './evaluation/labelled-evaluation.ts'
import { readLabelledPairs } from './evaluation/labelled-pairs.ts'
import { labelledReport } from './evaluation/labelled-report.ts'
import { Vocabulary } from './evaluation/vocabulary.ts'
import { BodyMemory } from './http/body.ts'
import { documentFromLine } from './http/document-input.ts'
import { batchesOf, LineSplitter } from './http/ndjson.ts'
import type { DocumentView, Services } from './service/service.ts'

export type EvaluateOptions = {
  readonly pages: readonly string[]
  readonly pairs: readonly string[]
  readonly tokenizer: 'practical' | 'literal'
  readonly siteRule: EvaluationSiteRule
  readonly hashFamilies: number
  readonly title: string
  /** Directory of the report; without one there is only the summary. */
  readonly out?: string
}

const mostLineBytes = 64 * 2 ** 20

/**
 * Stores the pages of NDJSON files in a database in memory, by the way that posted documents go, compares what
 * every algorithm returns with the labelled pairs, writes the report and returns its summary.
 * Throws `invalid_pages` and `invalid_labels`.
 */
export const evaluate = async (options: EvaluateOptions): Promise<string> => {
  const { tokenizer } = options
  const labelled = readLabelledPairs(await Promise.all(options.pairs.map(readTextFile)))
  const config = loadConfig({ DATABASE_URL: 'sqlite::memory:', TOKENIZER: tokenizer })
  const { services, close } = await openServices(config)
  const vocabulary = new Vocabulary()
  const pages: EvaluatedPage[] = []
  try {
    for (const file of options.pages) await storePages(services, file)
    for await (const view of storedDocuments(services)) {
      const text = await services.documents.text(view.id)
      const { terms } = analyzeText(text, { tokenizer, siteRule: config.SITE_RULE })
      const { id, url, contentHash } = view
      pages.push({ id, url, contentHash, signature: signatureOf(view), terms: vocabulary.encode(terms) })
    }
  } finally {
    await close()
  }
  const evaluation = evaluateLabelled(pages, labelled, vocabulary, options)
  const report = labelledReport(evaluation, {
    title: options.title,
    scheme: schemeOf({ tokenizer, siteRule: config.SITE_RULE }),
    command: commandOf(options),
  })
  if (options.out !== undefined) {
    await mkdir(options.out, { recursive: true })
    for (const [name, content] of report.files) await writeFile(join(options.out, name), content)
  }
  return report.summary
}

/** The command that makes the same report again; of files only the names are told. */
const commandOf = ({ pages, pairs, tokenizer, siteRule, hashFamilies, title }: EvaluateOptions): string =>
  [
    'npm run evaluate --',
    ...pages.map((file) => `--pages ${quoted(basename(file))}`),
    ...pairs.map((file) => `--pairs ${quoted(basename(file))}`),
    `--tokenizer ${tokenizer} --site-rule ${siteRule} --hash-families ${hashFamilies}`,
    `--title ${quoted(title)} --out DIRECTORY`,
  ].join(' ')

/** An argument as a POSIX shell reads it. */
const quoted = (argument: string): string =>
  /^[\w./=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`

const unreadable = (
  code: 'invalid_pages' | 'invalid_labels',
  file: string,
  cause: unknown,
): DittographError =>
  new DittographError(code, `${basename(file)} cannot be read: ${(cause as Error).message}`, { cause })

const readTextFile = async (file: string): Promise<{ name: string; text: string }> => {
  try {
    const bytes = await readFile(file)
    return { name: basename(file), text: (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8') }
  } catch (cause) {
    throw unreadable('invalid_labels', file, cause)
  }
}

async function* readBytes(file: string): AsyncGenerator<Buffer> {
  const bytes = createReadStream(file)
  if (!file.endsWith('.gz')) return yield* bytes
  const unzipped = createGunzip()
  // What breaks either stream breaks the reading of the second.
  pipeline(bytes, unzipped).catch(() => {})
  yield* unzipped
}

/** Stores one NDJSON file; every line must be a document that the service takes. */
const storePages = async (services: Services, file: string): Promise<void> => {
  const splitter = new LineSplitter(mostLineBytes, new BodyMemory(4 * mostLineBytes))
  const refuse = (line: number, reason: unknown): DittographError =>
    new DittographError('invalid_pages', `${basename(file)}, line ${line}: ${(reason as Error).message}`)
  try {
    for await (const batch of batchesOf(readBytes(file), splitter, documentFromLine(mostLineBytes))) {
      const inputs = batch.map((entry) => {
        if ('error' in entry) throw refuse(entry.line, entry.error)
        return entry.input
      })
      const results = await services.documents.store(inputs, null)
      results.forEach((result, i) => {
        if (result instanceof DittographError) throw refuse(batch[i]?.line ?? 0, result)
      })
    }
  } catch (cause) {
    if (cause instanceof DittographError && cause.code === 'invalid_pages') throw cause
    throw unreadable('invalid_pages', file, cause)
  }
}

const documentsInPage = 500

async function* storedDocuments(services: Services): AsyncGenerator<DocumentView> {
  let cursor: string | null = null
  do {
    const page: { documents: DocumentView[]; nextCursor: string | null } = await services.documents.list({
      limit: documentsInPage,
      cursor,
    })
    yield* page.documents
    cursor = page.nextCursor
  } while (cursor !== null)
}

const signatureOf = ({ supershingles, simhash }: DocumentView): EvaluatedPage['signature'] =>
  supershingles === null || simhash === null
    ? null
    : { supershingles: Buffer.from(supershingles.join(''), 'hex'), simhash: Buffer.from(simhash, 'hex') }
