/**
 * npm run bench:jobs
 *
 * Stores synthetic documents in clusters whose sizes follow a power law, with hot keys: identical copies, a supershingle and a
 * simhash band that many unrelated documents share. Then a process of its own runs a join of each algorithm and
 * both kinds of clusters, and tells how long each took, what it found, and the greatest memory of the process.
 *
 * BENCH_DOCUMENTS: how many documents (1,000,000); BENCH_DIRECTORY: where the database lies, kept where BENCH_KEEP is set.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { defaultThresholds } from '../src/detect/decide.ts'
import { JobCatalog } from '../src/job/job-catalog.ts'
import { JobTurns } from '../src/job/job-turns.ts'
import { Jobs } from '../src/job/jobs.ts'
import { canonicalCriteria, type JobRequest, type JobView } from '../src/service/job-service.ts'
import { openJobDatabase } from '../src/store/sqlite/job-database.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { PutOperation } from '../src/store/store.ts'
import { mebibytes } from './process-usage.ts'
import { report, rounded } from './report.ts'
import { syntheticDocuments } from './synthetic-documents.ts'

const documentCount = Number(process.env.BENCH_DOCUMENTS ?? 1_000_000)
const batchSize = 500
const largestCluster = 20_000
/** One document in so many shares the supershingle, and one the band, that have nothing to do with its cluster. */
const hotShare = 50

/** At least s with a probability of 1 / s, as in the paper's degree distributions. */
const clusterSize = (): number => Math.min(largestCluster, Math.floor(1 / (1 - Math.random())))

/** Variants of a cluster: the others are identical to one of them. */
const variantsOf = (size: number): number => Math.ceil(size ** 0.7)

const flipBits = (bytes: Uint8Array, count: number): void => {
  for (let flip = 0; flip < count; flip++) {
    const bit = Math.floor(384 * Math.random())
    bytes[bit >>> 3] = (bytes[bit >>> 3] as number) ^ (1 << (bit & 7))
  }
}

/** A page that shares most of its supershingles and bits with another. */
const variantOf = (
  base: PutOperation,
  fresh: PutOperation,
): Pick<PutOperation, 'signature' | 'contentHash'> => {
  if (base.signature === null || fresh.signature === null) throw new Error('Every document has a signature')
  const supershingles = Uint8Array.from(base.signature.supershingles)
  for (let position = 0; position < 6; position++)
    if (Math.random() < 0.4)
      supershingles.set(fresh.signature.supershingles.subarray(8 * position, 8 * position + 8), 8 * position)
  const simhash = Uint8Array.from(base.signature.simhash)
  flipBits(simhash, Math.floor(12 * Math.random()))
  return { signature: { supershingles, simhash }, contentHash: fresh.contentHash }
}

const makeHot = ({ signature }: PutOperation, index: number): void => {
  if (index % hotShare === 0) signature?.supershingles.fill(0x77, 0, 8)
  if (index % hotShare === 1) signature?.simhash.fill(0x77, 0, 4)
}

const store = async (path: string): Promise<void> => {
  const target = await openSqliteStore({ path, scheme: 'bench' })
  let left = 0
  let variants: PutOperation[] = []
  let wanted = 0
  for (let from = 0; from < documentCount; from += batchSize) {
    const batch = syntheticDocuments(from, Math.min(batchSize, documentCount - from)).map((fresh, i) => {
      if (left === 0) {
        left = clusterSize()
        wanted = variantsOf(left)
        variants = []
        makeHot(fresh, from + i)
      }
      left--
      const [base] = variants
      if (base === undefined) {
        variants.push(fresh)
        return fresh
      }
      if (variants.length < wanted) {
        const variant = { ...fresh, ...variantOf(base, fresh) }
        variants.push(variant)
        return variant
      }
      const same = variants[Math.floor(variants.length * Math.random())] ?? base
      return { ...fresh, signature: same.signature, contentHash: same.contentHash }
    })
    await target.write(batch)
  }
  await target.close()
}

const openJobs = (databaseFile: string): Jobs => {
  const directory = `${databaseFile}-jobs`
  return new Jobs({
    catalog: new JobCatalog(openJobDatabase(join(directory, 'jobs.db'), Date.now())),
    directory,
    databaseFile,
    analysis: { tokenizer: 'practical', siteRule: 'public-suffix' },
    queueLimit: 10,
    turns: new JobTurns(),
    mostResultAgeMs: Number.MAX_SAFE_INTEGER,
    mostResultBytes: 100 * 2 ** 30,
    now: Date.now,
  })
}

const ended = async (jobs: Jobs, id: string): Promise<JobView> => {
  for (;;) {
    const job = await jobs.get(id)
    if (job.finishedAt !== null) return job
    await setTimeout(20)
  }
}

const runAll = async (databaseFile: string) => {
  const jobs = openJobs(databaseFile)
  const run = async (request: JobRequest) => {
    const { job } = await jobs.create(request)
    const before = process.cpuUsage()
    const started = performance.now()
    const { state, result, reason } = await ended(jobs, job.id)
    const seconds = rounded((performance.now() - started) / 1000, 2)
    const { user, system } = process.cpuUsage(before)
    if (state !== 'succeeded') throw new Error(`The job ${state}: ${reason}`)
    const file = join(`${databaseFile}-jobs`, `${job.id}.result`)
    const outcome = {
      seconds,
      cpuSeconds: rounded((user + system) / 1e6, 2),
      result,
      resultMebibytes: mebibytes(statSync(file).size),
      // The greatest of this process so far: memory of an earlier job may be counted again.
      residentMebibytesAtMost: Math.round(process.resourceUsage().maxRSS / 1024),
    }
    if (process.env.BENCH_PROGRESS) process.stderr.write(`${JSON.stringify({ ...request, ...outcome })}\n`)
    return { id: job.id, outcome }
  }
  const results: Record<string, unknown> = {}
  let last = ''
  for (const algorithm of ['identical', 'shingling', 'simhash', 'combined', 'site-aware'] as const) {
    const request = {
      kind: 'join',
      algorithm,
      thresholds: defaultThresholds,
      exact: null,
      minResemblance: null,
      site: 'any',
    } as const
    const { id, outcome } = await run(request)
    results[algorithm] = outcome
    last = id
  }
  const started = performance.now()
  let pairs = 0
  for (let cursor: string | null = null, page = 0; page < 1000; page++) {
    const answer = await jobs.pairs(last, { limit: 1000, cursor })
    pairs += answer.pairs.length
    cursor = answer.nextCursor
    if (cursor === null) break
  }
  results.pairsReadPerSecond = Math.round((1000 * pairs) / (performance.now() - started))
  for (const linkage of ['components', 'star'] as const) {
    const { outcome } = await run({ kind: 'clusters', job: last, linkage, policy: canonicalCriteria })
    results[`clusters by ${linkage}`] = outcome
  }
  await jobs.close()
  return results
}

if (process.env.BENCH_JOBS_OF !== undefined) {
  process.send?.(await runAll(process.env.BENCH_JOBS_OF))
} else {
  const directory = process.env.BENCH_DIRECTORY ?? (await mkdtemp(join(tmpdir(), 'dittograph-bench-')))
  const path = join(directory, 'jobs-bench.db')
  try {
    if (!existsSync(path)) await store(path)
    const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, BENCH_JOBS_OF: path } })
    const [results] = await once(child, 'message')
    report('jobs', { documents: documentCount, files: readdirSync(directory).length, ...results })
  } finally {
    if (process.env.BENCH_KEEP === undefined) await rm(directory, { recursive: true })
  }
}
