import type { Measure } from './measure.ts'
import type { Threshold } from './threshold.ts'

/**
 * What a measure and a threshold ask of two sets, as tight as can be said from their sizes. All are exact: whole
 * numbers, or BigInt where these would be too large. Sizes are 1 or more.
 *
 * Source: Xiao et al. 2008, sections 2 and 3; Bayardo et al. 2007.
 */
export type Bounds = {
  readonly measure: Measure
  readonly threshold: Threshold
  /** Least overlap of sets of these sizes that reach the threshold. */
  minOverlap(sizeA: number, sizeB: number): number
  /** Sizes of the sets that a set of this size can reach the threshold with; `maxSize` may be Infinity. */
  minSize(size: number): number
  maxSize(size: number): number
  /** Two sets that reach the threshold share an element among the first so many of each; 0 or less: nothing can. */
  probePrefix(size: number): number
  /** The same of a set all of whose partners are not smaller (a self-join in order of size). */
  indexPrefix(size: number): number
}

const largest = BigInt(Number.MAX_SAFE_INTEGER)

/** factor * size / divisor, up to the next whole number. */
type Scale = { readonly ceil: (size: number) => number; readonly floor: (size: number) => number }

const scaleBy = (factor: bigint, divisor: bigint): Scale => {
  const f = Number(factor)
  const d = Number(divisor)
  /** Products below this are exact as doubles. */
  const mostSize = factor > largest || divisor > largest ? 0 : Math.floor(Number.MAX_SAFE_INTEGER / f)
  const floor = (size: number): number => {
    if (size > mostSize) return Number((factor * BigInt(size)) / divisor)
    const product = f * size
    return (product - (product % d)) / d
  }
  const ceil = (size: number): number => {
    if (size > mostSize) return Number((factor * BigInt(size) + divisor - 1n) / divisor)
    const product = f * size
    const rest = product % d
    return (product - rest) / d + (rest === 0 ? 0 : 1)
  }
  return { ceil, floor }
}

/** The least o with o / sqrt(a b) >= p / q, which is o^2 q^2 >= p^2 a b. */
const cosineOverlap = ({ p, q, value }: Threshold): ((a: number, b: number) => number) => {
  const [p2, q2] = [p * p, q * q]
  const reaches = (overlap: number, a: number, b: number): boolean => {
    const o = BigInt(overlap)
    return o * o * q2 >= p2 * BigInt(a) * BigInt(b)
  }
  return (a, b) => {
    const real = value * Math.sqrt(a * b)
    // The square root and the product are off by far less than a millionth of what lies between two whole numbers.
    const whole = Math.round(real)
    if (Math.abs(real - whole) > 1e-6 * Math.max(1, real / 1e6)) return Math.max(1, Math.ceil(real))
    let overlap = Math.max(1, whole - 1)
    while (!reaches(overlap, a, b)) overlap++
    return overlap
  }
}

/** The least ratio of the sizes of two sets that reach the threshold, as a fraction. */
const sizeRatio = (measure: Exclude<Measure, 'overlap'>, { p, q }: Threshold): readonly [bigint, bigint] =>
  measure === 'jaccard' ? [p, q] : measure === 'cosine' ? [p * p, q * q] : [p, 2n * q - p]

/** Whether sets of which the probing prefix under `least` is known have in it that under `bounds`, whatever their size. */
export const hasPrefixOf = (bounds: Bounds, least: Bounds): boolean => {
  if (bounds.measure === 'overlap' || least.measure === 'overlap') return false
  const [p, q] = sizeRatio(bounds.measure, bounds.threshold)
  const [leastP, leastQ] = sizeRatio(least.measure, least.threshold)
  return p * leastQ >= leastP * q
}

export const boundsOf = (measure: Measure, threshold: Threshold): Bounds => {
  const { p, q } = threshold
  if (measure === 'overlap') {
    if (q !== 1n) throw new RangeError('The threshold of the overlap is a whole number')
    const c = Number(p)
    const prefix = (size: number): number => size - c + 1
    return {
      measure,
      threshold,
      minOverlap: () => c,
      minSize: () => c,
      maxSize: () => Number.POSITIVE_INFINITY,
      probePrefix: prefix,
      indexPrefix: prefix,
    }
  }
  if (p > q) throw new RangeError('The threshold is at most 1')
  const [least, most] = sizeRatio(measure, threshold)
  const sizes = scaleBy(least, most)
  const largestSizes = scaleBy(most, least)
  /** Overlap of two sets of one size. */
  const own = measure === 'jaccard' ? scaleBy(2n * p, p + q) : scaleBy(p, q)
  const sum = measure === 'jaccard' ? scaleBy(p, p + q) : scaleBy(p, 2n * q)
  return {
    measure,
    threshold,
    minOverlap: measure === 'cosine' ? cosineOverlap(threshold) : (a, b) => sum.ceil(a + b),
    minSize: sizes.ceil,
    maxSize: largestSizes.floor,
    probePrefix: (size) => size - sizes.ceil(size) + 1,
    indexPrefix: (size) => size - own.ceil(size) + 1,
  }
}

/** Whether an overlap reaches the threshold: the definition itself, in whole numbers. */
export const reaches = (
  { measure, threshold: { p, q } }: Bounds,
  overlap: number,
  a: number,
  b: number,
): boolean => {
  if (a === 0 || b === 0) return false
  const [o, x, y] = [BigInt(overlap), BigInt(a), BigInt(b)]
  switch (measure) {
    case 'jaccard':
      return q * o >= p * (x + y - o)
    case 'cosine':
      return q * q * o * o >= p * p * x * y
    case 'dice':
      return 2n * q * o >= p * (x + y)
    case 'overlap':
      return o >= p
  }
}
