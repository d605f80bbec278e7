import { type Algorithm, defaultThresholds } from '../detect/decide.ts'
import { DittographError } from '../errors.ts'
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

const commonParameters = ['minResemblance', 'site', 'order'] as const
const specialParameters = [...new Set(Object.values(usedParameters).flat())]

const isAvailable = (name: AlgorithmName): name is Algorithm =>
  !(usedParameters[name] as readonly string[]).includes('threshold')

type SearchQuery = Omit<DuplicatesQuery, 'limit' | 'cursor'>

/** The error about an option, by its name. */
type Refuse = (name: string, detail: string) => DittographError

const checkUse = (
  algorithm: AlgorithmName,
  query: SearchQuery,
  common: readonly string[],
  refuse: Refuse,
): void => {
  const used: readonly string[] = usedParameters[algorithm]
  for (const name of specialParameters) {
    if (query[name] === undefined || used.includes(name)) continue
    const all = [...used, ...common].join(', ')
    throw refuse(name, `is not used by the algorithm ${algorithm}, which uses ${all}`)
  }
}

const checkThreshold = (algorithm: AlgorithmName, threshold: number | undefined, refuse: Refuse): void => {
  if (threshold === undefined) return
  if (algorithm === 'overlap') {
    if (!Number.isSafeInteger(threshold))
      throw refuse('threshold', 'must be a whole number of 1 or more for the algorithm overlap')
  } else if (threshold > 1) throw refuse('threshold', 'must be above 0 and at most 1')
}

/**
 * What pairs are sought, for a search or a join. Throws what `refuse` makes of an option that is wrong, or
 * `algorithm_not_available` where nothing else is wrong.
 */
export const pairOptions = (
  query: Omit<SearchQuery, 'order'>,
  common: readonly string[],
  refuse: Refuse,
): Pick<DuplicatesOptions, 'algorithm' | 'thresholds' | 'minResemblance' | 'site'> => {
  const algorithm = query.algorithm ?? 'site-aware'
  checkUse(algorithm, query, common, refuse)
  checkThreshold(algorithm, query.threshold, refuse)
  if (!isAvailable(algorithm))
    throw new DittographError(
      'algorithm_not_available',
      `This version does not have the algorithm ${algorithm}; it has ${Object.keys(usedParameters)
        .filter((name) => isAvailable(name as AlgorithmName))
        .join(', ')}`,
    )
  return {
    algorithm,
    thresholds: {
      minSupershingles: query.minSupershingles ?? defaultThresholds.minSupershingles,
      minAgreeingBits: query.minAgreeingBits ?? defaultThresholds.minAgreeingBits,
      combinedMinAgreeingBits: query.combinedMinAgreeingBits ?? defaultThresholds.combinedMinAgreeingBits,
    },
    minResemblance: query.minResemblance ?? null,
    site: query.site ?? 'any',
  }
}

const searchOptions = ({ order = 'similarity', ...query }: SearchQuery) => ({
  ...pairOptions(query, commonParameters, parameterError),
  order,
})

/** The options of a search. Throws `invalid_parameter` or `algorithm_not_available`. */
export const duplicatesOptions = (query: DuplicatesQuery): DuplicatesOptions => ({
  ...searchOptions(query),
  limit: query.limit ?? 50,
  cursor: query.cursor ?? null,
})

/**
 * The options of the search that goes with storing, null where none is asked for. Throws `invalid_parameter`,
 * also for options of a search that is not made, or `algorithm_not_available`.
 */
export const storeDuplicatesOptions = (query: StoreQuery): DuplicatesOptions | null => {
  const { duplicates = 0, url: _url, ...search } = query
  const options = searchOptions(search)
  if (duplicates > 0) return { ...options, limit: duplicates, cursor: null }
  const [name] = [...specialParameters, 'algorithm' as const, ...commonParameters].filter(
    (parameter) => search[parameter] !== undefined,
  )
  if (name !== undefined) throw parameterError(name, 'is used only together with duplicates=1 to 100')
  return null
}
