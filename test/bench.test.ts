import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

const folder = new URL('../bench/', import.meta.url)
const run = promisify(execFile)

/** Sizes at which every benchmark ends within seconds; their figures mean nothing. */
const tiny = {
  BENCH_PAGES: '60',
  BENCH_SAMPLE: '10',
  BENCH_ROUNDS: '1',
  BENCH_POSTS: '40',
  BENCH_LINES: '20',
  BENCH_DOCUMENTS: '2000',
  BENCH_SIZES: '500',
  BENCH_HOT: '500',
  BENCH_QUERIES: '10',
  BENCH_SECONDS: '1',
  BENCH_BYTES: '4096',
  BENCH_CONNECTIONS: '20',
  BENCH_BODY_LIMIT_BYTES: '65536',
}

/** Those that are imported or started by the others. */
const parts = [
  'adversarial-pages.ts',
  'baseline-server.ts',
  'connection.ts',
  'health-client.ts',
  'pages.ts',
  'peer-libraries.d.ts',
  'process-usage.ts',
  'report.ts',
  'synthetic-documents.ts',
]
/** Each `bench/NAME.ts` that is not a part is run by `npm run bench:NAME`. */
const benches = readdirSync(folder).filter((file) => file.endsWith('.ts') && !parts.includes(file))

const runBench = async (file: string, args: readonly string[] = []) => {
  const { stdout } = await run(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL(file, folder)), ...args],
    { env: { ...process.env, ...tiny }, maxBuffer: 2 ** 24 },
  )
  return JSON.parse(stdout)
}

describe('benchmarks', () => {
  test('each has a script of its name', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    const named = Object.keys(scripts).filter((name) => name.startsWith('bench:'))
    expect(named.sort()).toEqual(benches.map((file) => `bench:${basename(file, '.ts')}`).sort())
  })

  test.each(benches)('%s runs, and reports its results with what they were measured on', async (file) => {
    const report = await runBench(file)
    expect(report).toMatchObject({
      machine: { cores: expect.any(Number) },
      versions: { dittograph: expect.any(String), node: process.versions.node },
    })
    expect(Object.keys(report.results).length).toBeGreaterThan(0)
  })

  test('ingest.ts takes only the pages of a file that are about 10 KB or 50 KB', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dittograph-bench-test-'))
    const path = join(directory, 'pages.ndjson.gz')
    const pages = [1000, 9000, 30_000, 45_000].map((bytes) => `<p>${'word '.repeat(bytes / 5)}</p>`)
    const lines = pages.map((html, i) => `${JSON.stringify({ url: `https://site.example/${i}`, html })}\n`)
    await writeFile(path, gzipSync(lines.join('')))
    const { results } = await runBench('ingest.ts', [path])
    await rm(directory, { recursive: true })
    const bytes = results.kinds.map((kind: { bytesPerDocument: number }) => kind.bytesPerDocument)
    expect(results.pages).toBe('from files')
    expect(bytes.map((one: number) => Math.round(one / 1000))).toEqual([9, 9, 45, 45])
  })
})
