import { isResemblanceEnough } from '../detect/decide.ts'
import { resemblance } from '../detect/resemblance.ts'
import { similaritiesIn } from '../detect/sketch-join.ts'
import { boundsOf, reaches } from '../join/bounds.ts'
import { rsJoin, selfJoin } from '../join/join.ts'
import { isMeasure, similarity } from '../join/measure.ts'
import type { PairBlock } from '../join/pair-sink.ts'
import { recordPairOfSets, recordsOfSets } from '../join/records.ts'
import { thresholdOf } from '../join/threshold.ts'
import type { JoinAlgorithm } from './join-algorithm.ts'
import { pairsOn } from './join-writer.ts'
import { SetFeatures } from './set-features.ts'

/** Features that are joined at once: two such parts, their order and their postings take about a GiB. */
const mostFeaturesInPart = 8_000_000

/** Sets of increasing size whose features are in memory together. */
type Part = { readonly sets: readonly number[]; readonly smallest: number; readonly largest: number }

/**
 * The join by an exact measure, with PPJoin. Sets are read once for their sizes; what is too much for memory is joined in
 * parts of increasing size: each with itself, and with those before it that have sets large enough.
 */
export const createExactJoin =
  (mostFeatures: number): JoinAlgorithm =>
  ({ request, source, analyzer, add, report }) => {
    const { algorithm: measure, exact, site } = request
    if (!isMeasure(measure) || exact === null) throw new Error(`The join by ${measure} is no exact one`)
    const { sketches, firstMember } = source.snapshot
    const bounds = boundsOf(measure, thresholdOf(exact.threshold))
    const features = new SetFeatures(source, analyzer, exact.features)
    const shingles = new SetFeatures(source, analyzer, 'shingles')
    const sizes = new Uint32Array(sketches.count)
    let setsWithoutText = 0
    for (let set = 0; set < sketches.count; set++) {
      const values = features.of(set)
      sizes[set] = values?.length ?? 0
      if (values === null) setsWithoutText++
      if (set % 256 === 0) report(set, 2 * sketches.count)
    }
    const sites = pairsOn[site]
    const addPair = (a: number, b: number, overlap: number): void => {
      if (request.minResemblance !== null && request.minResemblance > 0 && a !== b) {
        const [ofA, ofB] = [shingles.of(a), shingles.of(b)]
        const value = ofA === null || ofB === null ? null : resemblance(ofA, ofB).value
        if (!isResemblanceEnough(value, request)) return
      }
      const value = similarity(measure, overlap, sizes[a] as number, sizes[b] as number)
      add({ a, b, ...similaritiesIn(sketches, a, b), sites, similarity: value })
    }
    for (let set = 0; set < sketches.count; set++) {
      const size = sizes[set] as number
      const isRepeated = (firstMember[set + 1] as number) - (firstMember[set] as number) > 1
      if (isRepeated && reaches(bounds, size, size, size)) addPair(set, set, size)
    }
    const parts = partsOf(sizes, mostFeatures)
    const load = ({ sets }: Part): Float64Array[] =>
      sets.map((set) => features.of(set) ?? new Float64Array(0))
    let done = 0
    parts.forEach((right, i) => {
      const values = load(right)
      const reportRecords = (records: number): void =>
        report(sketches.count + done + records, 2 * sketches.count)
      for (const left of parts.slice(0, i)) {
        if (left.largest < bounds.minSize(right.smallest)) continue
        const { r, s } = recordPairOfSets(values, load(left))
        const sink = sinkOf((a, b, overlap) =>
          addPair(left.sets[a] as number, right.sets[b] as number, overlap),
        )
        for (const _ of rsJoin(r, s, { bounds, filter: 'positional', sink })) reportRecords(0)
      }
      const sink = sinkOf((a, b, overlap) =>
        addPair(right.sets[a] as number, right.sets[b] as number, overlap),
      )
      const records = recordsOfSets(values)
      for (const step of selfJoin(records, { bounds, filter: 'positional', sink })) reportRecords(step)
      done += right.sets.length
    })
    return { recall: 1, pairsWithoutText: setsWithoutText }
  }

export const exactJoin = createExactJoin(mostFeaturesInPart)

const sinkOf =
  (add: (a: number, b: number, overlap: number) => void) =>
  ({ a, b, overlaps, count }: PairBlock): void => {
    for (let i = 0; i < count; i++) add(a[i] as number, b[i] as number, overlaps[i] as number)
  }

/** Sets that have features, cut into parts by increasing size; `most` features in a part, but one set at least. */
export const partsOf = (sizes: Uint32Array, most: number): Part[] => {
  const order = Uint32Array.from(sizes.keys())
    .filter((set) => sizes[set] !== 0)
    .sort((a, b) => (sizes[a] as number) - (sizes[b] as number) || a - b)
  const parts: Part[] = []
  let sets: number[] = []
  let features = 0
  const end = (): void => {
    const [first, last] = [sets[0], sets.at(-1)]
    if (first !== undefined && last !== undefined)
      parts.push({ sets, smallest: sizes[first] as number, largest: sizes[last] as number })
    sets = []
    features = 0
  }
  for (const set of order) {
    const size = sizes[set] as number
    if (features + size > most) end()
    sets.push(set)
    features += size
  }
  end()
  return parts
}
