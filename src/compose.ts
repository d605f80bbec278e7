import { Analyzer } from './analysis/analyzer.ts'
import { schemeOf } from './analysis/scheme.ts'
import { type Config, sqlitePathOf } from './config.ts'
import { DittographError } from './errors.ts'
import { Comparison } from './service/comparison.ts'
import { Documents } from './service/documents.ts'
import { FeatureSets } from './service/feature-sets.ts'
import { NearDuplicates } from './service/near-duplicates.ts'
import type { Services } from './service/service.ts'
import { StageMetrics } from './service/stage-metrics.ts'
import { WriteQueue } from './service/write-queue.ts'
import { featureSet } from './signature/features.ts'
import type { ExactIndexOptions } from './store/sqlite/feature-index.ts'
import { reindexSqliteStore } from './store/sqlite/reindex.ts'
import { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts'

export type RunningServices = {
  readonly services: Services
  /** Waits for the writes that were handed in, then closes the store. */
  close(): Promise<void>
}

const exactIndexOf = (config: Config, analyzer: Analyzer): ExactIndexOptions | null =>
  config.EXACT_INDEX
    ? {
        source: (text) => {
          const tokens = analyzer.tokensOfText(text)
          return { shingles: featureSet(tokens, 'shingles'), tokens: featureSet(tokens, 'tokens') }
        },
        minThreshold: config.EXACT_MIN_THRESHOLD,
      }
    : null

const storeOptionsOf = (config: Config, analyzer: Analyzer): SqliteStoreOptions => {
  if (config.EXACT_INDEX && !config.KEEP_TEXT)
    throw new DittographError(
      'invalid_configuration',
      'EXACT_INDEX=true needs KEEP_TEXT=true: what the index finds is verified by the kept texts',
    )
  return {
    path: sqlitePathOf(config.DATABASE_URL),
    scheme: schemeOf(analyzer.options),
    synchronous: config.SYNCHRONOUS,
    indexMemoryBytes: config.INDEX_MEMORY_MB * 2 ** 20,
    exactIndex: exactIndexOf(config, analyzer),
  }
}

const analyzerOf = (config: Config): Analyzer =>
  new Analyzer({ tokenizer: config.TOKENIZER, siteRule: config.SITE_RULE })

/**
 * Configuration -> running parts; the only place that names a store. Throws an error of the kind
 * `refused-at-start` where the database cannot be used as it is. `storeOptions`: what no setting says of the store.
 */
export const openServices = async (
  config: Config,
  storeOptions: Partial<SqliteStoreOptions> = {},
): Promise<RunningServices> => {
  if (config.API_KEYS_FILE !== null)
    throw new DittographError(
      'invalid_configuration',
      'API_KEYS_FILE is set, but this version has no API keys: it would serve everybody. Unset it to start.',
    )
  const analyzer = analyzerOf(config)
  const store = await openSqliteStore({ ...storeOptionsOf(config, analyzer), ...storeOptions })
  if (config.EXACT_INDEX && !store.hasExactIndex)
    process.emitWarning(
      'The exact index of the database was not built, or for another EXACT_MIN_THRESHOLD: exact searches scan ' +
        'all pages until the service is stopped and "dittograph reindex" was run with the same settings',
    )
  const metrics = new StageMetrics(store)
  const writes = new WriteQueue(store, (seconds) => metrics.observe('commit', seconds))
  const featureSets = new FeatureSets(store, analyzer)
  const nearDuplicates = new NearDuplicates({
    store,
    analyzer,
    featureSets,
    stages: metrics,
    workLimit: config.QUERY_WORK_LIMIT,
  })
  const documents = new Documents({
    store,
    writes,
    nearDuplicates,
    analyzer,
    keepText: config.KEEP_TEXT,
    stages: metrics,
  })
  return {
    services: {
      documents,
      nearDuplicates,
      comparison: new Comparison({ store, analysis: analyzer.options }),
      operations: { ready: () => store.check(), renderMetrics: () => metrics.render() },
    },
    close: async () => {
      await writes.drain()
      await store.close()
    },
  }
}

/**
 * Makes the postings of the database again, and its exact index where EXACT_INDEX is set. Returns how many identity
 * sets it has. Throws as `openServices` does.
 */
export const reindex = (config: Config, onProgress: (done: number, sets: number) => void): Promise<number> =>
  reindexSqliteStore({ ...storeOptionsOf(config, analyzerOf(config)), onProgress })
