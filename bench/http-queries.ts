/**
 * npm run bench:http-queries
 *
 * GET /documents/{id}/duplicates of the built server against its GET /health/live, one after the other in alternation on
 * the same keep-alive connection, on databases of several sizes that are filled through the store before the
 * server starts. Documents are asked for once each, so that no answer is remembered. Three series:
 *
 * - alone: documents that nothing is a near-duplicate of;
 * - cluster: documents with four near-duplicates, with texts, so that resemblances are computed;
 * - hot: documents that share one supershingle with every tenth document of the database, at most BENCH_HOT
 *   of them; such a list is longer than QUERY_WORK_LIMIT, and the answer rightly says `complete: false`.
 *
 * Prints for each size and series p50, p99 and the longest of both routes in milliseconds, the ratio of the medians (median
 * over the rounds), and of the answers how many near-duplicates they hold and how many sets they examined on
 * average, and the share that is complete; and the memory of the server.
 *
 * BENCH_SIZES: numbers of documents (10000,100000,1000000); BENCH_HOT: documents that share the hot supershingle
 * (100000); BENCH_QUERIES: queries of a series in a round (200); BENCH_ROUNDS (5); BENCH_DIRECTORY: where the
 * databases lie; BENCH_PROGRESS=1 prints each size to stderr as it ends. All settings of the server
 * (INDEX_MEMORY_MB, QUERY_WORK_LIMIT) may be set too.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { schemeOf } from '../src/analysis/scheme.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { PutOperation } from '../src/store/store.ts'
import { editWords, randomWords, seededRandom } from '../test/fixture/pages.ts'
import { startServer } from '../test/fixture/server.ts'
import { Connection } from './connection.ts'
import { residentMebibytesOf } from './process-usage.ts'
import { median, report, rounded, spread } from './report.ts'
import { settle, storeSynthetic } from './synthetic-documents.ts'

type Answer = { duplicates: unknown[]; examined: number; complete: boolean }
type Round = { readonly duplicates: number[]; readonly live: number[]; readonly answers: Answer[] }
type Ids = { readonly alone: string[]; readonly cluster: string[]; readonly hot: string[] }
type Series = keyof Ids

const sizes = (process.env.BENCH_SIZES ?? '10000,100000,1000000').split(',').map(Number)
const hotCount = Number(process.env.BENCH_HOT ?? 100_000)
const queryCount = Number(process.env.BENCH_QUERIES ?? 200)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const clusterSize = 5
const hotShare = 10
const hotSupershingle = Buffer.from('0123456789abcdef', 'hex')
const seriesNames: readonly Series[] = ['alone', 'cluster', 'hot']
/** One round more than counts, to warm up. */
const idsWanted = queryCount * (rounds + 1)

const random = seededRandom(23)

const withHotSupershingle = (one: PutOperation): PutOperation => {
  if (one.signature === null) return one
  const { supershingles, simhash } = one.signature
  return {
    ...one,
    signature: { supershingles: Buffer.concat([hotSupershingle, supershingles.subarray(8)]), simhash },
  }
}

/** Members of a cluster share the supershingles and all but some bits of the simhash, and most of the text. */
const clusterMember = (): ((one: PutOperation) => PutOperation) => {
  let member = 0
  let first: PutOperation | null = null
  let words: string[] = []
  return (one) => {
    if (member++ % clusterSize === 0 || first === null || first.signature === null) {
      words = randomWords(random, 600, 1500)
      first = { ...one, text: Buffer.from(words.join(' ')) }
      return first
    }
    const simhash = Uint8Array.from(first.signature.simhash)
    for (let bit = 0; bit < 1 + (member % clusterSize); bit++)
      simhash[7 * bit] = (simhash[7 * bit] ?? 0) ^ (1 << (member % clusterSize))
    const text = Buffer.from(editWords(random, words, 2, 'block').join(' '))
    return { ...one, text, signature: { supershingles: first.signature.supershingles, simhash } }
  }
}

