import type { BySite, JobEvaluation } from './job-evaluation.ts'
import type { JobStatistics } from './job-statistics.ts'
import { markdownTable } from './markup.ts'
import type { Precision, Proportion } from './precision.ts'

export const share = (value: number | null): string => (value === null ? '–' : value.toFixed(3))
const mean = (value: number | null, digits = 1): string => (value === null ? '–' : value.toFixed(digits))
export const count = (value: number): string => value.toLocaleString('en-US')
export const withInterval = ({ value, low, high }: Proportion): string =>
  value === null ? '–' : `${share(value)} (${share(low)}–${share(high)})`
const withSample = (proportion: Proportion): string =>
  proportion.value === null ? '–' : `${withInterval(proportion)} of ${count(proportion.sampleSize)}`

const places = { all: 'all', sameSite: 'same site', differentSites: 'different sites' } as const
export const placesOf = <Row>(rows: BySite<Row>): [string, Row][] => [
  [places.all, rows.all],
  [places.sameSite, rows.sameSite],
  [places.differentSites, rows.differentSites],
]

const countColumns = ['pairs', 'correct', 'incorrect', 'undecided', 'not labelled']
const countCells = (row: Precision): string[] =>
  [row.pairs, row.correct, row.incorrect, row.undecided, row.unjudged].map(count)
export const precisionColumns = [...countColumns, 'precision', 'over decided']
export const precisionCells = (row: Precision): string[] => [
  ...countCells(row),
  withInterval(row.precision),
  withInterval(row.decidedPrecision),
]
export const toSixDigits = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value

export const precisionTable = ({ precision, bySupershingles, byAgreeingBits }: JobEvaluation): string =>
  markdownTable(
    ['', ...precisionColumns],
    [
      ...placesOf(precision).map(([place, row]): [string, Precision] => [place, row]),
      ...bySupershingles.map((row): [string, Precision] => [`B = ${row.bSimilarity}`, row]),
      ...byAgreeingBits.map((row): [string, Precision] => [`C ${row.from}–${row.to}`, row]),
    ].map(([name, row]) => [name, ...precisionCells(row)]),
  )

/** Tables 1 and 9. */
export const supershinglesTable = ({ bySupershingles }: JobStatistics): string =>
  markdownTable(
    ['B-similarity', 'pairs', 'share', 'on one site', 'mean C-similarity'],
    bySupershingles.map((row) => [
      `${row.bSimilarity}`,
      count(row.meanAgreeingBits.sampleSize),
      withInterval(row.share),
      withInterval(row.sameSite),
      mean(row.meanAgreeingBits.value),
    ]),
  )

/** Figures 2 and 4, Table 8. */
export const termDifferencesTable = (
  rows: readonly (readonly [name: string, evaluation: JobEvaluation])[],
): string =>
  markdownTable(
    [
      '',
      'pairs',
      'mean',
      'median',
      'exactly 2',
      'below 42',
      'below 44',
      'more than 200',
      'correct',
      'incorrect',
      'undecided',
    ],
    rows.map(([name, { termDifferences }]) => {
      const { over200 } = termDifferences
      return [
        name,
        count(termDifferences.pairs),
        mean(termDifferences.mean),
        mean(termDifferences.median, 0),
        ...[termDifferences.of2, termDifferences.below42, termDifferences.below44].map(withInterval),
        ...[over200.pairs, over200.correct, over200.incorrect, over200.undecided].map(count),
      ]
    }),
  )

/** Table 10. */
export const agreeingBitsTable = ({ byAgreeingBits }: JobStatistics): string =>
  markdownTable(
    ['C-similarity', 'pairs', 'share', 'mean B-similarity', ...[0, 1, 2, 3, 4, 5, 6].map((b) => `B = ${b}`)],
    byAgreeingBits.map((row) => [
      `${row.from}–${row.to}`,
      count(row.meanSupershingles.sampleSize),
      withInterval(row.share),
      mean(row.meanSupershingles.value, 2),
      ...row.pairsBySupershingles.map(count),
    ]),
  )

/** Table 11. */
export const cutOffTable = ({ cutOffs }: JobEvaluation): string =>
  markdownTable(
    ['C-similarity', ...precisionColumns, 'R'],
    cutOffs
      .filter(({ minAgreeingBits: bits }) => (bits >= 351 && bits <= 359) || bits % 10 === 0)
      .map((row) => [`≥ ${row.minAgreeingBits}`, ...precisionCells(row), withInterval(row.correctKept)]),
  )

export const degreesExplained =
  'A page is a node, a pair an edge. Exponent a of nodes ∝ degree⁻ᵃ: by a straight line through the points of the log-log plot, as the paper fits it, and by maximum likelihood (discrete, from degree 1), which does not overrate the few nodes of high degree.'

/** Figures 1 and 3. */
export const degreesTable = (rows: readonly (readonly [name: string, statistics: JobStatistics])[]): string =>
  markdownTable(
    [
      '',
      'pages',
      'pairs',
      'mean degree',
      'largest',
      'least squares',
      'r²',
      'maximum likelihood',
      'standard error',
      'pairs on one site',
    ],
    rows.map(([name, { degrees, sameSite }]) => {
      const { leastSquares, maximumLikelihood } = degrees.powerLaw
      return [
        name,
        count(degrees.nodes),
        count(degrees.pairs),
        mean(degrees.averageDegree, 2),
        count(degrees.largestDegree),
        mean(leastSquares?.exponent ?? null, 2),
        mean(leastSquares?.r2 ?? null, 2),
        mean(maximumLikelihood?.exponent ?? null, 2),
        mean(maximumLikelihood?.standardError ?? null, 3),
        withSample(sameSite),
      ]
    }),
  )
