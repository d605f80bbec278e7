/**
 * npm run bench:restart
 *
 * Fills databases with synthetic documents and opens each of them in new processes: CPU time and wall time from the
 * start of opening until the store answers, and resident memory, medians over the openings.
 *
 * Prints for each size seconds of CPU, seconds of wall time and MiB of resident memory.
 *
 * BENCH_SIZES: numbers of documents (100000,1000000); BENCH_ROUNDS: openings of each (5);
 * BENCH_DIRECTORY: where the databases lie; BENCH_PROGRESS=1 prints each size to stderr as it ends.
 */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { cpuMicroseconds, mebibytes } from './process-usage.ts'
import { median, report, rounded } from './report.ts'
import { storeSynthetic } from './synthetic-documents.ts'

type Opening = { cpuSeconds: number; wallSeconds: number; residentMebibytes: number; documents: number }

const sizes = (process.env.BENCH_SIZES ?? '100000,1000000').split(',').map(Number)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)

const openOnce = async (path: string): Promise<Opening> => {
  const [cpu, started] = [cpuMicroseconds(), performance.now()]
  const store = await openSqliteStore({ path, scheme: 'bench' })
  const { documents } = await store.counts()
  const opening = {
    cpuSeconds: rounded((cpuMicroseconds() - cpu) / 1e6, 3),
    wallSeconds: rounded((performance.now() - started) / 1000, 3),
    residentMebibytes: mebibytes(process.memoryUsage.rss()),
    documents,
  }
  await store.close()
  return opening
}

const fill = async (path: string, count: number): Promise<void> => {
  const store = await openSqliteStore({ path, scheme: 'bench', synchronous: 'normal' })
  await storeSynthetic(store, count)
  await store.close()
}

const openInNewProcess = (path: string): Opening => {
  const script = fileURLToPath(import.meta.url)
  const output = execFileSync(process.execPath, ['--import', 'tsx', script, path], { encoding: 'utf8' })
  return JSON.parse(output)
}

const existing = process.argv[2]
if (existing !== undefined) {
  process.stdout.write(JSON.stringify(await openOnce(existing)))
} else {
  const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
  try {
    const results = []
    for (const size of sizes) {
      const path = join(directory, `${size}.db`)
      await fill(path, size)
      const openings = Array.from({ length: rounds }, () => openInNewProcess(path))
      const medianOf = (figure: keyof Opening): number => median(openings.map((one) => one[figure]))
      results.push({
        documents: medianOf('documents'),
        cpuSeconds: medianOf('cpuSeconds'),
        wallSeconds: medianOf('wallSeconds'),
        residentMebibytes: medianOf('residentMebibytes'),
      })
      if (process.env.BENCH_PROGRESS) process.stderr.write(`${JSON.stringify(results.at(-1))}\n`)
    }
    report('restart', { rounds, sizes: results })
  } finally {
    await rm(directory, { recursive: true })
  }
}
