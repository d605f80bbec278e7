import { similaritiesIn, sketchTableOf } from '../detect/sketch-join.ts'
import type { Signature } from '../signature/signature.ts'

/**
 * Compares every signature with every later one and calls `visit` with their positions, B- and C-similarity:
 * n (n - 1) / 2 comparisons, so it is for thousands of pages and not for millions.
 */
export const compareAll = (
  signatures: readonly Signature[],
  visit: (i: number, j: number, bSimilarity: number, cSimilarity: number) => void,
): void => {
  const table = sketchTableOf(signatures)
  for (let i = 0; i < table.count; i++)
    for (let j = i + 1; j < table.count; j++) {
      const { bSimilarity, cSimilarity } = similaritiesIn(table, i, j)
      visit(i, j, bSimilarity, cSimilarity)
    }
}
