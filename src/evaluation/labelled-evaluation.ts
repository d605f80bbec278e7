import { type Algorithm, defaultThresholds } from '../detect/decide.ts'
import { cosine, jaccard, resemblance } from '../detect/resemblance.ts'
import { sameSite } from '../page/site.ts'
import { simhashBits, supershingleCount } from '../signature/scheme.ts'
import {
  Collection,
  type EvaluatedPage,
  type EvaluationSiteRule,
  type FoundPair,
  siteRules,
  sketchPair,
} from './collection.ts'
import { type FamilySpread, spreadOverFamilies } from './hash-families.ts'
import { type BySite, bySite, type JobEvaluation, selectionOf } from './job-evaluation.ts'
import type { JobStatistics } from './job-statistics.ts'
import { JoinRecord } from './join-record.ts'
import type { Label, LabelCounts } from './label.ts'
import type { LabelledPair } from './labelled-pairs.ts'
import { PairTally, type Selection } from './pair-tally.ts'
import { type Proportion, precisionOf, proportion, type Retrieval, retrievalOf } from './precision.ts'
import { SimilarityTally, similaritySteps } from './similarity-tally.ts'
import { mapAlgorithms, type SketchAlgorithm, sketchAlgorithms } from './sketch-algorithm.ts'
import type { Vocabulary } from './vocabulary.ts'

export type EvaluationOptions = {
  readonly siteRule: EvaluationSiteRule
  /** Other hash families under which the labelled pairs are compared again. */
  readonly hashFamilies: number
}

const exactMeasures = ['shingle Jaccard', 'token Jaccard', 'token cosine'] as const

type AlgorithmSweep = Retrieval & {
  readonly minSupershingles: number
  readonly minAgreeingBits: number
}

type GroupRow = {
  readonly kind: 'stratum' | 'reason' | 'shorter page'
  readonly name: string
  readonly labelled: LabelCounts
  readonly algorithms: Readonly<Record<SketchAlgorithm, Retrieval>>
}

export type LabelledEvaluation = {
  readonly collection: {
    readonly pages: number
    readonly pagesWithoutTokens: number
    readonly identitySets: number
    readonly sites: number
    readonly medianTokens: number
    readonly pairsCompared: number
  }
  readonly labelled: BySite<LabelCounts> & { readonly pairsOfUnknownPages: number }
  readonly siteRule: EvaluationSiteRule
  readonly algorithms: Readonly<Record<Algorithm, BySite<Retrieval>>>
  /** Returned by site-aware, which the service leaves out because the pages have no shingle in common. */
  readonly withoutCommonShingle: LabelCounts
  readonly siteAwareByRule: readonly ({
    readonly rule: EvaluationSiteRule
    readonly sites: number
  } & BySite<Retrieval>)[]
  readonly hashFamilies: FamilySpread | null
  readonly agreement: readonly {
    readonly algorithm: Algorithm
    readonly pairs: number
    readonly alsoReturnedBy: Readonly<Record<SketchAlgorithm, Proportion>>
  }[]
  readonly sweeps: Readonly<Record<'shingling' | 'simhash' | 'combined', readonly BySite<AlgorithmSweep>[]>>
  readonly exactMeasures: readonly {
    readonly measure: (typeof exactMeasures)[number]
    readonly thresholds: readonly ({ readonly threshold: number } & BySite<Retrieval>)[]
  }[]
  /** What is left of the labelled pairs that each algorithm returns, by the least resemblance that a query asks for. */
  readonly verified: readonly {
    readonly minResemblance: number
    readonly algorithms: Readonly<Record<SketchAlgorithm, BySite<Retrieval>>>
  }[]
  readonly groups: readonly GroupRow[]
  readonly joins: Readonly<
    Record<SketchAlgorithm, { readonly evaluation: JobEvaluation; readonly statistics: JobStatistics }>
  >
}

