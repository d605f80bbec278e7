/**
 * npm run bench:ingest -- [FILE.ndjson[.gz] …]
 *
 * What it costs the whole server process to take a document over HTTP, all work done and durable, against a Fastify
 * server that does none of it (bench/baseline-server.ts), in alternating rounds: single POSTs of raw HTML and NDJSON,
 * pages of 10 KB and of 50 KB. From files (`{url, html}` a line) it takes the pages within 20 % of these sizes, each
 * with a word of its own put at the end whenever it is sent, so that none is identical to one that is stored.
 * Without files it makes pages. Every document has a URL of its own.
 *
 * Prints for each kind medians over the rounds: microseconds of CPU a document of both servers and their ratio,
 * and seconds of wall time of a round and documents a second of both. CPU is read when a server is
 * idle again, so that what it does after its answers counts. Linux only.
 *
 * BENCH_ROUNDS (5); BENCH_POSTS: documents in a round of single POSTs (3000); BENCH_LINES: documents in a round of
 * NDJSON (4000); of 50 KB pages a quarter of both; BENCH_CONNECTIONS (32); BENCH_LINES_PER_BODY (250).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Server, startProcess, startServer } from '../test/fixture/server.ts'
import { Connection } from './connection.ts'
import { pageMaker, readPages } from './pages.ts'
import { cpuSeconds, cpuSecondsWhenIdle } from './process-usage.ts'
import { median, report, rounded } from './report.ts'

const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const posts = Number(process.env.BENCH_POSTS ?? 3000)
const lines = Number(process.env.BENCH_LINES ?? 4000)
const connectionCount = Number(process.env.BENCH_CONNECTIONS ?? 32)
const linesPerBody = Number(process.env.BENCH_LINES_PER_BODY ?? 250)
const files = process.argv.slice(2)
const pageSizes = [10_000, 50_000]

type Body = { readonly path: string; readonly type: string; readonly content: Buffer }
type Kind = { readonly name: string; readonly documents: number; readonly bodies: () => Body[] }
type Cost = { readonly cpuMicroseconds: number; readonly wallSeconds: number }

let sent = 0
const urlOf = (number: number): string => `https://site${number % 997}.example/pages/${number}.html`

/** Real pages of about this size, one after the other and over again; made ones where no file is given. */
const pageSource = async (bytes: number): Promise<() => string> => {
  if (files.length === 0) {
    const make = pageMaker(bytes)
    return () => make(bytes)
  }
  const pages: string[] = []
  for await (const { html } of readPages(files, { count: 0, bytes }))
    if (Math.abs(Buffer.byteLength(html) - bytes) <= 0.2 * bytes) pages.push(html)
  if (pages.length === 0) throw new Error(`No page of the files is within 20 % of ${bytes} bytes`)
  let next = 0
  return () => `${pages[next++ % pages.length]}<p>sent${sent}</p>`
}

const singlePosts = (bytes: number, source: () => string): Kind => {
  const documents = bytes > 10_000 ? Math.ceil(posts / 4) : posts
  return {
    name: `single POSTs of ${bytes / 1000} KB pages`,
    documents,
    bodies: () =>
      Array.from({ length: documents }, () => ({
        path: `/documents?url=${encodeURIComponent(urlOf(sent++))}`,
        type: 'text/html; charset=utf-8',
        content: Buffer.from(source()),
      })),
  }
}

const ndjson = (bytes: number, source: () => string): Kind => {
  const documents = bytes > 10_000 ? Math.ceil(lines / 4) : lines
  return {
    name: `NDJSON of ${bytes / 1000} KB pages`,
    documents,
    bodies: () => {
      const bodies: Body[] = []
      for (let from = 0; from < documents; from += linesPerBody) {
        const length = Math.min(linesPerBody, documents - from)
        const made = Array.from({ length }, () => JSON.stringify({ url: urlOf(sent++), html: source() }))
        const content = Buffer.from(`${made.join('\n')}\n`)
        bodies.push({ path: '/documents', type: 'application/x-ndjson', content })
      }
      return bodies
    },
  }
}

const measure = async (
  server: Server,
  connections: readonly Connection[],
  bodies: readonly Body[],
  documents: number,
): Promise<Cost> => {
  const [before, started] = [cpuSeconds(server), performance.now()]
  let next = 0
  const work = async (connection: Connection): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++])
      await connection.send('POST', body.path, body.type, body.content)
  }
  await Promise.all(connections.map(work))
  const wallSeconds = (performance.now() - started) / 1000
  return { cpuMicroseconds: (((await cpuSecondsWhenIdle(server)) - before) / documents) * 1e6, wallSeconds }
}

const summaryOf = (costs: readonly Cost[], documents: number) => ({
  cpuMicrosecondsPerDocument: rounded(median(costs.map((one) => one.cpuMicroseconds))),
  wallSeconds: rounded(median(costs.map((one) => one.wallSeconds)), 3),
  documentsPerSecond: Math.round(median(costs.map((one) => documents / one.wallSeconds))),
})

const connectAll = (server: Server): Promise<Connection[]> =>
  Promise.all(Array.from({ length: connectionCount }, () => Connection.open(server.url)))

const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
const dittograph = await startServer({ DATABASE_URL: `sqlite:${join(directory, 'bench.db')}` })
const baseline = await startProcess([
  '--import',
  'tsx',
  fileURLToPath(new URL('./baseline-server.ts', import.meta.url)),
])
const ourConnections = await connectAll(dittograph)
const theirConnections = await connectAll(baseline)
try {
  const kinds: Kind[] = []
  for (const bytes of pageSizes) {
    const source = await pageSource(bytes)
    kinds.push(singlePosts(bytes, source), ndjson(bytes, source))
  }
  const results = []
  for (const { name, documents, bodies } of kinds) {
    const ours: Cost[] = []
    const theirs: Cost[] = []
    let bytes = 0
    // The first round warms both up and does not count.
    for (let round = 0; round <= rounds; round++) {
      const toSend = bodies()
      const theirCost = await measure(baseline, theirConnections, toSend, documents)
      const ourCost = await measure(dittograph, ourConnections, toSend, documents)
      bytes = toSend.reduce((sum, { content }) => sum + content.length, 0)
      if (round === 0) continue
      theirs.push(theirCost)
      ours.push(ourCost)
    }
    const ratios = ours.map((cost, i) => cost.cpuMicroseconds / (theirs[i]?.cpuMicroseconds ?? Number.NaN))
    results.push({
      name,
      documentsInRound: documents,
      bytesPerDocument: Math.round(bytes / documents),
      dittograph: summaryOf(ours, documents),
      baseline: summaryOf(theirs, documents),
      cpuRatio: rounded(median(ratios), 2),
    })
    if (process.env.BENCH_PROGRESS) process.stderr.write(`${JSON.stringify(results.at(-1))}\n`)
  }
  report('ingest', {
    rounds,
    connections: connectionCount,
    linesPerBody,
    pages: files.length === 0 ? 'made' : 'from files',
    kinds: results,
  })
} finally {
  for (const connection of [...ourConnections, ...theirConnections]) connection.close()
  await dittograph.stop()
  await baseline.stop()
  await rm(directory, { recursive: true })
}
