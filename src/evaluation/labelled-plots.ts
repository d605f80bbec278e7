import { supershingleCount } from '../signature/scheme.ts'
import type { DegreeDistribution } from './degrees.ts'
import type { LabelledEvaluation } from './labelled-evaluation.ts'
import type { Retrieval } from './precision.ts'
import { sketchAlgorithms } from './sketch-algorithm.ts'
import { type Plot, type Series, svgPlot } from './svg-plot.ts'
import type { TermDifferences } from './term-differences.ts'

type Point = readonly [number, number]

/** What has no value, such as the precision of nothing, is no point of a plot. */
const point = (x: number | null, y: number | null): Point[] => (x === null || y === null ? [] : [[x, y]])

const unit = { from: 0, to: 1 } as const

/** The plots of the report, SVG by file name. */
export const labelledPlots = (evaluation: LabelledEvaluation): [string, string][] => {
  const { joins } = evaluation
  const plots: [string, Plot][] = [
    ['precision-recall.svg', precisionAgainstRecall(evaluation)],
    ['simhash-threshold.svg', byThreshold(evaluation)],
    ['recall-by-length.svg', recallByLength(evaluation)],
    ['figure-1.svg', degreePlot('Figure 1: degrees under shingling', joins.shingling.statistics.degrees)],
    [
      'figure-2.svg',
      differencePlot('Figure 2: term differences of shingling', joins.shingling.evaluation.termDifferences),
    ],
    ['figure-3.svg', degreePlot('Figure 3: degrees under simhash', joins.simhash.statistics.degrees)],
    [
      'figure-4.svg',
      differencePlot('Figure 4: term differences of simhash', joins.simhash.evaluation.termDifferences),
    ],
    ['figure-5.svg', agreeingBitsPlot(evaluation)],
    ['figure-6.svg', cutOffPlot(evaluation)],
    ['figure-7.svg', precisionAgainstR(evaluation)],
  ]
  return plots.map(([name, plot]) => [name, svgPlot(plot)])
}

const curve = (name: string, rows: readonly { readonly all: Retrieval }[]): Series => ({
  name,
  kind: 'line',
  points: rows.flatMap(({ all }) => point(all.recall.value, all.precision.value)),
})

const precisionAgainstRecall = ({ sweeps, verified, exactMeasures }: LabelledEvaluation): Plot => ({
  title: 'Precision against recall, by threshold',
  x: { label: 'recall', ...unit },
  y: { label: 'precision, undecided are misses', ...unit },
  series: [
    curve('shingling, B ≥ 1 to 6', sweeps.shingling),
    curve('simhash, C ≥ 340 to 384', sweeps.simhash),
    curve(
      'combined, B ≥ 2 and C ≥ 340 to 384',
      sweeps.combined.filter(({ all }) => all.minSupershingles === 2),
    ),
    curve(
      'simhash at 372, resemblance ≥ 0 to 0.95',
      verified.map(({ algorithms }) => algorithms.simhash),
    ),
    ...exactMeasures.map(({ measure, thresholds }) => curve(`${measure}, 0.5 to 1`, thresholds)),
  ],
})

const byThreshold = ({ sweeps }: LabelledEvaluation): Plot => {
  const line = (name: string, value: (row: Retrieval) => number | null): Series => ({
    name,
    kind: 'line',
    points: sweeps.simhash.flatMap(({ all }) => point(all.minAgreeingBits, value(all))),
  })
  return {
    title: 'Simhash by its threshold',
    x: { label: 'least C-similarity' },
    y: { label: 'share', ...unit },
    series: [
      line('precision, undecided are misses', (row) => row.precision.value),
      line('precision over decided pairs', (row) => row.decidedPrecision.value),
      line('recall', (row) => row.recall.value),
    ],
  }
}

const recallByLength = ({ groups }: LabelledEvaluation): Plot => {
  const lengths = groups.filter(({ kind }) => kind === 'shorter page')
  return {
    title: 'Recall by length of the shorter page',
    x: { label: 'tokens of the shorter page, from', scale: 'log' },
    y: { label: 'recall', ...unit },
    series: sketchAlgorithms.map((algorithm) => ({
      name: algorithm,
      kind: 'line',
      points: lengths.flatMap(({ name, algorithms }) =>
        // The first group begins at 0, which a log scale has no place for.
        point(Math.max(10, Number.parseInt(name, 10)), algorithms[algorithm].recall.value),
      ),
    })),
  }
}

const degreePlot = (title: string, { degrees, powerLaw }: DegreeDistribution): Plot => ({
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

const differencePlot = (title: string, { buckets }: TermDifferences): Plot => {
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

const agreeingBitsPlot = ({ joins }: LabelledEvaluation): Plot => ({
  title: 'Figure 5: C-similarity of the pairs of shingling, by B-similarity',
  x: { label: 'C-similarity' },
  y: { label: 'pairs', scale: 'log' },
  series: Array.from({ length: supershingleCount - 1 }, (_, i) => i + 2).map((b) => ({
    name: `B = ${b}`,
    kind: 'line',
    points: joins.shingling.statistics.agreeingBits.flatMap((row) =>
      point(row.cSimilarity, row.pairsBySupershingles[b] || null),
    ),
  })),
})

const cutOffPlot = ({ joins }: LabelledEvaluation): Plot => ({
  title: 'Figure 6: precision of the combined algorithm by its cut-off',
  x: { label: 'least C-similarity' },
  y: { label: 'share', ...unit },
  series: [
    {
      name: 'precision, undecided are misses',
      kind: 'line',
      points: joins.shingling.evaluation.cutOffs.flatMap((row) =>
        point(row.minAgreeingBits, row.precision.value),
      ),
    },
    {
      name: 'R',
      kind: 'line',
      points: joins.shingling.evaluation.cutOffs.flatMap((row) =>
        point(row.minAgreeingBits, row.correctKept.value),
      ),
    },
  ],
})

const precisionAgainstR = ({ joins }: LabelledEvaluation): Plot => ({
  title: 'Figure 7: precision against R, for every cut-off',
  x: { label: 'R', ...unit },
  y: { label: 'precision, undecided are misses', ...unit },
  series: [
    {
      name: 'combined, C-similarity from 320 to 384',
      kind: 'points',
      points: joins.shingling.evaluation.cutOffs.flatMap((row) =>
        point(row.correctKept.value, row.precision.value),
      ),
    },
  ],
})
