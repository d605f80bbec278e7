import { type Algorithm, defaultThresholds } from '../detect/decide.ts'
import type { Spread } from './hash-families.ts'
import type { BySite } from './job-evaluation.ts'
import {
  agreeingBitsTable,
  count,
  cutOffTable,
  degreesExplained,
  degreesTable,
  placesOf,
  precisionCells,
  precisionColumns,
  precisionTable,
  share,
  supershinglesTable,
  termDifferencesTable,
  toSixDigits,
  withInterval,
} from './job-tables.ts'
import { judgedOf, type LabelCounts } from './label.ts'
import type { LabelledEvaluation } from './labelled-evaluation.ts'
import { labelledPlots } from './labelled-plots.ts'
import { escapeMarkdown, markdownTable } from './markup.ts'
import { intervalMethod, type Retrieval } from './precision.ts'
import { sketchAlgorithms } from './sketch-algorithm.ts'

export type About = {
  readonly title: string
  /** The signature scheme, as a database remembers it. */
  readonly scheme: string
  /** What makes this report again. */
  readonly command: string
}

const retrievalColumns = [...precisionColumns, 'recall', 'F1', 'F1 over decided']
const retrievalCells = (row: Retrieval): string[] => [
  ...precisionCells(row),
  withInterval(row.recall),
  share(row.f1),
  share(row.decidedF1),
]
const sweepColumns = ['pairs', 'precision', 'over decided', 'recall', 'F1', 'F1 over decided']
const sweepCells = (row: Retrieval): string[] => [
  count(row.pairs),
  share(row.precision.value),
  share(row.decidedPrecision.value),
  share(row.recall.value),
  share(row.f1),
  share(row.decidedF1),
]

const { minSupershingles, minAgreeingBits, combinedMinAgreeingBits } = defaultThresholds
const meanings: Readonly<Record<Algorithm, string>> = {
  shingling: `B ≥ ${minSupershingles}`,
  simhash: `C ≥ ${minAgreeingBits}`,
  combined: `B ≥ ${minSupershingles} and C ≥ ${combinedMinAgreeingBits}`,
  'site-aware': 'combined on one site, simhash across sites',
  identical: 'equal token sequences',
}
const algorithmNames = [...sketchAlgorithms, 'identical'] as const

/**
 * The report on a labelled collection: `report.md`, its plots, and all its numbers as `numbers.json`; and the main table
 * as plain text. It has numbers only: no page, no URL and no id.
 */
export const labelledReport = (
  evaluation: LabelledEvaluation,
  about: About,
): { readonly files: ReadonlyMap<string, string>; readonly summary: string } => {
  const plots = labelledPlots(evaluation)
  const files = new Map<string, string>([
    ['report.md', `${[...sections(evaluation, about)].join('\n\n')}\n`],
    ['numbers.json', `${JSON.stringify({ about, ...evaluation }, toSixDigits)}\n`],
    ...plots,
  ])
  return { files, summary: summaryOf(evaluation, about) }
}

const summaryOf = (evaluation: LabelledEvaluation, { title }: About): string => {
  const header = ['algorithm', 'place', 'pairs', 'precision', 'decided', 'recall', 'F1', 'F1 decided']
  const rows = algorithmNames.flatMap((name) =>
    placesOf(evaluation.algorithms[name]).map(([place, row]) => [name, place, ...sweepCells(row)]),
  )
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map((cells) => (cells[i] ?? '').length)))
  const lines = [header, ...rows].map((cells) =>
    cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  )
  return [title, ...lines].join('\n')
}

function* sections(evaluation: LabelledEvaluation, about: About): Generator<string> {
  yield* introduction(evaluation, about)
  yield* mainTables(evaluation)
  yield* sweepTables(evaluation)
  yield* groupTables(evaluation)
  yield* paperTables(evaluation)
}

