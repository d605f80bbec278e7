import { supershingleCount } from '../signature/scheme.ts'
import type { DegreeDistribution } from './degrees.ts'
import type { JobEvaluation } from './job-evaluation.ts'
import type { JobStatistics } from './job-statistics.ts'
import type { Plot, Series } from './svg-plot.ts'
import type { TermDifferences } from './term-differences.ts'

type Point = readonly [number, number]

/** What has no value, such as the precision of nothing, is no point of a plot. */
export const point = (x: number | null, y: number | null): Point[] =>
  x === null || y === null ? [] : [[x, y]]

/** The ends of an axis for shares. */
export const unit = { from: 0, to: 1 } as const

/** Figures 1 and 3. */
export const degreePlot = (title: string, { degrees, powerLaw }: DegreeDistribution): Plot => ({
  title,
  x: { label: 'degree', scale: 'log' },
  y: { label: 'pages', scale: 'log' },
  series: [
    {
      name: 'pages with this degree',
      kind: 'points',
      points: degrees.map(({ degree, nodes }) => [degree, nodes]),
    },
    ...(powerLaw.leastSquares === null ? [] : [fittedLine(degrees, powerLaw.leastSquares.exponent)]),
  ],
})

/** A line of the given slope through the middle of the points, which is where least squares puts it. */
const fittedLine = (degrees: DegreeDistribution['degrees'], exponent: number): Series => {
  const meanOf = (value: (row: { degree: number; nodes: number }) => number): number =>
    degrees.reduce((sum, row) => sum + Math.log(value(row)), 0) / degrees.length
  const intercept = meanOf(({ nodes }) => nodes) + exponent * meanOf(({ degree }) => degree)
  return {
    name: `least squares, exponent ${exponent.toFixed(2)}`,
    kind: 'line',
    points: degrees.map(({ degree }) => [degree, Math.exp(intercept - exponent * Math.log(degree))]),
  }
}

/** Figures 2 and 4. */
export const differencePlot = (title: string, { buckets }: TermDifferences): Plot => {
  const points = (value: (bucket: TermDifferences['buckets'][number]) => number): Point[] =>
    buckets.map((bucket) => [Math.max(0.5, bucket.to), value(bucket)])
  return {
    title,
    x: { label: 'term difference, up to (first: none)', scale: 'log' },
    y: { label: 'pairs', from: 0 },
    series: [
      { name: 'all pairs', kind: 'bars', points: points(({ pairs }) => pairs) },
      { name: 'incorrect', kind: 'points', points: points(({ incorrect }) => incorrect) },
      { name: 'undecided', kind: 'points', points: points(({ undecided }) => undecided) },
    ],
  }
}

/** Figure 5. */
export const agreeingBitsPlot = (title: string, { agreeingBits }: JobStatistics): Plot => ({
  title,
  x: { label: 'C-similarity' },
  y: { label: 'pairs', scale: 'log' },
  series: Array.from({ length: supershingleCount - 1 }, (_, i) => i + 2).map((b) => ({
    name: `B = ${b}`,
    kind: 'line',
    points: agreeingBits.flatMap((row) => point(row.cSimilarity, row.pairsBySupershingles[b] || null)),
  })),
})

/** Figure 6. */
export const cutOffPlot = (title: string, { cutOffs }: JobEvaluation): Plot => ({
  title,
  x: { label: 'least C-similarity' },
  y: { label: 'share', ...unit },
  series: [
    {
      name: 'precision, undecided are misses',
      kind: 'line',
      points: cutOffs.flatMap((row) => point(row.minAgreeingBits, row.precision.value)),
    },
    {
      name: 'R',
      kind: 'line',
      points: cutOffs.flatMap((row) => point(row.minAgreeingBits, row.correctKept.value)),
    },
  ],
})

/** Figure 7. */
export const precisionAgainstR = (title: string, { cutOffs }: JobEvaluation): Plot => ({
  title,
  x: { label: 'R', ...unit },
  y: { label: 'precision, undecided are misses', ...unit },
  series: [
    {
      name: 'combined, C-similarity from 320 to 384',
      kind: 'points',
      points: cutOffs.flatMap((row) => point(row.correctKept.value, row.precision.value)),
    },
  ],
})
