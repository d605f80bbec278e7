/**
 * npm run bench:overload
 *
 * What a server does that is asked for more than it can. A few clients post different pages of 100 KB one after the
 * other, then BENCH_CONNECTIONS at once do, then the few again, each part for BENCH_SECONDS. A process of its own
 * asks GET /health/live throughout. A client that is answered 503 waits as long as Retry-After says, as it should.
 *
 * Prints documents a second of each part, the share of answers that were 503, and latencies of those that were not;
 * resident memory of the server at most in each part; the longest gap between two answers to GET /health/live.
 * Linux only.
 *
 * BENCH_CONNECTIONS: clients of the second part (1000); BENCH_FEW: of the others (4); BENCH_SECONDS (10);
 * BENCH_BODY_LIMIT_BYTES: BODY_LIMIT_BYTES of the server, whose memory for bodies is eight times that (4194304).
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Server, startServer } from '../test/fixture/server.ts'
import { Connection } from './connection.ts'
import type { HealthResult } from './health-client.ts'
import { pageMaker } from './pages.ts'
import { residentMebibytesOf } from './process-usage.ts'
import { report, rounded, spread } from './report.ts'

const connections = Number(process.env.BENCH_CONNECTIONS ?? 1000)
const few = Number(process.env.BENCH_FEW ?? 4)
const seconds = Number(process.env.BENCH_SECONDS ?? 10)
const bodyLimitBytes = process.env.BENCH_BODY_LIMIT_BYTES ?? String(4 * 2 ** 20)
const pageBytes = Math.min(100_000, Number(bodyLimitBytes) / 2)
const retryAfterMs = 1000

const makePage = pageMaker(43)
/** Made before, so that the clients have nothing to do but to send; each is sent under many ids, with a word of its own. */
const pages = Array.from({ length: 50 }, () => makePage(pageBytes))
let sent = 0

const nextPage = (): { readonly path: string; readonly body: Buffer } => {
  const number = sent++
  return {
    path: `/documents?id=overload-${number}`,
    body: Buffer.from(`${pages[number % pages.length]}<p>page${number}</p>`),
  }
}

const runClients = async (server: Server, clients: number) => {
  const end = performance.now() + 1000 * seconds
  const began = performance.now()
  const milliseconds: number[] = []
  let refused = 0
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, residentMebibytesOf(server).now)
  }, 50)
  const runClient = async (): Promise<void> => {
    const connection = await Connection.open(server.url)
    while (performance.now() < end) {
      const { path, body } = nextPage()
      const start = performance.now()
      const { status } = await connection.send('POST', path, 'text/html; charset=utf-8', body, [503])
      if (status === 503) {
        refused += 1
        await wait(retryAfterMs)
      } else milliseconds.push(performance.now() - start)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: clients }, runClient))
  clearInterval(watch)
  const duration = (performance.now() - began) / 1000
  return {
    clients,
    documentsPerSecond: rounded(milliseconds.length / duration),
    shareOf503: rounded(refused / Math.max(1, refused + milliseconds.length), 3),
    milliseconds: spread(milliseconds),
    residentMebibytes: most,
  }
}

const askHealth = async (url: string, duration: number): Promise<HealthResult> => {
  const script = fileURLToPath(new URL('./health-client.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', script, url, String(duration)],
    { maxBuffer: 2 ** 26 },
  )
  return JSON.parse(stdout)
}

const directory = await mkdtemp(join(tmpdir(), 'dittograph-bench-'))
try {
  const server = await startServer({
    DATABASE_URL: `sqlite:${join(directory, 'bench.db')}`,
    BODY_LIMIT_BYTES: bodyLimitBytes,
  })
  try {
    const asked = askHealth(server.url, 3 * seconds)
    const before = await runClients(server, few)
    const overload = await runClients(server, connections)
    const afterwards = await runClients(server, few)
    const health = await asked
    report('overload', {
      seconds,
      pageBytes,
      before,
      overload,
      afterwards,
      throughputAfterwards: rounded(afterwards.documentsPerSecond / before.documentsPerSecond, 2),
      health: {
        milliseconds: spread(health.milliseconds),
        longestGapMs: rounded(health.longestGapMs),
        longestOwnDelayMs: rounded(health.longestOwnDelayMs),
      },
      peakResidentMebibytes: residentMebibytesOf(server).most,
    })
  } finally {
    await server.stop()
  }
} finally {
  await rm(directory, { recursive: true })
}
