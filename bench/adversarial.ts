/**
 * npm run bench:adversarial
 *
 * CPU of pages that are made to be dear, by the way that stores them (bytes to sketches) and, up to
 * BENCH_READABLE_BYTES, by the readable code behind analyses and comparisons. Each shape is made at doubling sizes;
 * time that is linear in the size doubles with it.
 *
 * Prints for each shape the milliseconds a MiB at the largest size, its tokens, and the exponent of growth over
 * the last doubling: 1 is linear, 2 quadratic. The dearest shape and the greatest exponent stand first.
 *
 * BENCH_BYTES: largest size (16777216); BENCH_READABLE_BYTES (2097152); BENCH_ROUNDS: runs of each, the least
 * counts (3).
 */
import { Analyzer } from '../src/analysis/analyzer.ts'
import { adversarialPages } from './adversarial-pages.ts'
import { cpuMicroseconds } from './process-usage.ts'
import { report, rounded } from './report.ts'

const mostBytes = Number(process.env.BENCH_BYTES ?? 16 * 2 ** 20)
const mostReadableBytes = Math.min(mostBytes, Number(process.env.BENCH_READABLE_BYTES ?? 2 * 2 ** 20))
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const doublings = 3

const options = { tokenizer: 'practical', siteRule: 'public-suffix' } as const
const analyzers = [
  { code: 'kernel', analyzer: new Analyzer(options), bytes: mostBytes },
  { code: 'readable', analyzer: new Analyzer(options, null), bytes: mostReadableBytes },
]

/** The least CPU of some runs, in milliseconds, and how many tokens there were. */
const measure = (analyzer: Analyzer, bytes: Uint8Array, contentType: string) => {
  let milliseconds = Number.POSITIVE_INFINITY
  let tokens = 0
  for (let round = 0; round < rounds; round++) {
    const before = cpuMicroseconds()
    const kind = contentType.startsWith('text/html') ? 'html' : 'text'
    try {
      tokens = analyzer.sketch({
        url: 'https://a.example/',
        content: { kind, bytes, contentType },
      }).tokenCount
    } catch (error) {
      if (Reflect.get(error as object, 'code') === undefined) throw error
    }
    milliseconds = Math.min(milliseconds, (cpuMicroseconds() - before) / 1000)
  }
  return { milliseconds, tokens }
}

const shapes = analyzers.flatMap(({ code, analyzer, bytes: largest }) =>
  adversarialPages.map(({ name, contentType = 'text/html; charset=utf-8', make }) => {
    const runs = Array.from({ length: doublings + 1 }, (_, i) => {
      const bytes = make(largest / 2 ** (doublings - i))
      return { mebibytes: bytes.length / 2 ** 20, ...measure(analyzer, bytes, contentType) }
    })
    const [before, last] = runs.slice(-2)
    if (before === undefined || last === undefined) throw new Error('There are at least two sizes')
    return {
      name,
      code,
      mebibytes: rounded(last.mebibytes, 2),
      tokens: last.tokens,
      milliseconds: runs.map((run) => rounded(run.milliseconds, 1)),
      millisecondsAMebibyte: rounded(last.milliseconds / last.mebibytes, 1),
      exponent: rounded(Math.log2(last.milliseconds / before.milliseconds), 2),
    }
  }),
)

const greatest = (code: string, of: 'millisecondsAMebibyte' | 'exponent') =>
  shapes.filter((shape) => shape.code === code).reduce((most, shape) => (shape[of] > most[of] ? shape : most))

report('adversarial', {
  greatest: analyzers.map(({ code }) => {
    const dearest = greatest(code, 'millisecondsAMebibyte')
    const steepest = greatest(code, 'exponent')
    return {
      code,
      dearest: { name: dearest.name, millisecondsAMebibyte: dearest.millisecondsAMebibyte },
      steepest: { name: steepest.name, exponent: steepest.exponent },
    }
  }),
  shapes,
})
