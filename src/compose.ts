import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defaultCollection, isCollectionName } from './access/collection-name.ts'
import { type AnalysisOptions, analyzeText } from './analysis/analyze.ts'
import { Analyzer } from './analysis/analyzer.ts'
import { schemeOf } from './analysis/scheme.ts'
import { type Config, sqlitePathOf } from './config.ts'
import { DittographError } from './errors.ts'
import { hashSeedOf } from './hash-seed.ts'
import { type EvaluatedDocuments, Evaluations } from './job/evaluations.ts'
import { JobCatalog } from './job/job-catalog.ts'
import { JobTurns } from './job/job-turns.ts'
import { Jobs } from './job/jobs.ts'
import { JudgementBook } from './job/judgement-book.ts'
import { NoEvaluations } from './job/no-evaluations.ts'
import { NoJobs } from './job/no-jobs.ts'
import { Comparison } from './service/comparison.ts'
import { Documents } from './service/documents.ts'
import type { EvaluationService } from './service/evaluation-service.ts'
import { FeatureSets } from './service/feature-sets.ts'
import { NearDuplicates } from './service/near-duplicates.ts'
import type { Services } from './service/service.ts'
import { StageMetrics } from './service/stage-metrics.ts'
import { WriteQueue } from './service/write-queue.ts'
import { featureSet } from './signature/features.ts'
import { backupDatabase, backupJudgements } from './store/sqlite/backup.ts'
import type { ExactIndexOptions } from './store/sqlite/feature-index.ts'
import { openJobDatabase } from './store/sqlite/job-database.ts'
import { reindexSqliteStore } from './store/sqlite/reindex.ts'
import {
  type ResignOptions,
  type ResignOutcome,
  resignSqliteStore,
  takeOverResigned,
} from './store/sqlite/resign.ts'
import { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts'
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

/** Records of jobs, and judgements, of the database in a file; what jobs find lies beside it. */
const jobDatabaseOf = (databaseFile: string): string => join(`${databaseFile}-jobs`, 'jobs.db')

/** Jobs beside a database in a file; without one there is nothing that their threads could read. */
const openJobs = (
  config: Config,
  analysis: AnalysisOptions,
  store: Store,
  turns: JobTurns,
): { jobs: Jobs | NoJobs; evaluation: EvaluationService } => {
  const path = sqlitePathOf(config.DATABASE_URL)
  if (path === inMemory) return { jobs: new NoJobs(), evaluation: new NoEvaluations() }
  const databaseFile = realpathSync(path)
  const db = openJobDatabase(jobDatabaseOf(databaseFile), Date.now())
  const jobs = new Jobs({
    catalog: new JobCatalog(db),
    directory: dirname(jobDatabaseOf(databaseFile)),
    databaseFile,
    analysis,
    queueLimit: config.JOB_QUEUE_LIMIT,
    turns,
    mostResultAgeMs: config.JOB_RESULT_DAYS * dayMs,
    mostResultBytes: config.JOB_RESULTS_MB * 2 ** 20,
    now: Date.now,
  })
  const evaluation = new Evaluations({
    openJoin: (id) => jobs.openJoin(id),
    judgements: new JudgementBook(db),
    documents: evaluatedDocuments(store, analysis),
    now: Date.now,
  })
  return { jobs, evaluation }
}

const evaluatedDocuments = (store: Store, analysis: AnalysisOptions): EvaluatedDocuments => ({
  contentOf: async (id) => {
    const record = await store.get(id)
    return record === null ? null : Buffer.from(record.contentHash).toString('hex')
  },
  termsOf: async (id) => {
    const text = (await store.texts([id])).get(id)?.text ?? null
    return text === null ? null : analyzeText(Buffer.from(text).toString(), analysis).terms
  },
})

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

const resignOptionsOf = (config: Config, analyzer: Analyzer): ResignOptions => ({
  ...storeOptionsOf(config, analyzer),
  sketch: (url, text) => analyzer.sketchOfText(url, text),
})

const analyzerOf = (config: Config): Analyzer =>
  new Analyzer({
    tokenizer: config.TOKENIZER,
    siteRule: config.SITE_RULE,
    hashSeed: config.HASH_SEED === null ? null : hashSeedOf(config.HASH_SEED),
  })

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

/** What no setting says. */
export type ServicesOptions = {
  /** Jobs of services with the same turns run one after the other. */
  readonly turns?: JobTurns
  readonly storeOptions?: Partial<SqliteStoreOptions>
}

/**
 * Configuration -> running parts of one collection; the only place that names a store. Throws an error of the kind
 * `refused-at-start` where the database cannot be used as it is.
 */
export const openServices = async (
  config: Config,
  { turns = new JobTurns(), storeOptions = {} }: ServicesOptions = {},
): Promise<RunningServices> => {
  const analyzer = analyzerOf(config)
  await takeOverResigned({ ...resignOptionsOf(config, analyzer), ...storeOptions })
  const store = await openSqliteStore({ ...storeOptionsOf(config, analyzer), ...storeOptions })
  if (config.EXACT_INDEX && !store.hasExactIndex)
    process.emitWarning(
      'The exact index of the database was not built, or for a higher EXACT_MIN_THRESHOLD: exact searches scan ' +
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
  const { jobs, evaluation } = await closingOnFailure(store, () =>
    openJobs(config, analyzer.options, store, turns),
  )
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
      jobs,
      evaluation,
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

/**
 * Makes the postings of the database again, and its exact index where EXACT_INDEX is set. Returns how many identity
 * sets it has. Throws as `openServices` does.
 */
export const reindex = (config: Config, onProgress: (done: number, sets: number) => void): Promise<number> =>
  reindexSqliteStore({ ...storeOptionsOf(config, analyzerOf(config)), onProgress })

/**
 * Makes the signatures of the database again under the scheme of the settings, from its kept texts. Throws
 * `resign_refused` where that cannot be done.
 */
export const resign = (
  config: Config,
  options: Pick<ResignOptions, 'leaveOut' | 'keepOld' | 'onProgress'>,
): Promise<ResignOutcome> => resignSqliteStore({ ...resignOptionsOf(config, analyzerOf(config)), ...options })

/**
 * Copies the database of a configuration, also while a service has it open, into a new file that can be used in its
 * place. See `backupDatabase`.
 */
export const backup = async (
  config: Config,
  file: string,
  onProgress: (done: number, pages: number) => void,
): Promise<void> => {
  const path = sqlitePathOf(config.DATABASE_URL)
  if (path === inMemory)
    throw new DittographError(
      'invalid_configuration',
      'A database in memory cannot be copied by another process',
    )
  if (!existsSync(path)) throw new DittographError('database_unusable', 'There is no database to copy')
  await backupDatabase(path, file, onProgress)
  const jobDatabase = jobDatabaseOf(realpathSync(path))
  if (existsSync(jobDatabase)) await backupJudgements(jobDatabase, jobDatabaseOf(file))
}
