import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { defaultCollection, isCollectionName } from './access/collection-name.ts'
import type { AnalysisOptions } from './analysis/analyze.ts'
import { Analyzer } from './analysis/analyzer.ts'
import { schemeOf } from './analysis/scheme.ts'
import { type Config, sqlitePathOf } from './config.ts'
import { JobCatalog } from './job/job-catalog.ts'
import { JobTurns } from './job/job-turns.ts'
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
  /** Whether nothing goes on in the background that closing would interrupt, and nothing would be lost by it. */
  isIdle(): boolean
  /** Waits for the writes that were handed in, then closes the store. */
  close(): Promise<void>
}

const inMemory = ':memory:'
const dayMs = 24 * 60 * 60 * 1000

/** Jobs beside a database in a file; without one there is nothing that their threads could read. */
const openJobs = (config: Config, analysis: AnalysisOptions, turns: JobTurns): Jobs | NoJobs => {
  const path = sqlitePathOf(config.DATABASE_URL)
  if (path === inMemory) return new NoJobs()
  const databaseFile = realpathSync(path)
  const directory = `${databaseFile}-jobs`
  return new Jobs({
    catalog: new JobCatalog(openJobDatabase(join(directory, 'jobs.db'), Date.now())),
    directory,
    databaseFile,
    analysis,
    queueLimit: config.JOB_QUEUE_LIMIT,
    turns,
    mostResultAgeMs: config.JOB_RESULT_DAYS * dayMs,
    mostResultBytes: config.JOB_RESULTS_MB * 2 ** 20,
    now: Date.now,
  })
}

/**
 * The configuration for one collection: `default` is the database of `DATABASE_URL`, each other one a database of its
 * own in the directory `<database>-collections`.
 */
export const configOfCollection = (config: Config, collection: string): Config => {
  const path = sqlitePathOf(config.DATABASE_URL)
  if (collection === defaultCollection || path === inMemory) return config
  if (!isCollectionName(collection)) throw new Error('A collection has a name that is not allowed')
  return { ...config, DATABASE_URL: `sqlite:${join(`${path}-collections`, `${collection}.db`)}` }
}

/**
 * Configuration -> running parts of one collection; the only place that names a store. Jobs of services with the same
 * `turns` run one after the other. Throws an error of the kind `refused-at-start` where the database cannot be used
 * as it is.
 */
export const openServices = async (config: Config, turns = new JobTurns()): Promise<RunningServices> => {
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
  const jobs = await closingOnFailure(store, () => openJobs(config, analysis, turns))
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
    isIdle: () => jobs.isIdle() && sqlitePathOf(config.DATABASE_URL) !== inMemory,
    close: async () => {
      await jobs.close()
      await writes.drain()
      await store.close()
    },
  }
}
