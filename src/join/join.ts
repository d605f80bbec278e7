import type { Bounds } from './bounds.ts'
import { type PairSink, PairWriter } from './pair-sink.ts'
import { type Filter, type JoinCounts, noCounts, Prober, prefixTable, sizesOf } from './prober.ts'
import { type Records, recordPairOfSets, recordsOfSets } from './records.ts'

export type JoinOptions = {
  readonly bounds: Bounds
  readonly filter: Filter
  /** Takes the pairs, each once, by ids as `Records` has them. */
  readonly sink: PairSink
}

/** What is done between two steps, in tokens and postings: a few milliseconds. */
const workInStep = 1 << 19

/**
 * A join in steps of a few milliseconds, between which the caller may stop, or do something else. Each yields how many
 * records are done; the end gives how many pairs came how far.
 */
export type Join = Generator<number, JoinCounts>

/**
 * All pairs of records that reach the threshold: of each pair the smaller record first.
 *
 * Source: Xiao et al. 2008, algorithms 1 to 3.
 */
export function* selfJoin(records: Records, { bounds, filter, sink }: JoinOptions): Join {
  const pairs = new PairWriter(sink)
  const prober = new Prober(records, bounds, filter, bounds.indexPrefix)
  yield* probeAll(prober, records, bounds, pairs, true)
  pairs.flush()
  return prober.counts
}

/**
 * All pairs of a record of r and one of s, under one order of tokens, that reach the threshold: the one of s first.
 *
 * Source: Xiao et al. 2008, section 5 (records of both sides may be the smaller one, so the longer prefix is posted).
 */
export function* rsJoin(r: Records, s: Records, { bounds, filter, sink }: JoinOptions): Join {
  const pairs = new PairWriter(sink)
  const prober = new Prober(s, bounds, filter, bounds.probePrefix)
  for (let record = 0; record < s.ids.length; record++) prober.insert(record)
  yield* probeAll(prober, r, bounds, pairs, false)
  pairs.flush()
  return prober.counts
}

/** Sets in parts that are too large to be in memory all at once. */
export type Partitions = {
  readonly count: number
  /** The ids of the sets of a partition, and the sets; none is empty, and none larger than one of the next partition. */
  load(partition: number): { readonly ids: ArrayLike<number>; readonly sets: readonly Float64Array[] }
  smallestSize(partition: number): number
  largestSize(partition: number): number
}

/**
 * `selfJoin` of sets in partitions: each with itself, and with those before it that have sets large enough. At most two
 * partitions, and the postings of one, are in memory; the order of tokens is that of what is joined at the moment, so
 * that no table of all tokens is needed.
 */
export function* partitionedSelfJoin(partitions: Partitions, options: JoinOptions): Join {
  const { bounds, filter, sink } = options
  const total = noCounts()
  const add = (counts: JoinCounts): void => {
    for (const name of Object.keys(total) as (keyof JoinCounts)[]) total[name] += counts[name]
  }
  const withIds = (records: Records, ids: ArrayLike<number>): Records => ({
    ...records,
    ids: records.ids.map((place) => ids[place] as number),
  })
  let done = 0
  for (let right = 0; right < partitions.count; right++) {
    const { ids, sets } = partitions.load(right)
    const leastSize = bounds.minSize(partitions.smallestSize(right))
    for (let left = 0; left < right; left++) {
      if (partitions.largestSize(left) < leastSize) continue
      const earlier = partitions.load(left)
      const { r, s } = recordPairOfSets(sets, earlier.sets)
      const pairs = new PairWriter(sink)
      // The sets of the left side are not larger than those of the right.
      const prober = new Prober(withIds(s, earlier.ids), bounds, filter, bounds.indexPrefix)
      for (let record = 0; record < s.ids.length; record++) prober.insert(record)
      for (const _ of probeAll(prober, withIds(r, ids), bounds, pairs, false)) yield done
      pairs.flush()
      add(prober.counts)
    }
    const join = selfJoin(withIds(recordsOfSets(sets), ids), options)
    let step = join.next()
    for (; !step.done; step = join.next()) yield done + step.value
    add(step.value)
    done += sets.length
    yield done
  }
  return total
}

function* probeAll(
  prober: Prober,
  records: Records,
  bounds: Bounds,
  pairs: PairWriter,
  insert: boolean,
): Generator<number, void> {
  const { tokens, offsets, ids } = records
  const sizes = sizesOf(records)
  const prefixes = prefixTable(sizes.at(-1) ?? 0, bounds.probePrefix)
  let work = 0
  for (let record = 0; record < ids.length; record++) {
    const size = sizes[record] as number
    const prefix = prefixes[size] as number
    if (prefix === 0) continue
    work += prober.probe(tokens, offsets[record] as number, size, prefix, ids[record] as number, pairs)
    if (insert) prober.insert(record)
    if (work < workInStep) continue
    work = 0
    yield record + 1
  }
}

/** Runs a join to its end, without a pause. */
export const finish = (join: Join): JoinCounts => {
  let step = join.next()
  while (!step.done) step = join.next()
  return step.value
}