/** Least C-similarity of the sweeps. */
const lowestAgreeingBits = 340
/** C-similarities of the sweep over both thresholds; Table 11 has all of them for the default B-similarity. */
const combinedAgreeingBits = [340, 345, 350, 355, 360, 365, 370, 375, 380, 384]
/** Values of the query parameter `minResemblance`. */
const leastResemblances = [0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
/** Least threshold of the exact measures in hundredths: below it the labels need not be complete. */
const lowestExactStep = 50
/**
 * Joins the pages under every algorithm and compares the result with the labelled pairs. All signatures are compared
 * with each other (see `compareAll`), so that nothing an index might miss is missing, and the sweeps see pairs
 * below the default thresholds. Quadratic in pages; memory: the terms of all pages.
 */
export const evaluateLabelled = (
  pages: readonly EvaluatedPage[],
  labelledPairs: readonly LabelledPair[],
  vocabulary: Vocabulary,
  options: EvaluationOptions,
): LabelledEvaluation => {
  const collection = new Collection(pages, vocabulary)
  const pairs = collection.find(labelledPairs)
  const sites = collection.sites(options.siteRule)
  const total = new PairTally()
  const identical = new PairTally()
  const joins = new Map(sketchAlgorithms.map((algorithm) => [algorithm, new JoinRecord(algorithm)]))
  const byRule = siteRules.map((rule) => ({ rule, sites: collection.sites(rule), tally: new PairTally() }))
  const withoutCommonShingle = new PairTally()

  const labelOf = labelLookup(pairs)
  const siteAware = selectionOf('site-aware')
  const add = (i: number, j: number, b: number, c: number): void => {
    const label = labelOf(i, j)
    const pair = { bSimilarity: b, cSimilarity: c, sameSite: sameSite(sites[i] ?? null, sites[j] ?? null) }
    total.add(pair, label)
    for (const one of byRule)
      one.tally.add({ ...pair, sameSite: sameSite(one.sites[i] ?? null, one.sites[j] ?? null) }, label)
    // Nearly all pairs end here.
    if (b < defaultThresholds.minSupershingles && c < defaultThresholds.minAgreeingBits) return
    if (b === supershingleCount && pages[i]?.contentHash === pages[j]?.contentHash) identical.add(pair, label)
    for (const join of joins.values()) if (join.selects(pair)) join.add(i, j, pair, label)
    if (b === 0 && !pair.sameSite && siteAware(pair) && collection.commonShingles(i, j) === 0)
      withoutCommonShingle.add(pair, label)
  }
  collection.compareAll(add)

  const correct = (tally: PairTally) => (place: Selection) => tally.count(place).correct
  const retrieval = (tally: PairTally, selection: Selection, allCorrect = correct(total)) =>
    bySite((place) =>
      retrievalOf(
        tally.count((pair) => place(pair) && selection(pair)),
        allCorrect(place),
      ),
    )
  const algorithms = {
    ...mapAlgorithms((algorithm) => retrieval(total, selectionOf(algorithm))),
    identical: retrieval(identical, () => true),
  }
  const judged = judgeLabelled(pairs, collection, sites)
  return {
    collection: { ...collection.describe(), sites: new Set(sites.filter((site) => site !== null)).size },
    labelled: {
      ...bySite((place) => judged.total.count(place)),
      pairsOfUnknownPages: labelledPairs.length - pairs.length,
    },
    siteRule: options.siteRule,
    algorithms,
    withoutCommonShingle: withoutCommonShingle.count(() => true),
    siteAwareByRule: byRule.map(({ rule, sites, tally }) => ({
      rule,
      sites: new Set(sites.filter((site) => site !== null)).size,
      ...retrieval(tally, siteAware, correct(tally)),
    })),
    hashFamilies:
      options.hashFamilies === 0 ? null : spreadOverFamilies(pairs, collection, sites, options.hashFamilies),
    agreement: agreementOf(total, identical),
    sweeps: {
      shingling: supershingleSteps().map((b) => sweepRow(total, b, 0)),
      simhash: agreeingBitsSteps().map((c) => sweepRow(total, 0, c)),
      combined: supershingleSteps().flatMap((b) => combinedAgreeingBits.map((c) => sweepRow(total, b, c))),
    },
    exactMeasures: judged.measures.map(({ measure, tally }) => ({
      measure,
      thresholds: exactSteps().map((step) => {
        const row = (same: boolean | null): Retrieval =>
          retrievalOf(
            tally.count(step, Number.POSITIVE_INFINITY, same),
            tally.count(0, Number.POSITIVE_INFINITY, same).correct,
          )
        const threshold = step / similaritySteps
        return { threshold, all: row(null), sameSite: row(true), differentSites: row(false) }
      }),
    })),
    verified: judged.verified.map(({ minResemblance, tally }) => ({
      minResemblance,
      algorithms: mapAlgorithms((algorithm) =>
        retrieval(tally, selectionOf(algorithm), correct(judged.total)),
      ),
    })),
    groups: judged.groups.map(({ kind, name, tally }) => {
      const labelled = tally.count(() => true)
      return {
        kind,
        name,
        labelled,
        algorithms: mapAlgorithms((algorithm) =>
          retrievalOf(tally.count(selectionOf(algorithm)), labelled.correct),
        ),
      }
    }),
    joins: mapAlgorithms((algorithm) => (joins.get(algorithm) as JoinRecord).result(collection)),
  }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)
const supershingleSteps = () => range(1, supershingleCount)
const agreeingBitsSteps = () => range(lowestAgreeingBits, simhashBits)
const exactSteps = () => range(lowestExactStep, similaritySteps)

const sweepRow = (tally: PairTally, minSupershingles: number, minAgreeingBits: number) =>
  bySite((place) => {
    const selected = tally.count(
      (pair) => place(pair) && pair.bSimilarity >= minSupershingles && pair.cSimilarity >= minAgreeingBits,
    )
    return { minSupershingles, minAgreeingBits, ...retrievalOf(selected, tally.count(place).correct) }
  })

/** The label of a pair by positions, lower first; null where it has none. */
const labelLookup = (pairs: readonly FoundPair[]): ((i: number, j: number) => Label | null) => {
  const rows = new Map<number, Map<number, Label>>()
  for (const { i, j, pair } of pairs) {
    const row = rows.get(i) ?? new Map<number, Label>()
    rows.set(i, row.set(j, pair.label))
  }
  return (i, j) => rows.get(i)?.get(j) ?? null
}

type Group = { readonly kind: GroupRow['kind']; readonly name: string; readonly tally: PairTally }

/** Tallies of the labelled pairs: of all, by groups, by the exact measures, and of those that resemble each other enough. */
const judgeLabelled = (
  pairs: readonly FoundPair[],
  collection: Collection,
  sites: readonly (string | null)[],
) => {
  const total = new PairTally()
  const groups = new Map<string, Group>()
  const measures = exactMeasures.map((measure) => ({ measure, tally: new SimilarityTally() }))
  const verified = leastResemblances.map((minResemblance) => ({ minResemblance, tally: new PairTally() }))
  const signatures = collection.pages.map(({ signature }) => signature)
  for (const found of pairs) {
    const { i, j, pair } = found
    const sketched = sketchPair(found, signatures, sites)
    total.add(sketched, pair.label)
    for (const [kind, name] of groupsOf(pair, Math.min(collection.length(i), collection.length(j)))) {
      const group = groups.get(`${kind} ${name}`) ?? { kind, name, tally: new PairTally() }
      groups.set(`${kind} ${name}`, group)
      group.tally.add(sketched, pair.label)
    }
    const [a, b] = [collection.terms(i), collection.terms(j)]
    const values = {
      'shingle Jaccard': resemblance(collection.shingles(i), collection.shingles(j)).value,
      'token Jaccard': jaccard(a, b),
      'token cosine': Math.min(1, cosine(a, b)), // rounding may lift it over 1
    }
    for (const { minResemblance, tally } of verified)
      if (values['shingle Jaccard'] >= minResemblance) tally.add(sketched, pair.label)
    for (const { measure, tally } of measures) tally.add(values[measure], sketched.sameSite, pair.label)
  }
  return { total, groups: [...groups.values()].sort(inOrder), measures, verified }
}

/** Ends of the length groups of the shorter page, in tokens. */
const lengthGroups = [0, 50, 100, 200, 400, 800, 1600]

const groupsOf = (pair: LabelledPair, shorterLength: number): [GroupRow['kind'], string][] => {
  const at = lengthGroups.findLastIndex((least) => least <= shorterLength)
  const next = lengthGroups[at + 1]
  const length = `${lengthGroups[at]} ${next === undefined ? 'tokens or more' : `to ${next - 1} tokens`}`
  return [
    ...pair.strata.map((stratum): [GroupRow['kind'], string] => ['stratum', stratum]),
    ['reason', `${pair.label}: ${pair.reason ?? 'no reason given'}`],
    ['shorter page', length],
  ]
}

const kinds: readonly GroupRow['kind'][] = ['stratum', 'reason', 'shorter page']

/** By kind; lengths by their number and the others by name. */
const inOrder = (x: Group, y: Group): number =>
  kinds.indexOf(x.kind) - kinds.indexOf(y.kind) ||
  (x.kind === 'shorter page' ? Number.parseInt(x.name, 10) - Number.parseInt(y.name, 10) : 0) ||
  (x.name < y.name ? -1 : 1)

/** For each algorithm, how many of its pairs each of the others returns too. */
const agreementOf = (total: PairTally, identical: PairTally): LabelledEvaluation['agreement'] => {
  const sizeOf = (tally: PairTally, selection: Selection): number => precisionOf(tally.count(selection)).pairs
  const row = (algorithm: Algorithm, tally: PairTally, selection: Selection) => {
    const pairs = sizeOf(tally, selection)
    const alsoReturnedBy = mapAlgorithms((other) => {
      const selects = selectionOf(other)
      return proportion(
        sizeOf(tally, (pair) => selection(pair) && selects(pair)),
        pairs,
      )
    })
    return { algorithm, pairs, alsoReturnedBy }
  }
  return [
    ...sketchAlgorithms.map((algorithm) => row(algorithm, total, selectionOf(algorithm))),
    row('identical', identical, () => true),
  ]
}
