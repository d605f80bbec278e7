import {
  agreeingBitsPlot,
  cutOffPlot,
  degreePlot,
  differencePlot,
  point,
  precisionAgainstR,
  unit,
} from './job-plots.ts'
import type { LabelledEvaluation } from './labelled-evaluation.ts'
import type { Retrieval } from './precision.ts'
import { sketchAlgorithms } from './sketch-algorithm.ts'
import { type Plot, type Series, svgPlot } from './svg-plot.ts'

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
    [
      'figure-5.svg',
      agreeingBitsPlot(
        'Figure 5: C-similarity of the pairs of shingling, by B-similarity',
        joins.shingling.statistics,
      ),
    ],
    [
      'figure-6.svg',
      cutOffPlot('Figure 6: precision of the combined algorithm by its cut-off', joins.shingling.evaluation),
    ],
    [
      'figure-7.svg',
      precisionAgainstR('Figure 7: precision against R, for every cut-off', joins.shingling.evaluation),
    ],
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
