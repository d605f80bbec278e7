import type { Measure } from '../../src/join/measure.ts'

export type Pair = readonly [a: number, b: number, overlap: number]

/** The overlap of two bags: of each token the smaller count. */
export const bagOverlap = (a: readonly string[], b: readonly string[]): number => {
  const counts = new Map<string, number>()
  for (const token of b) counts.set(token, (counts.get(token) ?? 0) + 1)
  let overlap = 0
  for (const token of a) {
    const left = counts.get(token) ?? 0
    if (left === 0) continue
    counts.set(token, left - 1)
    overlap++
  }
  return overlap
}

/** Whether the definition of the measure is met, in whole numbers; the threshold is a decimal text. */
export const isSimilar = (
  measure: Measure,
  threshold: string,
  overlap: number,
  sizeA: number,
  sizeB: number,
): boolean => {
  if (sizeA === 0 || sizeB === 0) return false
  const [whole = '', fraction = ''] = threshold.split('.')
  const [p, q] = [BigInt(whole + fraction), 10n ** BigInt(fraction.length)]
  const [o, a, b] = [BigInt(overlap), BigInt(sizeA), BigInt(sizeB)]
  if (measure === 'jaccard') return q * o >= p * (a + b - o)
  if (measure === 'cosine') return q * q * o * o >= p * p * a * b
  if (measure === 'dice') return q * 2n * o >= p * (a + b)
  return q * o >= p
}

/** All pairs of the collection that are similar, sorted. */
export const bruteForceJoin = (
  bags: readonly (readonly string[])[],
  measure: Measure,
  threshold: string,
): Pair[] =>
  bags.flatMap((x, a) =>
    bags.slice(a + 1).flatMap((y, i): Pair[] => {
      const overlap = bagOverlap(x, y)
      return isSimilar(measure, threshold, overlap, x.length, y.length) ? [[a, a + 1 + i, overlap]] : []
    }),
  )
