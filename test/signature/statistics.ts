import type { TokenFingerprints } from '../../src/signature/signature.ts'

/*
 * What the statistical tests share. Their seeds are fixed, so a test either always passes or always fails; the
 * bounds are such that a correct program fails under less than one seed in a million.
 */

/** |z| of a normal variable exceeds this with probability 4e-8. */
export const mostStandardDeviations = 5.5

/** Uniform 32-bit integers from a seed (sfc32, started by a counter). */
export const createRandom = (seed: number): (() => number) => {
  let [a, b, c, counter] = [seed, 0x9e3779b9, 0x243f6a88, 1]
  const next = () => {
    const value = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + value) | 0
    return value >>> 0
  }
  for (let i = 0; i < 20; i++) next()
  return next
}

export const randomTokens = (random: () => number, count: number): TokenFingerprints => ({
  low: Uint32Array.from({ length: count }, random),
  high: Uint32Array.from({ length: count }, random),
})

/** One sequence after the other. */
export const concatenate = (...parts: readonly TokenFingerprints[]): TokenFingerprints => ({
  low: Uint32Array.from(parts.flatMap((part) => [...part.low])),
  high: Uint32Array.from(parts.flatMap((part) => [...part.high])),
})

/** P(X = i) for i from 0 to n, X ~ Binomial(n, p) with 0 < p < 1. */
export const binomialProbabilities = (n: number, p: number): number[] => {
  let logarithm = n * Math.log(1 - p)
  return Array.from({ length: n + 1 }, (_, i) => {
    if (i > 0) logarithm += Math.log(((n - i + 1) / i) * (p / (1 - p)))
    return Math.exp(logarithm)
  })
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Standard deviations by which the mean of observations of Binomial(n, p) is off. */
export const zOfMean = (observations: readonly number[], n: number, p: number): number =>
  (sumOf(observations) / observations.length - n * p) / Math.sqrt((n * p * (1 - p)) / observations.length)

/** The same for their variance, by the fourth central moment of the binomial distribution. */
export const zOfVariance = (observations: readonly number[], n: number, p: number): number => {
  const variance = n * p * (1 - p)
  const fourthMoment = variance * (1 + 3 * p * (1 - p) * (n - 2))
  const observed = sumOf(observations.map((value) => (value - n * p) ** 2)) / observations.length
  return (observed - variance) / Math.sqrt((fourthMoment - variance ** 2) / observations.length)
}

/**
 * Pearson's chi-square of observed counts against probabilities, neighbouring classes pooled until ten are
 * expected in each, as a normal deviate (Wilson and Hilferty).
 */
export const zOfChiSquare = (counts: readonly number[], probabilities: readonly number[]): number => {
  const total = sumOf(counts)
  const pools: { observed: number; expected: number }[] = []
  let open = { observed: 0, expected: 0 }
  counts.forEach((count, i) => {
    open.observed += count
    open.expected += total * (probabilities[i] ?? 0)
    if (open.expected < 10) return
    pools.push(open)
    open = { observed: 0, expected: 0 }
  })
  const last = pools.at(-1)
  if (last === undefined) throw new Error('too few observations for a chi-square test')
  last.observed += open.observed
  last.expected += open.expected
  const chiSquare = sumOf(pools.map(({ observed, expected }) => (observed - expected) ** 2 / expected))
  const freedom = pools.length - 1
  const spread = 2 / (9 * freedom)
  return (Math.cbrt(chiSquare / freedom) - (1 - spread)) / Math.sqrt(spread)
}
