/** The algorithms that a pair's B- and C-similarity and its sites decide. */
export const sketchAlgorithms = ['shingling', 'simhash', 'combined', 'site-aware'] as const
export type SketchAlgorithm = (typeof sketchAlgorithms)[number]

export const mapAlgorithms = <T>(value: (algorithm: SketchAlgorithm) => T): Record<SketchAlgorithm, T> => ({
  shingling: value('shingling'),
  simhash: value('simhash'),
  combined: value('combined'),
  'site-aware': value('site-aware'),
})
