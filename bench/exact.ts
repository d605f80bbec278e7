/**
 * npm run bench:exact -- [FILES]
 *
 * Exact searches of a stored page (jaccard of shingles and of tokens) with EXACT_INDEX and by scan, in process. Two
 * databases are filled with the same pages in turns, one of them with the index; then both are asked for the near-duplicates
 * of the same pages, before and after `dittograph reindex` counted the frequencies that order the features.
 *
 * Prints CPU and bytes of the file a document with and without the index, and for each way to search and each threshold
 * milliseconds and those of CPU (p50, p99, longest), near-duplicates found and sets looked at on average, and the share of answers
 * that is complete; and the memory of the process at the end.
 *
 * FILES: NDJSON of pages, `.gz` or not, which are stored again with a part of their words changed until there are enough
 * documents; without them pages are made. BENCH_DOCUMENTS (100000); BENCH_BYTES: of a made page (3000); BENCH_QUERIES: for each
 * threshold (300), a tenth of it by tokens, a fiftieth of it by scan; BENCH_ROUNDS: turns of filling (5); BENCH_DIRECTORY: where the databases lie.
 */
import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openServices, type RunningServices, reindex } from '../src/compose.ts'
import { type Config, loadConfig } from '../src/config.ts'
import type { DocumentInput } from '../src/service/service.ts'
import type { Features } from '../src/signature/features.ts'
import { seededRandom } from '../test/fixture/pages.ts'
import { options, storeAll } from '../test/fixture/services.ts'
import { readPages } from './pages.ts'
import { cpuMicroseconds, mebibytes } from './process-usage.ts'
import { median, report, rounded, spread } from './report.ts'

type Kind = 'plain' | 'indexed'

const files = process.argv.slice(2)
const count = Number(process.env.BENCH_DOCUMENTS ?? 100_000)
const bytes = Number(process.env.BENCH_BYTES ?? 3000)
const queryCount = Number(process.env.BENCH_QUERIES ?? 300)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const thresholds = [0.6, 0.8, 0.9]
const changedShare = 0.5
const idleMs = 300

/** The page with half of its words of letters changed, those of a copy always in one way. */
const changed = (html: string, copy: number): string => {
  const random = seededRandom(copy)
  const isChanged = Array.from({ length: 997 }, () => random() < changedShare)
  let at = 0
  return html.replace(/(?<=[\s>])[a-zA-Z]+(?=[\s<])/g, (word) => {
    at = (at + 7 + word.length) % isChanged.length
    return isChanged[at] ? `${word}${copy}` : word
  })
}

async function* documents(): AsyncGenerator<DocumentInput> {
  const input = (id: string, url: string, html: string): DocumentInput => ({
    id,
    page: { url, content: { kind: 'html', characters: html } },
    fetchedAt: null,
    metadata: null,
  })
  let left = count
  for (let copy = 0; left > 0; copy++)
    for await (const { id, url, html } of readPages(files, { count, bytes })) {
      if (left-- === 0) return
      yield input(`${copy}-${id}`, url, copy === 0 ? html : changed(html, copy))
    }
}

/** CPU of some work and of what it leaves to be done in the background, in microseconds. */
const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
  const started = cpuMicroseconds()
  await work()
  let before = Number.NaN
  for (let now = cpuMicroseconds(); !(now - before < 2000); now = cpuMicroseconds()) {
    before = now
    await wait(idleMs)
  }
  return cpuMicroseconds() - started
}

const search = async ({ services }: RunningServices, ids: readonly string[], features: Features) => {
  const results: Record<string, unknown> = {}
  for (const threshold of thresholds) {
    const milliseconds: number[] = []
    const cpuMilliseconds: number[] = []
    let [found, examined, complete] = [0, 0, 0]
    const query = options({ algorithm: 'jaccard', exact: { threshold, features } })
    for (const id of ids) {
      const [started, cpuStarted] = [performance.now(), cpuMicroseconds()]
      const answer = await services.nearDuplicates.ofDocument(id, query)
      milliseconds.push(performance.now() - started)
      cpuMilliseconds.push((cpuMicroseconds() - cpuStarted) / 1000)
      found += answer.duplicates.length
      examined += answer.examined
      complete += answer.complete ? 1 : 0
    }
    const mean = (sum: number): number => rounded(sum / ids.length, 2)
    results[threshold] = {
      ms: spread(milliseconds),
      cpuMs: spread(cpuMilliseconds),
      found: mean(found),
      examined: mean(examined),
      complete: mean(complete),
    }
  }
  return results
}

/** So many ids, evenly spread over all. */
const evenly = (ids: readonly string[], wanted: number): string[] =>
  ids.filter((_, i) => Math.floor((i * wanted) / ids.length) !== Math.floor(((i - 1) * wanted) / ids.length))

const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
const pathOf = (kind: Kind): string => join(directory, `${kind}.db`)
const configOf = (kind: Kind): Config =>
  loadConfig({
    DATABASE_URL: `sqlite:${pathOf(kind)}`,
    EXACT_INDEX: String(kind === 'indexed'),
    SYNCHRONOUS: 'normal',
    QUERY_WORK_LIMIT: '1000000',
  })
const kinds: readonly Kind[] = ['plain', 'indexed']

try {
  const running = {
    plain: await openServices(configOf('plain')),
    indexed: await openServices(configOf('indexed')),
  }
  const ids: string[] = []
  const spent: Record<Kind, number[]> = { plain: [], indexed: [] }
  const perRound = Math.ceil(count / rounds)
  let round: DocumentInput[] = []
  const storeRound = async (): Promise<void> => {
    for (const kind of kinds)
      spent[kind].push((await cpuOf(() => storeAll(running[kind], round))) / round.length)
    round = []
  }
  for await (const input of documents()) {
    ids.push(String(input.id))
    round.push(input)
    if (round.length === perRound) await storeRound()
  }
  if (round.length > 0) await storeRound()
  const asked = evenly(ids, queryCount)
  const searches = async (services: RunningServices, share: number) => ({
    shingles: await search(services, evenly(asked, Math.ceil(queryCount * share)), 'shingles'),
    tokens: await search(services, evenly(asked, Math.ceil((queryCount * share) / 10)), 'tokens'),
  })
  const byScan = await searches(running.plain, 1 / 50)
  const byIndex = await searches(running.indexed, 1)
  for (const kind of kinds) await running[kind].close()
  const size = Object.fromEntries(kinds.map((kind) => [kind, rounded(statSync(pathOf(kind)).size / count)]))
  const reindexing = await cpuOf(() => reindex(configOf('indexed'), () => undefined))
  const reindexed = await openServices(configOf('indexed'))
  const byReindexed = await searches(reindexed, 1)
  await reindexed.close()
  report('exact', {
    documents: count,
    pages: files.length === 0 ? `made, of about ${bytes} bytes` : 'from files',
    cpuMicrosecondsPerDocument: Object.fromEntries(kinds.map((kind) => [kind, rounded(median(spent[kind]))])),
    cpuRatio: rounded(median(spent.indexed.map((one, i) => one / (spent.plain[i] ?? Number.NaN))), 2),
    databaseBytesPerDocument: size,
    reindexMicrosecondsPerDocument: rounded(reindexing / count),
    searches: { byScan, byIndex, byReindexed },
    residentMebibytes: mebibytes(process.memoryUsage.rss()),
  })
} finally {
  await rm(directory, { recursive: true })
}
