import { termDifference } from '../detect/difference.ts'
import { DittographError } from '../errors.ts'
import { evaluateJob, type JobEvaluation } from '../evaluation/job-evaluation.ts'
import { describeJob, type JobStatistics } from '../evaluation/job-statistics.ts'
import type { Label } from '../evaluation/label.ts'
import { PairSample } from '../evaluation/pair-sample.ts'
import { PairTally } from '../evaluation/pair-tally.ts'
import { SimilarityTally } from '../evaluation/similarity-tally.ts'
import { type TermDifferences, TermDifferenceTally } from '../evaluation/term-differences.ts'
import { decodeCursor, encodeCursor } from '../service/cursor.ts'
import type { EvaluationService, Judgement, SampledPair, SampleView } from '../service/evaluation-service.ts'
import type { PageQuery } from '../service/job-service.ts'
import { createPacer } from '../service/pacer.ts'
import { CellTable } from './cell-table.ts'
import { JoinDegrees } from './join-degrees.ts'
import type { JoinReader, SetPairRow } from './join-reader.ts'
import { pairsOnDifferentSites, pairsOnSameSite } from './join-writer.ts'
import type { JudgementBook, JudgementRecord } from './judgement-book.ts'
import { randomRanks } from './random-ranks.ts'

/** What the evaluation asks of the stored documents. */
export type EvaluatedDocuments = {
  /** Hash of the content in hexadecimal; null where there is no such document. */
  readonly contentOf: (id: string) => Promise<string | null>
  /** The tokens in order; null where there is no such document, or no text of it. */
  readonly termsOf: (id: string) => Promise<readonly string[] | null>
}

