import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import Database from 'better-sqlite3'

const version = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** The value below which the given share of the values lies; NaN for none. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits))

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Times as p50, p99 and the longest, and how many there were. */
export const spread = (milliseconds: readonly number[]) => ({
  count: milliseconds.length,
  p50: rounded(quantile(milliseconds, 0.5), 3),
  p99: rounded(quantile(milliseconds, 0.99), 3),
  longest: rounded(
    milliseconds.reduce((a, b) => Math.max(a, b), 0),
    3,
  ),
})

/** Prints the results of a benchmark as JSON, with what they were measured on. */
export const report = (bench: string, results: unknown): void => {
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadAverage: loadavg().map((load) => rounded(load, 2)),
  }
  const { node, v8, unicode } = process.versions as Record<string, string>
  const sqlite = new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get()
  const versions = { dittograph: version, node, v8, unicode, sqlite }
  process.stdout.write(`${JSON.stringify({ bench, machine, versions, results }, null, 2)}\n`)
}
