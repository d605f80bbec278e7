import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'

const version = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** The value below which the given share of the values lies; NaN for none. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Prints the results of a benchmark as JSON, with what they were measured on. */
export const report = (bench: string, results: unknown): void => {
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadAverage: loadavg()[0],
  }
  const { node, v8, unicode } = process.versions as Record<string, string>
  const versions = { dittograph: version, node, v8, unicode }
  process.stdout.write(`${JSON.stringify({ bench, machine, versions, results }, null, 2)}\n`)
}