export type EvaluationsOptions = {
  /** Opens the result of a join by its id, for the caller to close. Throws `job_not_found` and `job_has_no_result`. */
  readonly openJoin: (id: string) => { readonly reader: JoinReader; readonly pairs: number }
  readonly judgements: JudgementBook
  readonly documents: EvaluatedDocuments
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Judged pairs whose texts are compared; of more a random sample. */
const mostTermDifferences = 2000
const sampleSeed = 1
const judgementsAtOnce = 1000
const statisticsRemembered = 8
const listQuery = 'judgements'

type JudgedPair = {
  readonly a: string
  readonly b: string
  readonly label: Label
  readonly isOnOneSite: boolean
}

const inOrder = (a: string, b: string): readonly [string, string] => (a < b ? [a, b] : [b, a])

const keyOf = (a: number, b: number): string => `${Math.min(a, b)} ${Math.max(a, b)}`

/**
 * The paper's evaluation on the joins of a collection. Results are gone through row by row, with pauses for others: a row
 * stands for all pairs of two identity sets, so that hot clusters cost what their sets cost and not their pairs.
 *
 * Source: Henzinger 2006, section 3.1.
 */
export class Evaluations implements EvaluationService {
  readonly #options: EvaluationsOptions
  /** Of results, which never change; the one that was used last at the end. */
  readonly #statistics = new Map<string, JobStatistics>()

  constructor(options: EvaluationsOptions) {
    this.#options = options
  }

  async sample(job: string, { size, seed }: { size: number; seed: number }): Promise<SampleView> {
    const { reader, pairs: population } = this.#options.openJoin(job)
    try {
      const drawn = randomRanks(population, size, seed)
      const order = drawn.map((_, i) => i).sort((x, y) => (drawn[x] as number) - (drawn[y] as number))
      const cells = new CellTable(reader)
      const pairs: SampledPair[] = new Array(drawn.length)
      const pace = createPacer()
      let next = 0
      let passed = 0
      for (const row of reader.setPairs()) {
        const end = passed + row.sameSitePairs + row.differentSitePairs
        for (; next < order.length && (drawn[order[next] as number] as number) < end; next++) {
          const place = order[next] as number
          const pair = reader.pairOf(row, ...cells.pairAt(row, (drawn[place] as number) - passed))
          pairs[place] = { ...pair, label: this.#options.judgements.get(pair.a, pair.b)?.label ?? null }
        }
        if (next === order.length) break
        passed = end
        await pace()
      }
      return { pairs, population, seed }
    } finally {
      reader.close()
    }
  }

  async statistics(job: string): Promise<JobStatistics> {
    const { reader } = this.#options.openJoin(job)
    try {
      const known = this.#statistics.get(job)
      const statistics = known ?? (await this.#describe(reader))
      this.#statistics.delete(job)
      this.#statistics.set(job, statistics)
      for (const oldest of this.#statistics.keys()) {
        if (this.#statistics.size <= statisticsRemembered) break
        this.#statistics.delete(oldest)
      }
      return statistics
    } finally {
      reader.close()
    }
  }

  async evaluation(job: string): Promise<JobEvaluation> {
    const { reader } = this.#options.openJoin(job)
    try {
      const judged = await this.#judgedPairs(reader)
      const pairs = new PairTally()
      const similarities = new SimilarityTally()
      const differing = new PairSample<JudgedPair>(mostTermDifferences, sampleSeed)
      const pace = createPacer()
      const add = (row: SetPairRow, sameSite: boolean, label: Label | null, count: number): void => {
        if (count === 0) return
        pairs.add({ ...row, sameSite }, label, count)
        // An overlap is a number of features, and no share.
        if (reader.request.algorithm !== 'overlap')
          similarities.add(reader.similarityOf(row, sameSite), sameSite, label, count)
      }
      for (const row of reader.setPairs()) {
        add(row, true, null, row.sameSitePairs)
        add(row, false, null, row.differentSitePairs)
        for (const pair of judged.get(keyOf(row.a, row.b)) ?? []) {
          if ((row.sites & (pair.isOnOneSite ? pairsOnSameSite : pairsOnDifferentSites)) === 0) continue
          add(row, pair.isOnOneSite, null, -1)
          add(row, pair.isOnOneSite, pair.label, 1)
          differing.add(pair)
        }
        await pace()
      }
      const termDifferences = await this.#termDifferences(differing.result().pairs)
      return evaluateJob({ pairs, similarities, termDifferences })
    } finally {
      reader.close()
    }
  }

  async judge(
    x: string,
    y: string,
    { label, reason }: { label: Label; reason: string | null },
  ): Promise<Judgement> {
    const [a, b] = inOrder(x, y)
    const { documents, judgements, now } = this.#options
    const [contentA, contentB] = [await documents.contentOf(a), await documents.contentOf(b)]
    if (contentA === null || contentB === null)
      throw new DittographError('document_not_found', 'Both documents of a judgement must be stored')
    const record: JudgementRecord = { a, b, label, reason, contentA, contentB, judgedAt: now() }
    judgements.put(record)
    return viewOf(record, true)
  }

  async judgements({
    limit,
    cursor,
  }: PageQuery): Promise<{ judgements: Judgement[]; nextCursor: string | null }> {
    const [a, b] = cursor === null ? ['', ''] : decodeCursor(listQuery, cursor, ['string', 'string'])
    const records = this.#options.judgements.after(String(a), String(b), limit + 1)
    const page = records.slice(0, limit)
    const last = page.at(-1)
    const judgements: Judgement[] = []
    for (const record of page) judgements.push(viewOf(record, await this.#isCurrent(record)))
    const nextCursor =
      records.length > limit && last !== undefined ? encodeCursor(listQuery, [last.a, last.b]) : null
    return { judgements, nextCursor }
  }

  async forget(x: string, y: string): Promise<void> {
    if (!this.#options.judgements.remove(...inOrder(x, y)))
      throw new DittographError('judgement_not_found', 'Nothing is said of these two documents')
  }

  async #describe(reader: JoinReader): Promise<JobStatistics> {
    const tally = new PairTally()
    const degrees = new JoinDegrees(new CellTable(reader))
    const pace = createPacer()
    for (const row of reader.setPairs()) {
      tally.add({ ...row, sameSite: true }, null, row.sameSitePairs)
      tally.add({ ...row, sameSite: false }, null, row.differentSitePairs)
      degrees.add(row)
      await pace()
    }
    return describeJob(tally, degrees.counts())
  }

  async #isCurrent({ a, b, contentA, contentB }: JudgementRecord): Promise<boolean> {
    const { contentOf } = this.#options.documents
    return (await contentOf(a)) === contentA && (await contentOf(b)) === contentB
  }

  /** The judgements that hold, of documents of a join, by the places of their sets. */
  async #judgedPairs(reader: JoinReader): Promise<ReadonlyMap<string, readonly JudgedPair[]>> {
    const current: JudgementRecord[] = []
    const members = new Map<string, number | null>()
    const pace = createPacer()
    for (let last: JudgementRecord | undefined; ; ) {
      const records = this.#options.judgements.after(last?.a ?? '', last?.b ?? '', judgementsAtOnce)
      for (const record of records) {
        if (!(await this.#isCurrent(record))) continue
        current.push(record)
        members.set(record.a, null).set(record.b, null)
        await pace()
      }
      last = records.at(-1)
      if (records.length < judgementsAtOnce) break
    }
    const judged = new Map<string, JudgedPair[]>()
    if (current.length === 0) return judged
    for (const { member, id } of reader.memberIds()) {
      if (members.has(id)) members.set(id, member)
      await pace()
    }
    const cells = new CellTable(reader)
    for (const { a, b, label } of current) {
      const [memberA, memberB] = [members.get(a) ?? null, members.get(b) ?? null]
      if (memberA === null || memberB === null) continue
      const [cellA, cellB] = [cells.cellOf(memberA), cells.cellOf(memberB)]
      const key = keyOf(cells.setOf(cellA), cells.setOf(cellB))
      const pair = { a, b, label, isOnOneSite: cells.areOnOneSite(cellA, cellB) }
      const known = judged.get(key)
      if (known === undefined) judged.set(key, [pair])
      else known.push(pair)
    }
    return judged
  }

  async #termDifferences(pairs: readonly JudgedPair[]): Promise<TermDifferences> {
    const { termsOf } = this.#options.documents
    const tally = new TermDifferenceTally()
    const pace = createPacer()
    for (const { a, b, label } of pairs) {
      const [termsA, termsB] = [await termsOf(a), await termsOf(b)]
      if (termsA !== null && termsB !== null) tally.add(termDifference(termsA, termsB), label)
      await pace()
    }
    return tally.result()
  }
}

const viewOf = ({ a, b, label, reason, judgedAt }: JudgementRecord, current: boolean): Judgement => ({
  a,
  b,
  label,
  reason,
  judgedAt: new Date(judgedAt).toISOString(),
  current,
})
