/** How many pairs of a cluster have which similarity. */
export class Edges {
  readonly #pairs = new Map<number, number>()

  /** Pairs of one similarity; 0 adds nothing. */
  add(similarity: number, pairs: number): void {
    if (pairs > 0) this.#pairs.set(similarity, (this.#pairs.get(similarity) ?? 0) + pairs)
  }

  isEmpty(): boolean {
    return this.#pairs.size === 0
  }

  /** The least similarity, and the one of the pair in the middle (the lower one of two). Throws where there is no pair. */
  summary(): { pairs: number; least: number; median: number } {
    const sorted = [...this.#pairs].sort(([p], [q]) => p - q)
    const pairs = sorted.reduce((sum, [, count]) => sum + count, 0)
    let below = 0
    for (const [similarity, count] of sorted) {
      below += count
      if (2 * below >= pairs) return { pairs, least: sorted[0]?.[0] ?? similarity, median: similarity }
    }
    throw new Error('A cluster has no pairs')
  }
}
