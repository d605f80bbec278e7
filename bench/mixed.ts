/**
 * npm run bench:mixed
 *
 * Mixed load over HTTP on the built server, whose database is filled through the store before. For some seconds
 * clients write pages of 10 KB (NDJSON, and single POSTs of HTML) while others ask for documents and for
 * near-duplicates of stored and of new pages, delete, and one, a process of its own, asks GET /health/live. One
 * page in three is a near-duplicate of the one before it. Each client sends its next request when it has its
 * answer, so the machine is always full: these are latencies of a server that has more to do than it can.
 *
 * Prints for each kind of request how many clients it had, requests a second, and p50, p99 and longest latency in
 * milliseconds; documents stored a second; the longest gap between two answers to GET /health/live, which no
 * stall of the server's event loop can exceed, and the longest delay of that client's own event loop, which is part
 * of it; the delay of the event loop of the other clients, which is part of their latencies; CPU of the
 * server in cores, and all of it for each stored document; and its resident memory. Linux only.
 *
 * BENCH_DOCUMENTS: documents stored before (1000000); BENCH_SECONDS (20), after two seconds to warm up;
 * BENCH_LINES_PER_BODY (100); BENCH_CLIENTS: clients of each other kind (1); BENCH_DIRECTORY: where the
 * database lies. All settings of the server may be set too.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { schemeOf } from '../src/analysis/scheme.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { seededRandom } from '../test/fixture/pages.ts'
import { startServer } from '../test/fixture/server.ts'
import { Connection } from './connection.ts'
import type { HealthResult } from './health-client.ts'
import { pageMaker } from './pages.ts'
import { cpuSeconds, residentMebibytesOf } from './process-usage.ts'
import { report, rounded, spread } from './report.ts'
import { settle, storeSynthetic } from './synthetic-documents.ts'

const stored = Number(process.env.BENCH_DOCUMENTS ?? 1_000_000)
const seconds = Number(process.env.BENCH_SECONDS ?? 20)
const linesPerBody = Number(process.env.BENCH_LINES_PER_BODY ?? 100)
const clientsOfEach = Number(process.env.BENCH_CLIENTS ?? 1)
const warmUpSeconds = Math.min(2, seconds)
const pageBytes = 10_000
const mostKnownIds = 50_000

/** `documents`: how many it stores, `id`: one of these. */
type Request = { method: string; path: string; type?: string; body?: Buffer; documents?: number; id?: string }
/** `prepare` is not part of the time that is measured. */
type Kind = { readonly name: string; readonly clients: number; readonly prepare: () => Request }

const random = seededRandom(41)
const makePage = pageMaker(41)
const knownIds: string[] = []
let made = 0
let lastPage = makePage(pageBytes)

/** A page that was not sent before, with its id and URL. */
const nextPage = (): { id: string; url: string; html: string } => {
  const number = made++
  lastPage = number % 3 === 0 ? `${lastPage}<p>changed${number}</p>` : makePage(pageBytes)
  return { id: `mixed-${number}`, url: `https://site${number % 997}.example/${number}.html`, html: lastPage }
}

const someId = (): string => knownIds[Math.floor(random() * knownIds.length)] ?? 'none'

/** An id that no other request is given from now on. */
const takeId = (): string => {
  const at = Math.floor(random() * knownIds.length)
  const id = knownIds[at] ?? 'none'
  const last = knownIds.pop()
  if (last !== undefined && at < knownIds.length) knownIds[at] = last
  return id
}

const prepareNdjson = (): Request => {
  const pages = Array.from({ length: linesPerBody }, nextPage)
  const body = Buffer.from(`${pages.map((page) => JSON.stringify(page)).join('\n')}\n`)
  const id = pages[0]?.id ?? ''
  return {
    method: 'POST',
    path: '/documents',
    type: 'application/x-ndjson',
    body,
    documents: linesPerBody,
    id,
  }
}

const preparePost = (): Request => {
  const { id, url, html } = nextPage()
  const path = `/documents?id=${id}&url=${encodeURIComponent(url)}`
  return { method: 'POST', path, type: 'text/html; charset=utf-8', body: Buffer.from(html), documents: 1, id }
}

