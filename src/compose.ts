import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { AnalysisOptions } from './analysis/analyze.ts'
import { Analyzer } from './analysis/analyzer.ts'
import { schemeOf } from './analysis/scheme.ts'
import { type Config, sqlitePathOf } from './config.ts'
import { DittographError } from './errors.ts'
import { hashSeedOf } from './hash-seed.ts'
import { JobCatalog } from './job/job-catalog.ts'
import { Jobs } from './job/jobs.ts'
import { NoJobs } from './job/no-jobs.ts'
import { Comparison } from './service/comparison.ts'
import { Documents } from './service/documents.ts'
import { FeatureSets } from './service/feature-sets.ts'
import { NearDuplicates } from './service/near-duplicates.ts'
import type { Services } from './service/service.ts'
import { StageMetrics } from './service/stage-metrics.ts'
import { WriteQueue } from './service/write-queue.ts'
import { openJobDatabase } from './store/sqlite/job-database.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import type { Store } from './store/store.ts'

/** What `open` gives; where it throws, the store is closed first. */
const closingOnFailure = async <T>(store: Store, open: () => T): Promise<T> => {
  try {
    return open()
  } catch (reason) {
    await store.close()
    throw reason
  }
}

export type RunningServices = {
  readonly services: Services
  /** Waits for the writes that were handed in, then closes the store. */
  close(): Promise<void>
}

const dayMs = 24 * 60 * 60 * 1000

/** Jobs beside a database in a file; without one there is nothing that their threads could read. */
const openJobs = (config: Config, analysis: AnalysisOptions): Jobs | NoJobs => {
  const path = sqlitePathOf(config.DATABASE_URL)
  if (path === ':memory:') return new NoJobs()
  const databaseFile = realpathSync(path)
  const directory = `${databaseFile}-jobs`
  return new Jobs({
    catalog: new JobCatalog(openJobDatabase(join(directory, 'jobs.db'), Date.now())),
    directory,
    databaseFile,
    analysis,
    queueLimit: config.JOB_QUEUE_LIMIT,
    mostResultAgeMs: config.JOB_RESULT_DAYS * dayMs,
    mostResultBytes: config.JOB_RESULTS_MB * 2 ** 20,
    now: Date.now,
  })
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
  const analysis: AnalysisOptions = {
    tokenizer: config.TOKENIZER,
    siteRule: config.SITE_RULE,
    hashSeed: config.HASH_SEED === null ? null : hashSeedOf(config.HASH_SEED),
  }
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
  const jobs = await closingOnFailure(store, () => openJobs(config, analysis))
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
      jobs,
      operations: { ready: () => store.check(), renderMetrics: () => metrics.render() },
    },
    close: async () => {
      await jobs.close()
      await writes.drain()
      await store.close()
    },
  }
}
