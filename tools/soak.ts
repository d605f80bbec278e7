/**
 * npm run soak
 *
 * Minutes of mixed load on the built service, whose database is filled through the store before: clients store pages of
 * families of near-duplicates, one at a time and in batches, replace and delete them, while others search and run jobs.
 * For the first part of the time the service is killed at random moments and started again, and after each start compared
 * with all that it acknowledged; then it runs on without a kill, and its memory is watched.
 *
 * Prints the faults that it found, and says by its exit code whether there were any: lost, half or wrong documents, answers other
 * than those of brute force, memory that grows, a write-ahead log beyond its bound. The text is on stderr, the JSON on
 * stdout. Linux only.
 *
 * SOAK_SECONDS (480); SOAK_DOCUMENTS: documents stored before (130000: the service writes its first run of postings under
 * load); SOAK_IDS: documents of each client (600); SOAK_SEARCHED: documents searched after each start (150);
 * SOAK_SEED (1); SOAK_DIRECTORY: where the database lies. All settings of the service may be set too.
 */
import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { residentMebibytesOf } from '../bench/process-usage.ts'
import { median, report, rounded, spread } from '../bench/report.ts'
import { storeSynthetic } from '../bench/synthetic-documents.ts'
import { schemeOf } from '../src/analysis/scheme.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { checkService } from '../test/durability/check.ts'
import { Workload } from '../test/durability/workload.ts'
import { seededRandom } from '../test/fixture/pages.ts'
import { type Server, startServer } from '../test/fixture/server.ts'

const seconds = Number(process.env.SOAK_SECONDS ?? 480)
const documentsBefore = Number(process.env.SOAK_DOCUMENTS ?? 130_000)
const ids = Number(process.env.SOAK_IDS ?? 600)
const searched = Number(process.env.SOAK_SEARCHED ?? 150)
const seed = Number(process.env.SOAK_SEED ?? 1)

const shareWithKills = 0.5
const [shortestLifeMs, longestLifeMs] = [2000, 20_000]
const algorithms = ['shingling', 'simhash', 'combined', 'site-aware', 'identical', 'jaccard']
/** What the log may reach while a job reads its snapshot; else it stays at a few checkpoints of 8 MiB. */
const mostLogMebibytes = 128
/** Of the memory in the first minute after the last start. */
const mostGrowth = 1.25

const random = seededRandom(seed)
const workloads = ['a', 'b', 'c'].map(
  (name) =>
    new Workload({ name, random: seededRandom(1000 * seed + name.charCodeAt(0)), ids, families: ids / 15 }),
)
const faults: string[] = []
const searches: number[] = []
const starts: number[] = []
const residentOfMinute: number[] = []
let jobsSucceeded = 0
let kills = 0
let checked = 0
let mostLog = 0

const someId = (): string => {
  const workload = workloads[Math.floor(workloads.length * random())]
  const known = [...(workload?.known.keys() ?? [])]
  return known[Math.floor(known.length * random())] ?? 'none'
}

/** Does `step` again and again until the service is gone; other failures are faults. */
const untilGone = async (signal: AbortSignal, step: () => Promise<void>): Promise<void> => {
  while (!signal.aborted) {
    try {
      await step()
    } catch (error) {
      // What `fetch` throws where the connection breaks.
      if (!(error instanceof TypeError)) throw error
      return
    }
  }
}

const search = async (url: string): Promise<void> => {
  const algorithm = algorithms[Math.floor(algorithms.length * random())]
  const began = performance.now()
  const response = await fetch(`${url}/documents/${someId()}/duplicates?algorithm=${algorithm}`)
  const answer = await response.text()
  if (response.status !== 200 && response.status !== 404)
    throw new Error(`A search was answered ${response.status}: ${answer}`)
  searches.push(performance.now() - began)
}