function* introduction(
  { collection, labelled, siteRule }: LabelledEvaluation,
  about: About,
): Generator<string> {
  yield `# ${escapeMarkdown(about.title)}`
  yield 'Made by this command, which prints the main table too; all numbers are in [numbers.json](numbers.json).'
  yield `\`\`\`sh\n${about.command}\n\`\`\``
  yield [
    `- **Pages**: ${count(collection.pages)} of ${count(collection.sites)} sites, ${count(collection.identitySets)} different`,
    `  token sequences, ${count(collection.pagesWithoutTokens)} without tokens; median length ${count(collection.medianTokens)} tokens.`,
    `- **Scheme**: \`${about.scheme}\`. Pages went the way of posted documents: bytes, page text, tokens, signature, store.`,
    `- **Pairs**: all ${count(collection.pairsCompared)} pairs were compared by their signatures, without an index, so that nothing is missing`,
    '  but what the sketches themselves miss.',
    `- **One site** is decided by: \`${siteRule}\`.`,
    `- **Precision** is correct over labelled pairs, so that an undecided pair is a miss, as in the paper; *over decided* leaves`,
    '  undecided pairs out. **Recall** is the share of the pairs labelled correct that were returned; it is that of the',
    '  collection only if every correct pair has a label. Pairs without a label count in neither.',
    `- **Intervals** in brackets: ${intervalMethod}. They take pairs as independent. Pairs of one template are not, so read them as too narrow.`,
  ].join('\n')
  yield markdownTable(
    ['labelled pairs', 'all', 'correct', 'incorrect', 'undecided'],
    placesOf<LabelCounts>(labelled).map(([place, row]) => [
      place,
      ...[judgedOf(row), row.correct, row.incorrect, row.undecided].map(count),
    ]),
  )
  if (labelled.pairsOfUnknownPages > 0)
    yield `${count(labelled.pairsOfUnknownPages)} more labelled pairs name a page that is not in the collection.`
}

function* mainTables(evaluation: LabelledEvaluation): Generator<string> {
  const { algorithms, siteAwareByRule, hashFamilies, agreement, withoutCommonShingle } = evaluation
  yield '## Precision and recall by algorithm'
  for (const name of algorithmNames) {
    yield `**${name}**: ${meanings[name]}`
    yield markdownTable(
      ['', ...retrievalColumns],
      placesOf(algorithms[name]).map(([place, row]) => [place, ...retrievalCells(row)]),
    )
  }
  const left = judgedOf(withoutCommonShingle) + withoutCommonShingle.unjudged
  yield `The service leaves out of site-aware answers what has no shingle in common. Here that would be ${count(left)} pairs, ${count(withoutCommonShingle.correct)} of them correct; the tables keep them, as the paper does.`
  yield '![Precision against recall](precision-recall.svg)'
  if (hashFamilies !== null) {
    yield '### What another hash family would change'
    yield `The sketches are random: the same algorithm with other hash functions returns other pairs near its threshold. The labelled pairs were compared again under ${count(hashFamilies.families)} other families; each cell is the mean and the standard deviation of one family.`
    yield markdownTable(
      ['', 'precision', 'over decided', 'recall'],
      sketchAlgorithms.flatMap((name) =>
        placesOf(hashFamilies.algorithms[name]).map(([place, row]) => [
          `${name}, ${place}`,
          ...[row.precision, row.decidedPrecision, row.recall].map(spread),
        ]),
      ),
    )
  }
  yield '### Site-aware under each site rule'
  yield markdownTable(
    ['', 'sites', ...sweepColumns],
    siteAwareByRule.flatMap(({ rule, sites, ...rows }) =>
      placesOf<Retrieval>(rows).map(([place, row]) => [
        `\`${rule}\`, ${place}`,
        count(sites),
        ...sweepCells(row),
      ]),
    ),
  )
  yield '### Agreement between algorithms'
  yield 'Of the pairs that the algorithm of the row returns, the share that the one of the column returns too.'
  yield markdownTable(
    ['', 'pairs', ...sketchAlgorithms],
    agreement.map(({ algorithm, pairs, alsoReturnedBy }) => [
      algorithm,
      count(pairs),
      ...sketchAlgorithms.map((other) => share(alsoReturnedBy[other].value)),
    ]),
  )
}

const spread = (value: Spread | null): string =>
  value === null
    ? '–'
    : `${share(value.mean)}${value.standardDeviation === null ? '' : ` ± ${share(value.standardDeviation)}`}`

/** C-similarities whose rows the report shows; the file of numbers has all. */
const shownAgreeingBits = [340, 345, 350, 355, 360, 364, 366, 368, 370, 372, 374, 376, 378, 380, 382, 384]
const isShown = (row: BySite<{ minAgreeingBits: number }>): boolean =>
  shownAgreeingBits.includes(row.all.minAgreeingBits)