const kinds: readonly Kind[] = [
  { name: 'NDJSON', clients: clientsOfEach, prepare: prepareNdjson },
  { name: 'POST /documents', clients: clientsOfEach, prepare: preparePost },
  {
    name: 'GET duplicates',
    clients: clientsOfEach,
    prepare: () => ({ method: 'GET', path: `/documents/${encodeURIComponent(someId())}/duplicates` }),
  },
  {
    name: 'GET document',
    clients: clientsOfEach,
    prepare: () => ({ method: 'GET', path: `/documents/${encodeURIComponent(someId())}` }),
  },
  {
    name: 'POST /duplicates',
    clients: clientsOfEach,
    prepare: () => {
      const type = 'text/html; charset=utf-8'
      return { method: 'POST', path: '/duplicates', type, body: Buffer.from(nextPage().html) }
    },
  },
  {
    name: 'DELETE document',
    clients: clientsOfEach,
    prepare: () => ({ method: 'DELETE', path: `/documents/${encodeURIComponent(takeId())}` }),
  },
]

const latencies = new Map<string, number[]>(kinds.map(({ name }) => [name, []]))
let documentsStored = 0

/** Sends one request after another until the end, and counts those that began after the start. */
const runClient = async (url: string, { name, prepare }: Kind, start: number, end: number): Promise<void> => {
  const connection = await Connection.open(url)
  while (performance.now() < end) {
    const { method, path, type, body, documents = 0, id } = prepare()
    const began = performance.now()
    await connection.send(method, path, type, body)
    if (id !== undefined) knownIds.push(id)
    if (began < start) continue
    latencies.get(name)?.push(performance.now() - began)
    documentsStored += documents
  }
  connection.close()
}

const askHealth = async (url: string): Promise<HealthResult> => {
  const script = fileURLToPath(new URL('./health-client.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', script, url, String(seconds)],
    { maxBuffer: 2 ** 26 },
  )
  return JSON.parse(stdout)
}

const summaryOf = (name: string, clients: number, times: readonly number[], duration: number) => ({
  name,
  clients,
  perSecond: rounded(times.length / duration),
  milliseconds: spread(times),
})

const fill = async (path: string): Promise<void> => {
  const scheme = schemeOf({ tokenizer: 'practical', siteRule: 'public-suffix' })
  const store = await openSqliteStore({ path, scheme, synchronous: 'normal' })
  const step = Math.ceil(stored / mostKnownIds)
  await storeSynthetic(store, stored, (one, i) => {
    if (i % step === 0) knownIds.push(one.id)
    return one
  })
  await settle(store, path)
  await store.close()
}

const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
try {
  const path = join(directory, 'bench.db')
  await fill(path)
  const server = await startServer({ DATABASE_URL: `sqlite:${path}` })
  try {
    const start = performance.now() + 1000 * warmUpSeconds
    const clients = kinds.flatMap((kind) =>
      Array.from({ length: kind.clients }, () => runClient(server.url, kind, start, start + 1000 * seconds)),
    )
    const running = Promise.all(clients)
    await wait(start - performance.now())
    const ownDelay = monitorEventLoopDelay({ resolution: 1 })
    ownDelay.enable()
    const cpuBefore = cpuSeconds(server)
    const asked = askHealth(server.url)
    await running
    const cpu = cpuSeconds(server) - cpuBefore
    ownDelay.disable()
    const duration = (performance.now() - start) / 1000
    const health = await asked
    report('mixed', {
      documentsBefore: stored,
      seconds: rounded(duration, 2),
      linesPerBody,
      requests: [
        ...kinds.map(({ name, clients }) => summaryOf(name, clients, latencies.get(name) ?? [], duration)),
        summaryOf('GET /health/live', 1, health.milliseconds, duration),
      ],
      documentsStoredPerSecond: Math.round(documentsStored / duration),
      ownEventLoopDelayMs: {
        p50: rounded(ownDelay.percentile(50) / 1e6),
        p99: rounded(ownDelay.percentile(99) / 1e6),
        longest: rounded(ownDelay.max / 1e6),
      },
      longestHealthGapMs: rounded(health.longestGapMs),
      longestOwnDelayOfHealthClientMs: rounded(health.longestOwnDelayMs),
      server: {
        cpuCores: rounded(cpu / duration, 2),
        cpuMicrosecondsPerStoredDocument: Math.round((cpu / documentsStored) * 1e6),
        residentMebibytes: residentMebibytesOf(server),
      },
    })
  } finally {
    await server.stop()
  }
} finally {
  await rm(directory, { recursive: true })
}
