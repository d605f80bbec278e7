import type Database from 'better-sqlite3'
import type { Features } from '../../signature/features.ts'
import { FeatureCounter } from '../feature-counter.ts'
import { openDatabase } from './database.ts'
import { type ExactIndexOptions, type FeatureIndex, featureIndexOf, markIndexBuilt } from './feature-index.ts'
import { Maintenance } from './maintenance.ts'
import { type IndexedDocument, type IndexedSet, PostingIndex, type SetWithTextRow } from './posting-index.ts'
import { featureSlot } from './posting-slot.ts'
import { documentSql, featureSql, postingSql, reindexSql } from './sql.ts'
import { toDittographError } from './sqlite-error.ts'
import { type SqliteStoreOptions, withDefaults } from './sqlite-store.ts'

export type ReindexOptions = SqliteStoreOptions & {
  /** Called now and then with how many sets are indexed, of how many. */
  readonly onProgress?: (done: number, sets: number) => void
}

/** Sets of which features are counted, evenly spread over all. */
const mostCounted = 65_536
const setsAtOnce = 256
const documentsAtOnce = 1024
const numbersAtOnce = 8192

/**
 * Makes all postings of a database again from its rows, and with `exactIndex` those of features in an order of features
 * that is counted anew. In the memory that storing takes. Nobody else can use the database meanwhile; where it is
 * interrupted, the database is refused until it has been reindexed. Returns how many sets it has.
 */
export const reindexSqliteStore = async (options: ReindexOptions): Promise<number> => {
  const { onProgress = () => undefined, ...storeOptions } = options
  const settled = withDefaults(storeOptions)
  const { db, close } = openDatabase({ ...settled, path: options.path, scheme: options.scheme })
  try {
    const sets = db.prepare<[], number>(reindexSql.countSets).pluck().get() ?? 0
    db.transaction(() => {
      db.prepare(reindexSql.begin).run()
      db.prepare(featureSql.deleteFrequent).run()
      db.prepare(reindexSql.dropRuns).run()
      db.prepare(postingSql.deleteGoneAfter).run(0)
    }).immediate()
    const { exactIndex, indexMemoryBytes } = settled
    if (exactIndex !== null) freezeOrder(db, exactIndex, sets)
    const featureIndex = exactIndex === null ? null : featureIndexOf(db, exactIndex)
    const index = new PostingIndex(db, indexMemoryBytes, featureIndex)
    const maintenance = new Maintenance({ ...settled, db, index })
    maintenance.wake(0)
    let done = 0
    for (const window of windowsOf(db)) {
      const operations = addWindow(db, index, featureIndex, window)
      maintenance.wake(operations.sets + operations.documents, operations.featurePostings)
      await maintenance.keepUp()
      done += operations.sets
      onProgress(done, sets)
    }
    maintenance.stop(new Error('The database is reindexed'))
    db.transaction(() => {
      markIndexBuilt(db, exactIndex)
      db.prepare(reindexSql.end).run()
    }).immediate()
    return sets
  } catch (reason) {
    throw toDittographError(reason)
  } finally {
    close()
  }
}

/** Counts the features and keeps which ones are frequent. */
const freezeOrder = (db: Database.Database, { source }: ExactIndexOptions, sets: number): void => {
  const step = Math.max(1, Math.ceil(sets / mostCounted))
  const counted = Math.ceil(sets / step)
  const counters: Readonly<Record<Features, FeatureCounter>> = {
    shingles: new FeatureCounter(counted),
    tokens: new FeatureCounter(counted),
  }
  const numbersAfter = db.prepare<[number, number], number>(reindexSql.setNumbersAfter).pluck()
  const textOf = db.prepare<[number], SetWithTextRow>(documentSql.setText)
  let next = 0
  for (let after = 0, passed = 0; ; ) {
    const numbers = numbersAfter.all(after, numbersAtOnce)
    for (; next < passed + numbers.length; next += step) {
      const text = textOf.get(numbers[next - passed] as number)?.text ?? null
      if (text === null) continue
      const { shingles, tokens } = source(text)
      counters.shingles.add(shingles)
      counters.tokens.add(tokens)
    }
    passed += numbers.length
    after = numbers.at(-1) ?? after
    if (numbers.length < numbersAtOnce) break
  }
  const insert = db.prepare(featureSql.insertFrequent)
  db.transaction(() => {
    for (const features of ['shingles', 'tokens'] as const)
      counters[features].frequent().forEach((feature, rank) => {
        insert.run(featureSlot[features], rank, feature)
      })
  }).immediate()
}

/** Ranges of numbers, one behind the other, with a bounded number of sets and documents in each. */
function* windowsOf(db: Database.Database): Generator<{ readonly after: number; readonly through: number }> {
  const lastSet = db.prepare<[number, number], number>(reindexSql.nthSetAfter).pluck()
  const lastDocument = db.prepare<[number, number], number>(reindexSql.nthDocumentAfter).pluck()
  for (let after = 0; ; ) {
    const ends = [lastSet.get(after, setsAtOnce - 1), lastDocument.get(after, documentsAtOnce - 1)]
    const through = Math.min(...ends.map((end) => end ?? Number.MAX_SAFE_INTEGER))
    yield { after, through }
    if (through === Number.MAX_SAFE_INTEGER) return
    after = through
  }
}

const addWindow = (
  db: Database.Database,
  index: PostingIndex,
  featureIndex: FeatureIndex | null,
  { after, through }: { readonly after: number; readonly through: number },
) => {
  const rows = db.prepare<[number, number], SetWithTextRow>(documentSql.setTextsAfter).all(after, through)
  let featurePostings = 0
  const sets = rows.map(({ text, ...row }): IndexedSet => {
    const features = row.supershingles === null ? null : (featureIndex?.poster.postingsOf(text) ?? null)
    if (features !== null) featurePostings += features.shingles.lows.length + features.tokens.lows.length
    return { ...row, features }
  })
  index.addSets(sets)
  const documents = db
    .prepare<[number, number], IndexedDocument>(documentSql.documentsAfter)
    .all(after, through)
  for (const document of documents) index.addDocument(document)
  return { sets: sets.length, documents: documents.length, featurePostings }
}
