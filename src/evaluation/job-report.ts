import type { JobEvaluation } from './job-evaluation.ts'
import { agreeingBitsPlot, cutOffPlot, degreePlot, differencePlot, precisionAgainstR } from './job-plots.ts'
import type { JobStatistics } from './job-statistics.ts'
import {
  agreeingBitsTable,
  count,
  cutOffTable,
  degreesExplained,
  degreesTable,
  precisionTable,
  supershinglesTable,
  termDifferencesTable,
  toSixDigits,
} from './job-tables.ts'
import { escapeMarkdown } from './markup.ts'
import { svgPlot } from './svg-plot.ts'

/** A join of a service, as its routes answer. */
export type EvaluatedJob = {
  readonly title: string
  readonly id: string
  /** What was asked for. */
  readonly request: { readonly algorithm: string }
  readonly evaluation: JobEvaluation
  readonly statistics: JobStatistics
}

/**
 * The report on a join and its judgements, by file name: `report.md`, its plots, and all numbers as `numbers.json`. It has
 * numbers only: no page, no URL and no id of a document.
 */
export const jobReport = (job: EvaluatedJob): ReadonlyMap<string, string> => {
  const { evaluation, statistics } = job
  const plots = {
    'degrees.svg': degreePlot('Degrees (Figures 1 and 3)', statistics.degrees),
    'term-differences.svg': differencePlot(
      'Term differences of judged pairs (Figures 2 and 4)',
      evaluation.termDifferences,
    ),
    'agreeing-bits.svg': agreeingBitsPlot('C-similarity by B-similarity (Figure 5)', statistics),
    'cut-offs.svg': cutOffPlot('Precision and R by least C-similarity (Figure 6)', evaluation),
    'precision-r.svg': precisionAgainstR('Precision against R, for every cut-off (Figure 7)', evaluation),
  }
  return new Map([
    ['report.md', `${[...sections(job)].join('\n\n')}\n`],
    ['numbers.json', `${JSON.stringify(job, toSixDigits)}\n`],
    ...Object.entries(plots).map(([name, plot]): [string, string] => [name, svgPlot(plot)]),
  ])
}

function* sections({ title, id, request, evaluation, statistics }: EvaluatedJob): Generator<string> {
  const { algorithm } = request
  const { all } = evaluation.precision
  yield `# ${escapeMarkdown(title)}`
  yield `The join \`${id}\` by ${algorithm}: ${count(statistics.pairs)} pairs, ${count(all.pairs - all.unjudged)} of them judged. All numbers are in [numbers.json](numbers.json); what it was asked for is there as well.`
  yield `Precision is correct over judged pairs, so that an undecided pair is a miss, as in the paper; *over decided* leaves undecided pairs out. Intervals in brackets: ${evaluation.interval}. It is that of the join if the judged pairs are a sample of it.`
  yield '## Precision (Tables 2, 5 and 12)'
  yield precisionTable(evaluation)
  yield '## Pairs by B-similarity (Tables 1 and 9)'
  yield supershinglesTable(statistics)
  yield '## Pairs by C-similarity (Table 10)'
  yield agreeingBitsTable(statistics)
  yield '![C-similarity by B-similarity](agreeing-bits.svg)'
  yield '## Cut-offs by C-similarity (Table 11)'
  yield 'R is the share of the correct pairs that are left at a cut-off.'
  yield cutOffTable(evaluation)
  yield '![Precision and R](cut-offs.svg) ![Precision against R](precision-r.svg)'
  yield '## Term differences of the judged pairs (Table 8)'
  yield termDifferencesTable([[algorithm, evaluation]])
  yield '![Term differences](term-differences.svg)'
  yield '## Degrees'
  yield degreesExplained
  yield degreesTable([[algorithm, statistics]])
  yield '![Degrees](degrees.svg)'
}
