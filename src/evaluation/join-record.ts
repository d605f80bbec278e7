import { type Algorithm, decidingSimilarity } from '../detect/decide.ts'
import { termDifference } from '../detect/difference.ts'
import type { Collection } from './collection.ts'
import { DegreeTally } from './degrees.ts'
import { evaluateJob, type JobEvaluation, selectionOf } from './job-evaluation.ts'
import { describeJob, type JobStatistics } from './job-statistics.ts'
import type { Label } from './label.ts'
import { PairSample } from './pair-sample.ts'
import { PairTally, type Selection, type SketchedPair } from './pair-tally.ts'
import { SimilarityTally } from './similarity-tally.ts'
import { TermDifferenceTally } from './term-differences.ts'

/** Pairs of a join whose texts are compared for the term differences; of more a random sample. */
const mostTermDifferences = 20_000
const sampleSeed = 1

/** What is recorded of the pairs that one algorithm returns. */
export class JoinRecord {
  readonly selects: Selection
  readonly #algorithm: Algorithm
  readonly #pairs = new PairTally()
  readonly #similarities = new SimilarityTally()
  readonly #degrees = new DegreeTally<number>()
  readonly #sample = new PairSample<{ a: string; b: string; i: number; j: number; label: Label | null }>(
    mostTermDifferences,
    sampleSeed,
  )

  constructor(algorithm: Algorithm) {
    this.#algorithm = algorithm
    this.selects = selectionOf(algorithm)
  }

  add(i: number, j: number, pair: SketchedPair, label: Label | null): void {
    this.#pairs.add(pair, label)
    this.#similarities.add(
      decidingSimilarity(this.#algorithm, { ...pair, identical: false }),
      pair.sameSite,
      label,
    )
    this.#degrees.add(i, j)
    this.#sample.add({ a: `${i}`, b: `${j}`, i, j, label })
  }

  result(collection: Collection): { evaluation: JobEvaluation; statistics: JobStatistics } {
    const differences = new TermDifferenceTally()
    for (const { i, j, label } of this.#sample.result().pairs)
      differences.add(termDifference(collection.terms(i), collection.terms(j)), label)
    return {
      evaluation: evaluateJob({
        pairs: this.#pairs,
        similarities: this.#similarities,
        termDifferences: differences.result(),
      }),
      statistics: describeJob(this.#pairs, this.#degrees.counts()),
    }
  }
}
