/**
 * npm run bench:growth
 *
 * Stores synthetic documents (random signatures and ids, 5,000 sites, no texts) through the real store in batches of
 * 500, every batch durable, and tells of each window what a document cost while the collection grew: CPU time of
 * the process with all background work, bytes written to the disk, and the longest time for which a write or
 * the event loop was held up. What the making of the documents takes is measured first and taken off.
 *
 * Prints for each window microseconds of CPU, bytes written and documents a second, the median and the longest write,
 * the longest delay of the event loop, resident memory and the size of the database; then the CPU of a document in
 * the last window as a multiple of that at 100,000 documents.
 *
 * BENCH_DOCUMENTS: up to how many documents (1000000); BENCH_MEMORY_MB: memory of the index (512);
 * BENCH_DIRECTORY: where the database lies; BENCH_PROGRESS=1 prints each window to stderr as it ends.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { cpuMicroseconds, mebibytes } from './process-usage.ts'
import { quantile, report, rounded } from './report.ts'
import { syntheticDocuments } from './synthetic-documents.ts'

const documentCount = Number(process.env.BENCH_DOCUMENTS ?? 1_000_000)
const memoryBytes = Number(process.env.BENCH_MEMORY_MB ?? 512) * 2 ** 20
const batchSize = 500
const windowEnds = [
  10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000,
]

/** Bytes that this process caused to be written to a disk; NaN where the system does not tell. */
const writtenBytes = (): number =>
  existsSync('/proc/self/io')
    ? Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
    : Number.NaN

const makingCosts = (): number => {
  const rounds = 20
  for (let round = 0; round < rounds; round++) syntheticDocuments(0, batchSize)
  const before = cpuMicroseconds()
  for (let round = 0; round < rounds; round++) syntheticDocuments(0, batchSize)
  return (cpuMicroseconds() - before) / (rounds * batchSize)
}

const ends = windowEnds.filter((end) => end < documentCount)
for (let end = 1_000_000; end < documentCount; end += 250_000) ends.push(end)
ends.push(documentCount)

const making = makingCosts()
const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
const path = join(directory, 'bench.db')
const store = await openSqliteStore({ path, scheme: 'bench', indexMemoryBytes: memoryBytes })
try {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const windows = []
  let stored = 0
  for (const end of ends) {
    const writes: number[] = []
    loop.reset()
    const from = stored
    const [cpuBefore, writtenBefore, started] = [cpuMicroseconds(), writtenBytes(), performance.now()]
    while (stored < end) {
      const batch = syntheticDocuments(stored, Math.min(batchSize, end - stored))
      const before = performance.now()
      await store.write(batch)
      writes.push(performance.now() - before)
      stored += batch.length
      // Writes alone never let the event loop turn, and then its delay could not be measured.
      await new Promise(setImmediate)
    }
    const seconds = (performance.now() - started) / 1000
    windows.push({
      documents: stored,
      cpuMicrosecondsPerDocument: rounded((cpuMicroseconds() - cpuBefore) / (stored - from) - making),
      bytesWrittenPerDocument: Math.round((writtenBytes() - writtenBefore) / (stored - from)),
      documentsPerSecond: Math.round((stored - from) / seconds),
      writeMs: { p50: rounded(quantile(writes, 0.5)), longest: rounded(Math.max(...writes)) },
      longestEventLoopDelayMs: rounded(loop.max / 1e6),
      residentMebibytes: mebibytes(process.memoryUsage.rss()),
      databaseBytesPerDocument: Math.round(statSync(path).size / stored),
    })
    if (process.env.BENCH_PROGRESS) process.stderr.write(`${JSON.stringify(windows.at(-1))}\n`)
  }
  const at100k = windows.find(({ documents }) => documents >= Math.min(100_000, documentCount))
  const last = windows.at(-1)
  report('growth', {
    memoryMebibytes: mebibytes(memoryBytes),
    makingMicrosecondsPerDocument: rounded(making),
    windows,
    bytesWrittenPerDocument: Math.round(writtenBytes() / stored),
    'cpu of a document in the last window, times that at 100,000': rounded(
      (last?.cpuMicrosecondsPerDocument ?? 0) / (at100k?.cpuMicrosecondsPerDocument ?? 1),
      2,
    ),
  })
} finally {
  await store.close()
  await rm(directory, { recursive: true })
}
