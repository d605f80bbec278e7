import { isResemblanceEnough } from '../detect/decide.ts'
import { resemblance } from '../detect/resemblance.ts'
import { similaritiesIn } from '../detect/sketch-join.ts'
import { boundsOf, reaches } from '../join/bounds.ts'
import { partitionedSelfJoin } from '../join/join.ts'
import { isMeasure, similarity } from '../join/measure.ts'
import type { PairBlock } from '../join/pair-sink.ts'
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
    const partAt = (i: number): Part => parts[i] as Part // asked for within `count` only
    const sink = ({ a, b, overlaps, count }: PairBlock): void => {
      for (let i = 0; i < count; i++) addPair(a[i] as number, b[i] as number, overlaps[i] as number)
    }
    const join = partitionedSelfJoin(
      {
        count: parts.length,
        load: (i) => {
          const { sets } = partAt(i)
          return { ids: sets, sets: sets.map((set) => features.of(set) ?? new Float64Array(0)) }
        },
        smallestSize: (i) => partAt(i).smallest,
        largestSize: (i) => partAt(i).largest,
      },
      { bounds, filter: 'positional', sink },
    )
    for (const done of join) report(sketches.count + done, 2 * sketches.count)
    return { recall: 1, pairsWithoutText: setsWithoutText }
  }

export const exactJoin = createExactJoin(mostFeaturesInPart)

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
