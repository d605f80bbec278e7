import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
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
}

/** Those that are imported or started by the others. */
const parts = ['baseline-server.ts', 'pages.ts', 'report.ts', 'peer-libraries.d.ts', 'synthetic-documents.ts']
const benches = readdirSync(folder).filter((file) => file.endsWith('.ts') && !parts.includes(file))

describe('benchmarks', () => {
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