function* sweepTables({ sweeps, verified, exactMeasures }: LabelledEvaluation): Generator<string> {
  const columns = [
    '',
    ...sweepColumns,
    'precision, same site',
    'recall, same site',
    'precision, different',
    'recall, different',
  ]
  const cells = (row: BySite<Retrieval>): string[] => [
    ...sweepCells(row.all),
    ...[row.sameSite, row.differentSites].flatMap(({ precision, recall }) => [
      share(precision.value),
      share(recall.value),
    ]),
  ]
  yield '## Thresholds'
  yield '### Shingling: least B-similarity'
  yield markdownTable(
    columns,
    sweeps.shingling.map((row) => [`B ≥ ${row.all.minSupershingles}`, ...cells(row)]),
  )
  yield '### Simhash: least C-similarity'
  yield markdownTable(
    columns,
    sweeps.simhash.filter(isShown).map((row) => [`C ≥ ${row.all.minAgreeingBits}`, ...cells(row)]),
  )
  yield '![Precision and recall of simhash by its threshold](simhash-threshold.svg)'
  yield '### Combined: both'
  yield markdownTable(
    columns,
    sweeps.combined.map((row) => [
      `B ≥ ${row.all.minSupershingles}, C ≥ ${row.all.minAgreeingBits}`,
      ...cells(row),
    ]),
  )
  yield '### With a least resemblance'
  yield 'What is left at the default thresholds when a query asks for `minResemblance` too, over the labelled pairs.'
  for (const name of ['simhash', 'site-aware'] as const)
    yield markdownTable(
      columns,
      verified.map(({ minResemblance, algorithms }) => [
        `${name}, resemblance ≥ ${minResemblance}`,
        ...cells(algorithms[name]),
      ]),
    )
  for (const { measure, thresholds } of exactMeasures) {
    yield `### Exact measure: ${measure}`
    yield 'Over the labelled pairs only: a pair without a label is not looked at.'
    yield markdownTable(
      columns,
      thresholds
        .filter(({ threshold }) => Math.round(threshold * 100) % 5 === 0 || threshold > 0.95)
        .map(({ threshold, ...rows }) => [`≥ ${threshold.toFixed(2)}`, ...cells(rows)]),
    )
  }
}

function* groupTables({ groups }: LabelledEvaluation): Generator<string> {
  yield '## By group of labelled pairs'
  yield 'Precision (undecided are misses) and recall of each algorithm within the group.'
  for (const [kind, heading] of [
    ['stratum', 'how the pair came into the files'],
    ['reason', 'label and its reason: the share that is returned'],
    ['shorter page', 'length of the shorter page'],
  ] as const) {
    yield `### By ${heading}`
    const rows = groups.filter((group) => group.kind === kind)
    if (kind === 'reason') {
      yield markdownTable(
        ['', 'pairs', ...sketchAlgorithms],
        rows.map(({ name, labelled, algorithms }) => [
          escapeMarkdown(name),
          count(judgedOf(labelled)),
          ...sketchAlgorithms.map((algorithm) => share(algorithms[algorithm].pairs / judgedOf(labelled))),
        ]),
      )
      continue
    }
    yield markdownTable(
      ['', 'pairs', 'correct', ...sketchAlgorithms.flatMap((name) => [`${name}: precision`, 'recall'])],
      rows.map(({ name, labelled, algorithms }) => [
        escapeMarkdown(name),
        count(judgedOf(labelled)),
        count(labelled.correct),
        ...sketchAlgorithms.flatMap((algorithm) => [
          share(algorithms[algorithm].precision.value),
          share(algorithms[algorithm].recall.value),
        ]),
      ]),
    )
    if (kind === 'shorter page') yield '![Recall by length of the shorter page](recall-by-length.svg)'
  }
}

function* paperTables({ joins }: LabelledEvaluation): Generator<string> {
  const { shingling, simhash, combined } = joins
  yield '## The tables and figures of the paper, for this collection'
  yield 'Henzinger, *Finding near-duplicate web pages*, SIGIR 2006. B is shingling, C simhash.'
  yield '### Table 1: pairs by B-similarity; Table 9: their mean C-similarity'
  yield supershinglesTable(shingling.statistics)
  yield '### Table 2: precision of shingling'
  yield precisionTable(shingling.evaluation)
  yield '### Table 5: precision of simhash'
  yield precisionTable(simhash.evaluation)
  yield '### Term differences (Figures 2 and 4), and Table 8: more than 200 terms'
  yield termDifferencesTable(sketchAlgorithms.map((name) => [name, joins[name].evaluation]))
  yield '![Figure 2](figure-2.svg) ![Figure 4](figure-4.svg)'
  yield '### Table 10: mean B-similarity by C-similarity, of simhash'
  yield agreeingBitsTable(simhash.statistics)
  yield '![Figure 5](figure-5.svg)'
  yield '### Table 11: cut-offs of the combined algorithm'
  yield 'R is the share of the correct pairs of shingling that are left.'
  yield cutOffTable(shingling.evaluation)
  yield '![Figure 6](figure-6.svg) ![Figure 7](figure-7.svg)'
  yield `### Table 12: the combined algorithm at ${combinedMinAgreeingBits}`
  yield precisionTable(combined.evaluation)
  yield '### Degree distributions (Figures 1 and 3)'
  yield degreesExplained
  yield degreesTable(sketchAlgorithms.map((name) => [name, joins[name].statistics]))
  yield '![Figure 1](figure-1.svg) ![Figure 3](figure-3.svg)'
}
