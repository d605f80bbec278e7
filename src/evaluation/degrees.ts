import {
  type DegreeCounts,
  fitLine,
  fitMaximumLikelihood,
  type LikelihoodFit,
  type LineFit,
} from './power-law.ts'

export type DegreeDistribution = {
  /** Pages with at least one near-duplicate. */
  readonly nodes: number
  readonly pairs: number
  readonly averageDegree: number | null
  readonly largestDegree: number
  /** Nodes by degree, in increasing order. */
  readonly degrees: readonly { readonly degree: number; readonly nodes: number }[]
  readonly powerLaw: {
    readonly leastSquares: LineFit | null
    readonly maximumLikelihood: LikelihoodFit | null
  }
}

/**
 * The degree distribution of the graph whose nodes are pages and whose edges are near-duplicate pairs. A caller
 * that keeps pairs in a database counts degrees there; `DegreeTally` counts them in memory.
 *
 * Source: Henzinger 2006, Figures 1 and 3.
 */
export const degreeDistribution = (counts: DegreeCounts): DegreeDistribution => {
  const degrees = [...counts]
    .map(([degree, nodes]) => ({ degree, nodes }))
    .sort((x, y) => x.degree - y.degree)
  // Sums of floating point depend on their order.
  const inOrder = new Map(degrees.map(({ degree, nodes }) => [degree, nodes]))
  const nodes = degrees.reduce((sum, one) => sum + one.nodes, 0)
  const ends = degrees.reduce((sum, one) => sum + one.nodes * one.degree, 0)
  return {
    nodes,
    pairs: ends / 2,
    averageDegree: nodes === 0 ? null : ends / nodes,
    largestDegree: degrees.at(-1)?.degree ?? 0,
    degrees,
    powerLaw: { leastSquares: fitLine(inOrder), maximumLikelihood: fitMaximumLikelihood(inOrder) },
  }
}

/** Counts in how many pairs each page occurs. Memory: one entry a page that has a near-duplicate. */
export class DegreeTally<Page> {
  readonly #degrees = new Map<Page, number>()

  add(a: Page, b: Page): void {
    for (const page of [a, b]) this.#degrees.set(page, (this.#degrees.get(page) ?? 0) + 1)
  }

  counts(): DegreeCounts {
    const counts = new Map<number, number>()
    for (const degree of this.#degrees.values()) counts.set(degree, (counts.get(degree) ?? 0) + 1)
    return counts
  }
}
