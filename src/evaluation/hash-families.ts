import { sign } from '../signature/sign.ts'
import { type Collection, type FoundPair, sketchPair } from './collection.ts'
import { type BySite, bySite, selectionOf } from './job-evaluation.ts'
import { PairTally } from './pair-tally.ts'
import { type Retrieval, retrievalOf } from './precision.ts'
import { mapAlgorithms, type SketchAlgorithm } from './sketch-algorithm.ts'
import { underAnotherFamily } from './vocabulary.ts'

/** Over hash families; the standard deviation is that of one family, and null over a single one. */
export type Spread = { readonly mean: number; readonly standardDeviation: number | null }

const spreadMeasures = ['precision', 'decidedPrecision', 'recall'] as const

export type FamilySpread = {
  readonly families: number
  /** Null where no family returned a pair. */
  readonly algorithms: Readonly<
    Record<SketchAlgorithm, BySite<Record<(typeof spreadMeasures)[number], Spread | null>>>
  >
}

/**
 * How far the results depend on the luck of the hash functions: the labelled pairs are compared again under so many
 * other families. What one implementation measures, another may differ from by some standard deviations of
 * this. Cost: each family signs every page again.
 */
export const spreadOverFamilies = (
  pairs: readonly FoundPair[],
  collection: Collection,
  sites: readonly (string | null)[],
  families: number,
): FamilySpread => {
  const tallies = Array.from({ length: families }, (_, family) => {
    const fingerprints = underAnotherFamily(collection.fingerprints, family + 1)
    const signatures = collection.pages.map((_, i) => sign(collection.tokens(i, fingerprints)))
    const tally = new PairTally()
    for (const found of pairs) tally.add(sketchPair(found, signatures, sites), found.pair.label)
    return tally
  })
  return {
    families,
    algorithms: mapAlgorithms((algorithm) => {
      const selects = selectionOf(algorithm)
      return bySite((place) => {
        const rows = tallies.map((tally) =>
          retrievalOf(
            tally.count((pair) => place(pair) && selects(pair)),
            tally.count(place).correct,
          ),
        )
        return {
          precision: spreadOf(rows, 'precision'),
          decidedPrecision: spreadOf(rows, 'decidedPrecision'),
          recall: spreadOf(rows, 'recall'),
        }
      })
    }),
  }
}

const spreadOf = (rows: readonly Retrieval[], measure: (typeof spreadMeasures)[number]): Spread | null => {
  const values = rows.flatMap((row) => row[measure].value ?? [])
  if (values.length === 0) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, standardDeviation: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : null }
}