const runJob = async (url: string): Promise<void> => {
  const response = await fetch(`${url}/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'join', algorithm: random() < 0.5 ? 'simhash' : 'site-aware' }),
  })
  if (!response.ok) throw new Error(`A job was answered ${response.status}: ${await response.text()}`)
  const { id } = (await response.json()) as { id: string }
  for (;;) {
    await wait(200)
    const job = (await (await fetch(`${url}/jobs/${id}`)).json()) as { state: string; reason: string | null }
    if (job.state === 'failed') throw new Error(`A job failed: ${job.reason}`)
    if (job.state === 'succeeded') break
  }
  jobsSucceeded++
  await wait(2000)
}

const directory = await mkdtemp(join(process.env.SOAK_DIRECTORY ?? tmpdir(), 'dittograph-soak-'))
const path = join(directory, 'soak.db')

const fill = async (): Promise<ReadonlySet<string>> => {
  const scheme = schemeOf({ tokenizer: 'practical', siteRule: 'public-suffix' })
  const store = await openSqliteStore({ path, scheme, synchronous: 'normal' })
  const stored = new Set<string>()
  await storeSynthetic(store, documentsBefore, (one) => {
    stored.add(one.id)
    return one
  })
  await store.close()
  return stored
}

const start = async (): Promise<Server> => {
  const began = performance.now()
  const server = await startServer({ DATABASE_URL: `sqlite:${path}` })
  starts.push(performance.now() - began)
  return server
}

/** Loads the service for a time, which `end` makes an end of. */
const load = async (server: Server, milliseconds: number, end: () => Promise<unknown>): Promise<void> => {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = Promise.all([
    ...workloads.map((workload) => workload.run(server.url, signal)),
    untilGone(signal, () => search(server.url)),
    untilGone(signal, () => runJob(server.url)),
  ])
  const until = performance.now() + milliseconds
  const ended = running.then(() => true)
  while (performance.now() < until) {
    if (await Promise.race([ended, wait(500, false)])) throw new Error('The service ended by itself')
    mostLog = Math.max(mostLog, statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0)
  }
  stopping.abort()
  await end()
  await running
}

const check = async (server: Server, others: ReadonlySet<string>): Promise<void> => {
  const count = workloads.reduce((sum, { known }) => sum + known.size, 0)
  checked += await checkService(server.url, workloads, {
    others,
    isSearched: () => random() < searched / count,
  })
}

/** Kills the service again and again; then lets it run, and notes its memory every minute. */
const soak = async (others: ReadonlySet<string>): Promise<void> => {
  const began = performance.now()
  const secondsLeft = () => seconds - (performance.now() - began) / 1000
  let server = await start()
  try {
    while (secondsLeft() > seconds * (1 - shareWithKills)) {
      await load(server, shortestLifeMs + (longestLifeMs - shortestLifeMs) * random(), () =>
        server.stop('SIGKILL'),
      )
      kills++
      server = await start()
      await check(server, others)
    }
    do {
      const resident: number[] = []
      const sampling = setInterval(() => resident.push(residentMebibytesOf(server).now), 1000)
      await load(server, Math.min(60, Math.max(5, secondsLeft())) * 1000, async () => clearInterval(sampling))
      residentOfMinute.push(median(resident))
    } while (secondsLeft() > 5)
    await check(server, others)
    if ((await server.stop('SIGTERM')) !== 0) throw new Error('The service did not end with 0')
  } finally {
    if (server.process.exitCode === null) await server.stop('SIGKILL')
  }
}

try {
  await soak(await fill())
} catch (error) {
  faults.push(error instanceof Error ? error.message : String(error))
} finally {
  await rm(directory, { recursive: true })
}
const logMebibytes = rounded(mostLog / 2 ** 20)
if (logMebibytes > mostLogMebibytes) faults.push(`The write-ahead log reached ${logMebibytes} MiB`)
const [first = Number.NaN] = residentOfMinute
const last = residentOfMinute.at(-1) ?? Number.NaN
if (last > mostGrowth * first) faults.push(`The memory grew from ${first} to ${last} MiB`)
const acknowledged = workloads.reduce((sum, { acknowledgements }) => sum + acknowledgements, 0)
process.stderr.write(`${kills} kills; ${acknowledged} documents acknowledged, ${checked} compared after restarts
${searches.length} searches, ${jobsSucceeded} jobs
resident MiB by minute: ${residentOfMinute.join(', ')}; write-ahead log at most ${logMebibytes} MiB
${faults.length === 0 ? 'no fault' : `FAULTS:\n${faults.join('\n')}`}
`)
report('soak', {
  seconds,
  seed,
  documentsBefore,
  kills,
  acknowledged,
  checked,
  jobsSucceeded,
  startMilliseconds: spread(starts),
  searchMilliseconds: spread(searches),
  residentMebibytesByMinute: residentOfMinute,
  mostLogMebibytes: logMebibytes,
  faults,
})
process.exitCode = faults.length === 0 ? 0 : 1
