import type { AnalysisOptions } from './analysis/analyze.ts'
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
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'

export type RunningServices = {
  readonly services: Services
  /** Waits for the writes that were handed in, then closes the store. */
  close(): Promise<void>
}

/**
 * Configuration -> running parts; the only place that names a store. Throws an error of the kind
 * `refused-at-start` where the database cannot be used as it is.
 */
export const openServices = async (config: Config): Promise<RunningServices> => {
  if (config.API_KEYS_FILE !== null)
    throw new DittographError(
      'invalid_configuration',
      'API_KEYS_FILE is set, but this version has no API keys: it would serve everybody. Unset it to start.',
    )
  const analysis: AnalysisOptions = { tokenizer: config.TOKENIZER, siteRule: config.SITE_RULE }
  const store = await openSqliteStore({
    path: sqlitePathOf(config.DATABASE_URL),
    scheme: schemeOf(analysis),
    synchronous: config.SYNCHRONOUS,
    indexMemoryBytes: config.INDEX_MEMORY_MB * 2 ** 20,
  })
  const analyzer = new Analyzer(analysis)
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
      comparison: new Comparison({ store, analysis }),
      operations: { ready: () => store.check(), renderMetrics: () => metrics.render() },
    },
    close: async () => {
      await writes.drain()
      await store.close()
    },
  }
}
