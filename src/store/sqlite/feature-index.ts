import type Database from 'better-sqlite3'
import { type Bounds, boundsOf } from '../../join/bounds.ts'
import { thresholdOf } from '../../join/threshold.ts'
import type { Features } from '../../signature/features.ts'
import { FeatureOrder } from '../feature-order.ts'
import { type FeatureOrders, FeaturePoster, type FeatureSource } from '../feature-postings.ts'
import { featureSlot } from './posting-slot.ts'
import { featureSql } from './sql.ts'

/** That the store is to keep prefix postings, and how they are made. */
export type ExactIndexOptions = {
  readonly source: FeatureSource
  /** Least threshold by jaccard that a search is answered for. */
  readonly minThreshold: number
}

const settingName = 'exact_index'

/** The index of a database of which every set has its postings. */
export type FeatureIndex = {
  readonly orders: FeatureOrders
  readonly poster: FeaturePoster
  /** Postings are those of the prefixes for these. */
  readonly least: Bounds
}

const orderOf = (db: Database.Database, features: Features): FeatureOrder =>
  new FeatureOrder(
    Float64Array.from(db.prepare<[number], number>(featureSql.frequent).pluck().all(featureSlot[features])),
  )

/** The index as its order is frozen now. */
export const featureIndexOf = (
  db: Database.Database,
  { source, minThreshold }: ExactIndexOptions,
): FeatureIndex => {
  const orders = { shingles: orderOf(db, 'shingles'), tokens: orderOf(db, 'tokens') }
  const least = boundsOf('jaccard', thresholdOf(minThreshold))
  return { orders, poster: new FeaturePoster(source, least, orders), least }
}

/** Takes down that all sets have their postings under these options, or that they have none. */
export const markIndexBuilt = (db: Database.Database, options: ExactIndexOptions | null): void => {
  if (options === null) db.prepare(featureSql.forgetSetting).run(settingName)
  else db.prepare(featureSql.setSetting).run(settingName, String(options.minThreshold))
}

/**
 * The index if it was built for all sets, which it is in a database without sets, and for this threshold or a lower one:
 * that one stays in force. null otherwise. Without `options`, or with a lower threshold, sets are stored without
 * postings from here on, so that what there is of an index is forgotten.
 */
export const openFeatureIndex = (
  db: Database.Database,
  options: ExactIndexOptions | null,
  sets: number,
): FeatureIndex | null => {
  if (options === null || sets === 0) markIndexBuilt(db, options)
  if (options === null) return null
  const built = db.prepare<[string], string>(featureSql.setting).pluck().get(settingName)
  if (built !== undefined && Number(built) <= options.minThreshold)
    return featureIndexOf(db, { ...options, minThreshold: Number(built) })
  markIndexBuilt(db, null)
  return null
}