/** Fills a database and tells ids for the queries of each series, spread over all of it. */
const fill = async (path: string, count: number): Promise<Ids> => {
  const scheme = schemeOf({ tokenizer: 'practical', siteRule: 'public-suffix' })
  const store = await openSqliteStore({ path, scheme, synchronous: 'normal' })
  const clusters = Math.max(1, Math.min(idsWanted, Math.floor(count / (2 * clusterSize))))
  const clusterEvery = Math.floor(count / clusters)
  const ids: Ids = { alone: [], cluster: [], hot: [] }
  const asMember = clusterMember()
  let hot = 0
  await storeSynthetic(store, count, (one, i) => {
    const place = i % clusterEvery
    if (place < clusterSize) {
      if (place === 0) ids.cluster.push(one.id)
      return asMember(one)
    }
    if (i % hotShare === hotShare - 1 && hot < hotCount) {
      hot++
      ids.hot.push(one.id)
      return withHotSupershingle(one)
    }
    ids.alone.push(one.id)
    return one
  })
  await settle(store, path)
  await store.close()
  return ids
}

/** So many of the ids, evenly spread; less where there are less. */
const evenly = (ids: readonly string[], count: number): string[] =>
  ids.filter((_, i) => Math.floor((i * count) / ids.length) !== Math.floor(((i - 1) * count) / ids.length))

const shuffled = (ids: readonly string[]): string[] =>
  ids
    .map((id) => ({ id, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ id }) => id)

const askInTurn = async (connection: Connection, ids: readonly string[]): Promise<Round> => {
  const round: Round = { duplicates: [], live: [], answers: [] }
  for (const id of ids) {
    const started = performance.now()
    const { body } = await connection.send('GET', `/documents/${encodeURIComponent(id)}/duplicates`)
    const between = performance.now()
    await connection.send('GET', '/health/live')
    round.duplicates.push(between - started)
    round.live.push(performance.now() - between)
    round.answers.push(JSON.parse(body.toString()) as Answer)
  }
  return round
}

const summaryOf = (all: readonly Round[]) => {
  const answers = all.flatMap((one) => one.answers)
  const mean = (value: (answer: Answer) => number): number =>
    rounded(answers.reduce((sum, answer) => sum + value(answer), 0) / answers.length, 2)
  return {
    duplicatesMs: spread(all.flatMap((one) => one.duplicates)),
    healthLiveMs: spread(all.flatMap((one) => one.live)),
    ratioOfMedians: rounded(median(all.map((one) => median(one.duplicates) / median(one.live))), 2),
    duplicatesFound: mean(({ duplicates }) => duplicates.length),
    examined: mean(({ examined }) => examined),
    complete: mean(({ complete }) => (complete ? 1 : 0)),
  }
}

const measure = async (size: number) => {
  const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
  try {
    const path = join(directory, 'bench.db')
    const ids = await fill(path, size)
    const server = await startServer({ DATABASE_URL: `sqlite:${path}` })
    const connection = await Connection.open(server.url)
    try {
      const measured = new Map<Series, Round[]>(seriesNames.map((name) => [name, []]))
      const toAsk = new Map(seriesNames.map((name) => [name, shuffled(evenly(ids[name], idsWanted))]))
      for (let round = 0; round <= rounds; round++)
        for (const name of seriesNames) {
          const own = toAsk.get(name) ?? []
          const share = Math.ceil(own.length / (rounds + 1))
          const result = await askInTurn(connection, own.slice(round * share, (round + 1) * share))
          if (round > 0 && result.answers.length > 0) measured.get(name)?.push(result)
        }
      const result = {
        documents: size,
        hotDocuments: ids.hot.length,
        series: Object.fromEntries([...measured].map(([name, all]) => [name, summaryOf(all)])),
        residentMebibytes: residentMebibytesOf(server),
      }
      if (process.env.BENCH_PROGRESS) process.stderr.write(`${JSON.stringify(result)}\n`)
      return result
    } finally {
      connection.close()
      await server.stop()
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

const results = []
for (const size of sizes) results.push(await measure(size))
report('http-queries', {
  rounds,
  queriesInRound: queryCount,
  indexMemoryMebibytes: process.env.INDEX_MEMORY_MB ?? 'default',
  queryWorkLimit: process.env.QUERY_WORK_LIMIT ?? 'default',
  sizes: results,
})
