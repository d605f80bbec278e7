import { judgedOf, type LabelCounts } from './label.ts'

/** A share with its sample size and its interval; all three are null where the sample is empty. */
export type Proportion = {
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
  readonly sampleSize: number
}

export const intervalMethod = 'Wilson score, 95 %'

const z = 1.959963984540054

/**
 * `successes / sampleSize` with the Wilson score interval of 95 %, which stays within 0 and 1 and always
 * contains the value. It takes the pairs as independent: pairs of one template are not, so for a collection
 * with few sites it is too narrow.
 *
 * Source: Wilson 1927; recommended for small samples by Brown, Cai and DasGupta 2001.
 */
export const proportion = (successes: number, sampleSize: number): Proportion => {
  if (sampleSize === 0) return { value: null, low: null, high: null, sampleSize }
  const value = successes / sampleSize
  const shrink = 1 + (z * z) / sampleSize
  const centre = (value + (z * z) / (2 * sampleSize)) / shrink
  const half =
    (z / shrink) * Math.sqrt((value * (1 - value)) / sampleSize + (z * z) / (4 * sampleSize * sampleSize))
  // Where all or none succeed one end is 1 or 0 exactly, but for rounding.
  return {
    value,
    low: successes === 0 ? 0 : Math.min(value, centre - half),
    high: successes === sampleSize ? 1 : Math.max(value, centre + half),
    sampleSize,
  }
}

export type Precision = LabelCounts & {
  /** All pairs, judged or not. */
  readonly pairs: number
  /** Correct over judged pairs: an undecided one counts as a miss, as in the paper. */
  readonly precision: Proportion
  /** Correct over the pairs that are correct or incorrect. */
  readonly decidedPrecision: Proportion
}

/** Source: Henzinger 2006, Tables 2 and 5. */
export const precisionOf = (counts: LabelCounts): Precision => ({
  pairs: judgedOf(counts) + counts.unjudged,
  ...counts,
  precision: proportion(counts.correct, judgedOf(counts)),
  decidedPrecision: proportion(counts.correct, counts.correct + counts.incorrect),
})

export type Retrieval = Precision & {
  /** Correct pairs returned over all correct pairs. */
  readonly recall: Proportion
  /** Harmonic mean of precision and recall; 0 where nothing correct was returned. */
  readonly f1: number
  readonly decidedF1: number
}

/** Precision and recall of what was returned, where `allCorrect` correct pairs exist. */
export const retrievalOf = (returned: LabelCounts, allCorrect: number): Retrieval => {
  const { correct, incorrect } = returned
  // F1 = 2 P R / (P + R) with the common factor taken out, so that it is defined where P or R is not.
  const f1 = (answered: number): number =>
    answered + allCorrect === 0 ? 0 : (2 * correct) / (answered + allCorrect)
  return {
    ...precisionOf(returned),
    recall: proportion(correct, allCorrect),
    f1: f1(judgedOf(returned)),
    decidedF1: f1(correct + incorrect),
  }
}
