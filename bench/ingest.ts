/**
 * npm run bench:ingest
 *
 * CPU of the whole server process for a document over HTTP, all work done and durable, against a Fastify server that
 * does none of it: single POSTs of raw HTML, and NDJSON of larger pages, in alternating rounds. BENCH_ROUNDS,
 * BENCH_POSTS (documents in a round of single POSTs) and BENCH_LINES (in a round of NDJSON) set the size.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { htmlPage, randomWords, seededRandom } from '../test/fixture/pages.ts'
import { type Server, startProcess, startServer } from '../test/fixture/server.ts'
import { median, report } from './report.ts'

const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const posts = Number(process.env.BENCH_POSTS ?? 3000)
const lines = Number(process.env.BENCH_LINES ?? 1000)
const connections = 16
const clockTicksPerSecond = 100

/** Seconds of CPU that a process has used so far, all threads together. Linux only. */
const cpuSeconds = (server: Server): number => {
  const stat = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond
}

const random = seededRandom(31)
/** A page of about so many bytes; about half of them are markup, as on real pages. */
const makePage = (bytes: number): string => {
  const words = randomWords(random, Math.round(bytes / 35), 4000)
  const links = words.map((word, i) =>
    i % 4 === 0
      ? `<li class="menu-item level-two"><a href="/section/${word}/${i}.html" title="go">${word}</a></li><span class="sep" data-x="1"></span>`
      : word,
  )
  return htmlPage('A page', links)
}

const agent = new Agent({ keepAlive: true, maxSockets: connections })
const post = (url: string, type: string, body: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': body.length }
    const outgoing = request(url, { method: 'POST', headers, agent }, (response) => {
      if ((response.statusCode ?? 500) >= 300) reject(new Error(`Status ${response.statusCode}`))
      response.resume().on('end', resolve).on('error', reject)
    })
    outgoing.on('error', reject).end(body)
  })

/** CPU seconds of the server for all bodies, sent over several connections at once. */
const measure = async (server: Server, type: string, bodies: readonly Buffer[]): Promise<number> => {
  const before = cpuSeconds(server)
  let next = 0
  const worker = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++])
      await post(`${server.url}/documents`, type, body)
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return cpuSeconds(server) - before
}

type Kind = { name: string; type: string; documents: number; bodies: () => Buffer[] }
let id = 0
const kinds: Kind[] = [
  {
    name: 'single POST of 10 KB of HTML',
    type: 'text/html; charset=utf-8',
    documents: posts,
    bodies: () => Array.from({ length: posts }, () => Buffer.from(makePage(10_000))),
  },
  ...[10_000, 50_000].map((bytes) => ({
    name: `NDJSON of ${bytes / 1000} KB pages`,
    type: 'application/x-ndjson',
    documents: lines,
    bodies: () => {
      const made = Array.from({ length: lines }, () =>
        JSON.stringify({ id: `n${id++}`, html: makePage(bytes) }),
      )
      return [Buffer.from(`${made.join('\n')}\n`)]
    },
  })),
]

const directory = await mkdtemp(join(tmpdir(), 'dittograph-bench-'))
const dittograph = await startServer({ DATABASE_URL: `sqlite:${join(directory, 'bench.db')}` })
const baseline = await startProcess([
  '--import',
  'tsx',
  fileURLToPath(new URL('./baseline-server.ts', import.meta.url)),
])
try {
  const results = []
  for (const { name, type, documents, bodies } of kinds) {
    const ours: number[] = []
    const theirs: number[] = []
    // The first round warms both up and does not count.
    for (let round = 0; round <= rounds; round++) {
      const sent = bodies()
      const baselineSeconds = await measure(baseline, type, sent)
      const ourSeconds = await measure(dittograph, type, sent)
      if (round === 0) continue
      theirs.push((baselineSeconds / documents) * 1e6)
      ours.push((ourSeconds / documents) * 1e6)
    }
    results.push({
      name,
      documentsInRound: documents,
      dittographCpuMicroseconds: median(ours),
      baselineCpuMicroseconds: median(theirs),
      ratio: median(ours.map((value, i) => value / (theirs[i] ?? Number.NaN))),
    })
  }
  report('ingest', results)
} finally {
  agent.destroy()
  await dittograph.stop()
  await baseline.stop()
  await rm(directory, { recursive: true })
}
