/**
 * npm run bench:resign -- [FILE.ndjson[.gz] …]
 *
 * Stores pages (`{url, html}` a line, or made ones) under one tokenizer, and re-signs the database under the other one in
 * a process of its own: first while a store holds it, as a service would, then again when nothing has changed, and at
 * last as a start does that takes the re-signed database over after more documents were stored.
 *
 * Prints documents a second, CPU of a document, the greatest resident memory, seconds of comparing and of taking over,
 * and the sizes of both databases in MiB.
 *
 * BENCH_DOCUMENTS: most pages (100,000); BENCH_BYTES: of HTML in each, about (4000); BENCH_LATER: documents that are stored
 * before the start (1000); BENCH_DIRECTORY: where the databases lie.
 */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnalysisOptions } from '../src/analysis/analyze.ts'
import { Analyzer } from '../src/analysis/analyzer.ts'
import { schemeOf } from '../src/analysis/scheme.ts'
import { resignSqliteStore, takeOverResigned } from '../src/store/sqlite/resign.ts'
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { PutOperation } from '../src/store/store.ts'
import { readPages } from './pages.ts'
import { cpuMicroseconds, mebibytes } from './process-usage.ts'
import { report, rounded } from './report.ts'

const documentCount = Number(process.env.BENCH_DOCUMENTS ?? 100_000)
const bytesEach = Number(process.env.BENCH_BYTES ?? 4000)
const later = Number(process.env.BENCH_LATER ?? 1000)
const batchSize = 500
const oldRules: AnalysisOptions = { tokenizer: 'practical', siteRule: 'public-suffix' }
const newRules: AnalysisOptions = { tokenizer: 'literal', siteRule: 'public-suffix' }

type Cost = { wallSeconds: number; cpuSeconds: number; residentMebibytes: number }

const resignOnce = async (path: string, how: string): Promise<Cost> => {
  const analyzer = new Analyzer(newRules)
  const options = {
    path,
    scheme: schemeOf(newRules),
    sketch: (url: string | null, text: Uint8Array) => analyzer.sketchOfText(url, text),
  }
  const [cpu, started] = [cpuMicroseconds(), performance.now()]
  if (how === 'take-over') await takeOverResigned(options)
  else await resignSqliteStore(options)
  return {
    wallSeconds: rounded((performance.now() - started) / 1000, 2),
    cpuSeconds: rounded((cpuMicroseconds() - cpu) / 1e6, 2),
    residentMebibytes: Math.round(process.resourceUsage().maxRSS / 1024),
  }
}

const inNewProcess = (path: string, how: string): Cost => {
  const script = fileURLToPath(import.meta.url)
  return JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', script, '--how', how, path], { encoding: 'utf8' }),
  )
}

/** Stores at most so many documents; returns how many there were. */
const fill = async (store: SqliteStore, files: readonly string[], most: number, prefix: string) => {
  const analyzer = new Analyzer(oldRules)
  let batch: PutOperation[] = []
  let count = 0
  for await (const { id, url, html } of readPages(files, { count: most, bytes: bytesEach })) {
    if (count === most) break
    const sketch = analyzer.sketch({ url, content: { kind: 'html', characters: html } })
    const put = { kind: 'put' as const, ...sketch, id: prefix + id }
    batch.push({ ...put, fetchedAt: null, metadata: null, now: Date.now() })
    count++
    if (batch.length < batchSize) continue
    await store.write(batch)
    batch = []
  }
  await store.write(batch)
  return count
}

const measure = async (path: string, files: readonly string[]) => {
  const store = await openSqliteStore({ path, scheme: schemeOf(oldRules), synchronous: 'normal' })
  const documents = await fill(store, files, documentCount, '')
  const first = inNewProcess(path, 'beside-a-service')
  const again = inNewProcess(path, 'beside-a-service')
  await fill(store, files, later, 'later ')
  await store.close()
  const oldMebibytes = mebibytes(statSync(path).size)
  const takeOver = inNewProcess(path, 'take-over')
  return {
    documents,
    documentsPerSecond: Math.round(documents / first.wallSeconds),
    cpuMicrosecondsEach: Math.round((1e6 * first.cpuSeconds) / documents),
    residentMebibytes: first.residentMebibytes,
    secondsWithoutChanges: again.wallSeconds,
    secondsToTakeOver: takeOver.wallSeconds,
    oldMebibytes,
    newMebibytes: mebibytes(statSync(path).size),
  }
}

const [flag, how = '', path = ''] = process.argv.slice(2)
if (flag === '--how') {
  process.stdout.write(JSON.stringify(await resignOnce(path, how)))
} else {
  const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
  try {
    report('resign', await measure(join(directory, 'pages.db'), process.argv.slice(2)))
  } finally {
    await rm(directory, { recursive: true })
  }
}
