export type Resemblance = {
  readonly intersection: number
  readonly union: number
  /** `intersection / union`; 0 for two empty sets, because a page without shingles resembles nothing. */
  readonly value: number
}

/**
 * The exact resemblance (Jaccard) of two shingle sets, each in increasing order without repetition, as
 * `shingleSet` makes them. O(|a| + |b|).
 *
 * Source: Henzinger 2006, Algorithm B; Broder 1997.
 */
export const resemblance = (a: Float64Array, b: Float64Array): Resemblance => {
  const intersection = intersectionSize(a, b)
  const union = a.length + b.length - intersection
  return { intersection, union, value: ratio(intersection, union) }
}

/** The share of the first shingle set that lies in the second (0 for an empty first). Source: Broder 1997. */
export const containment = (a: Float64Array, b: Float64Array): number =>
  ratio(intersectionSize(a, b), a.length)

/** How many values two lists have in common, each in increasing order without repetition. O(|a| + |b|). */
export const intersectionSize = (a: Float64Array, b: Float64Array): number => {
  let size = 0
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const x = a[i] as number
    const y = b[j] as number
    if (x === y) size++
    if (x <= y) i++
    if (y <= x) j++
  }
  return size
}

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

/**
 * Jaccard of two token bags as numbered sets, where the i-th occurrence of a term is an element of its own:
 * the sum of the smaller counts over the sum of the greater. 0 for two empty bags.
 *
 * Source: Xiao et al. 2008, section 2.
 */
export const jaccard = (a: readonly string[], b: readonly string[]): number => {
  const countsOfB = countTerms(b)
  let shared = 0
  for (const [term, count] of countTerms(a)) shared += Math.min(count, countsOfB.get(term) ?? 0)
  return ratio(shared, a.length + b.length - shared)
}

/** Cosine of the angle between the count vectors of two token bags; 0 where one of them is empty. */
export const cosine = (a: readonly string[], b: readonly string[]): number => {
  const countsOfA = countTerms(a)
  const countsOfB = countTerms(b)
  let product = 0
  for (const [term, count] of countsOfA) product += count * (countsOfB.get(term) ?? 0)
  // One root of the product: two roots would make the cosine of a bag with itself differ from 1.
  return ratio(product, Math.sqrt(sumOfSquares(countsOfA) * sumOfSquares(countsOfB)))
}

const countTerms = (terms: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

const sumOfSquares = (counts: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const count of counts.values()) sum += count * count
  return sum
}
