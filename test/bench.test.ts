import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
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
}

/** Those that are imported or started by the others. */
const parts = [
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

describe('benchmarks', () => {
  test('each has a script of its name', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    const named = Object.keys(scripts).filter((name) => name.startsWith('bench:'))
    expect(named.sort()).toEqual(benches.map((file) => `bench:${basename(file, '.ts')}`).sort())
  })

  test.each(benches)('%s runs, and reports its results with what they were measured on', async (file) => {
    const { stdout } = await run(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL(file, folder))],
      { env: { ...process.env, ...tiny }, maxBuffer: 2 ** 24 },
    )
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({
      machine: { cores: expect.any(Number) },
      versions: { dittograph: expect.any(String), node: process.versions.node },
    })
    expect(Object.keys(report.results).length).toBeGreaterThan(0)
  })
})
