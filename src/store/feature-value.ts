/**
 * The 64-bit value of a feature posting: 42 bits of the feature, 11 of the size of its set, 11 of its position there. So
 * the postings of a feature lie together in order of size, and those of a size in order of position.
 *
 *   high: upper 32 bits of the feature; low: its lower 10 bits, the bucket of the size, the bucket of the position
 */
const bucketBits = 11
const keptBelow = 1 << (bucketBits - 1)
/** Buckets of an octave from 1024 on: what they lose is below 1/64. */
const octaveBits = 6
const greatestBucket = (1 << bucketBits) - 1
/** Features are made as integers of 53 bits; postings have the upper 42, which they are called by from here on. */
const featureBits = 42
const droppedFactor = 2 ** (53 - featureBits)
const lowFeatureFactor = 2 ** (32 - 2 * bucketBits)

/** Greater than every feature. */
export const featureLimit = 2 ** featureBits

/** Of the low half of a value, what belongs to the feature. */
export const featureMask = -1 << (2 * bucketBits)

/** Stands for every feature: sets whose features are not known are posted under it, and a search always reads it. */
export const anyFeature = 0

/** The posted part of a feature below 2^53. */
export const postedFeature = (feature: number): number => Math.floor(feature / droppedFactor)

/** The bucket of a size or a position: itself below 1024, then 64 of each octave; the last one has no upper end. */
export const bucketOf = (count: number): number => {
  if (count < keptBelow) return count
  if (count >= 2 ** 26) return greatestBucket
  const octave = 31 - Math.clz32(count)
  const part = (count >>> (octave - octaveBits)) & ((1 << octaveBits) - 1)
  return keptBelow + ((octave - bucketBits + 1) << octaveBits) + part
}

/** The least count of a bucket. */
export const leastOfBucket = (bucket: number): number => {
  if (bucket < keptBelow) return bucket
  const octave = ((bucket - keptBelow) >>> octaveBits) + bucketBits - 1
  const part = (bucket - keptBelow) & ((1 << octaveBits) - 1)
  return ((1 << octaveBits) + part) * 2 ** (octave - octaveBits)
}

/** The greatest count of a bucket. */
export const greatestOfBucket = (bucket: number): number =>
  bucket === greatestBucket ? Number.POSITIVE_INFINITY : leastOfBucket(bucket + 1) - 1

export const highOf = (feature: number): number => Math.floor(feature / lowFeatureFactor)

/** The low half of a value, by buckets. */
export const lowOf = (feature: number, sizeBucket: number, positionBucket: number): number =>
  (((feature % lowFeatureFactor) << (2 * bucketBits)) | (sizeBucket << bucketBits) | positionBucket) >>> 0

export const sizeBucketOf = (low: number): number => (low >>> bucketBits) & greatestBucket
export const positionBucketOf = (low: number): number => low & greatestBucket
