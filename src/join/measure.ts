/** Measures of the similarity of two sets a and b with overlap o = |a and b|. */
export const measures = ['jaccard', 'cosine', 'dice', 'overlap'] as const

/** jaccard o/(|a|+|b|-o), cosine o/sqrt(|a||b|), dice 2o/(|a|+|b|), overlap o. Source: Xiao et al. 2008, section 2. */
export type Measure = (typeof measures)[number]

/**
 * The similarity of two sets of these sizes; 0 where one is empty. The quotient is rounded once, so that it is
 * equal to the literal of the same fraction: comparing it with a threshold is exact.
 */
export const similarity = (measure: Measure, overlap: number, sizeA: number, sizeB: number): number => {
  if (sizeA === 0 || sizeB === 0) return 0
  switch (measure) {
    case 'jaccard':
      return overlap / (sizeA + sizeB - overlap)
    case 'cosine':
      return overlap / Math.sqrt(sizeA * sizeB)
    case 'dice':
      return (2 * overlap) / (sizeA + sizeB)
    case 'overlap':
      return overlap
  }
}

export const isMeasure = (name: string): name is Measure => (measures as readonly string[]).includes(name)
