import { defaultThresholds } from '../detect/decide.ts'
import type { DittographError } from '../errors.ts'
import { isMeasure } from '../join/measure.ts'
import type { DuplicatesOptions } from '../service/service.ts'
import type { algorithms, DuplicatesQuery, StoreQuery } from './schema/near-duplicates.ts'
import { parameterError } from './validation.ts'

type AlgorithmName = (typeof algorithms)[number]

/** The options that only some algorithms use; the others go with every one. */
export const usedParameters = {
  shingling: ['minSupershingles'],
  simhash: ['minAgreeingBits'],
  combined: ['minSupershingles', 'combinedMinAgreeingBits'],
  'site-aware': ['minSupershingles', 'minAgreeingBits', 'combinedMinAgreeingBits'],
  jaccard: ['threshold', 'features'],
  cosine: ['threshold', 'features'],
  dice: ['threshold', 'features'],
  overlap: ['threshold', 'features'],
  identical: [],
} as const satisfies Record<AlgorithmName, readonly (keyof DuplicatesQuery)[]>

const defaultThreshold = 0.8

const commonParameters = ['minResemblance', 'site', 'order'] as const
const specialParameters = [...new Set(Object.values(usedParameters).flat())]

type SearchQuery = Omit<DuplicatesQuery, 'limit' | 'cursor'>
type PairQuery = Omit<SearchQuery, 'order'>

/** Where options come from: those there that go with every algorithm, and the error about one by its name. */
export type OptionSource = {
  readonly common: readonly string[]
  readonly refuse: (name: string, detail: string) => DittographError
}

const checkUse = (algorithm: AlgorithmName, query: PairQuery, { common, refuse }: OptionSource): void => {
  const used: readonly string[] = usedParameters[algorithm]
  for (const name of specialParameters) {
    if (query[name] === undefined || used.includes(name)) continue
    const all = [...used, ...common].join(', ')
    throw refuse(name, `is not used by the algorithm ${algorithm}, which uses ${all}`)
  }
}

/** Of an exact measure; `least` is what a setting allows for all but the overlap. */
const thresholdOf = (
  algorithm: AlgorithmName,
  threshold: number | undefined,
  least: number,
  { refuse }: OptionSource,
): number => {
  if (algorithm === 'overlap') {
    if (threshold === undefined) return 1
    if (!Number.isSafeInteger(threshold))
      throw refuse('threshold', 'must be a whole number of 1 or more for the algorithm overlap')
    return threshold
  }
  if (threshold === undefined) return Math.max(defaultThreshold, least)
  if (threshold > 1) throw refuse('threshold', 'must be above 0 and at most 1')
  if (isMeasure(algorithm) && threshold < least)
    throw refuse('threshold', `must be ${least} or more: that is the setting EXACT_MIN_THRESHOLD`)
  return threshold
}

/** Which pairs are sought, by a search or a join. Throws what the source makes of an option that is wrong. */
export const pairOptions = (
  query: PairQuery,
  leastThreshold: number,
  source: OptionSource,
): Omit<DuplicatesOptions, 'order' | 'limit' | 'cursor'> => {
  const algorithm = query.algorithm ?? 'site-aware'
  checkUse(algorithm, query, source)
  const threshold = thresholdOf(algorithm, query.threshold, leastThreshold, source)
  return {
    algorithm,
    thresholds: {
      minSupershingles: query.minSupershingles ?? defaultThresholds.minSupershingles,
      minAgreeingBits: query.minAgreeingBits ?? defaultThresholds.minAgreeingBits,
      combinedMinAgreeingBits: query.combinedMinAgreeingBits ?? defaultThresholds.combinedMinAgreeingBits,
    },
    exact: { threshold, features: query.features ?? 'shingles' },
    minResemblance: query.minResemblance ?? null,
    site: query.site ?? 'any',
  }
}

const searchOptions = ({ order = 'similarity', ...query }: SearchQuery, leastThreshold: number) => ({
  ...pairOptions(query, leastThreshold, { common: commonParameters, refuse: parameterError }),
  order,
})

/** The options of a search; `leastThreshold` is for the exact measures. Throws `invalid_parameter`. */
export const duplicatesOptions = (query: DuplicatesQuery, leastThreshold: number): DuplicatesOptions => ({
  ...searchOptions(query, leastThreshold),
  limit: query.limit ?? 50,
  cursor: query.cursor ?? null,
})

/**
 * The options of the search that goes with storing, null where none is asked for. Throws `invalid_parameter`,
 * also for options of a search that is not made.
 */
export const storeDuplicatesOptions = (
  query: StoreQuery,
  leastThreshold: number,
): DuplicatesOptions | null => {
  const { duplicates = 0, url: _url, ...search } = query
  const options = searchOptions(search, leastThreshold)
  if (duplicates > 0) return { ...options, limit: duplicates, cursor: null }
  const [name] = [...specialParameters, 'algorithm' as const, ...commonParameters].filter(
    (parameter) => search[parameter] !== undefined,
  )
  if (name !== undefined) throw parameterError(name, 'is used only together with duplicates=1 to 100')
  return null
}
