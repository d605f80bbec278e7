import { simhashBits, supershingleCount } from '../signature/scheme.ts'
import type { Signature } from '../signature/signature.ts'
import { bandCount, bandValues } from './band.ts'
import { KeySorter } from './key-sorter.ts'
import { populationCount } from './similarity.ts'

/** 32-bit words of one supershingle list, and of one simhash: both have 48 bytes. */
export const wordsInSketch = 12

/** Sketches of `count` pages; those of page i begin at word 12 i. Words are big-endian parts of the byte strings. */
export type SketchTable = {
  readonly count: number
  readonly supershingles: Uint32Array
  readonly simhashes: Uint32Array
}

export const sketchTableOf = (signatures: readonly Signature[]): SketchTable => {
  const wordsOf = (bytesOf: (signature: Signature) => Uint8Array): Uint32Array => {
    const words = new Uint32Array(signatures.length * wordsInSketch)
    signatures.forEach((signature, page) => {
      const bytes = bytesOf(signature)
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      for (let word = 0; word < wordsInSketch; word++)
        words[page * wordsInSketch + word] = view.getUint32(4 * word)
    })
    return words
  }
  return {
    count: signatures.length,
    supershingles: wordsOf(({ supershingles }) => supershingles),
    simhashes: wordsOf(({ simhash }) => simhash),
  }
}

export type SketchJoinOptions = {
  /** Pairs that share at least this many supershingles are candidates; null: none of them is for that. */
  readonly minSupershingles: number | null
  /** Pairs that share a simhash band are candidates. */
  readonly bands: boolean
  /** Not 0 at `acceptanceAt(b, c)` where a candidate with these similarities belongs to the result. */
  readonly acceptance: Uint8Array
}

/** Where an acceptance table has the entry of a B-similarity and a C-similarity. */
export const acceptanceAt = (bSimilarity: number, cSimilarity: number): number =>
  bSimilarity * (simhashBits + 1) + cSimilarity

export const acceptanceSize = acceptanceAt(supershingleCount, simhashBits) + 1

/**
 * All pairs a < b of the table that are candidates and accepted, each once.
 *
 * A candidate by supershingles agrees in some choice of m of the six positions. The pages are sorted by each of these
 * C(6, m) choices in turn, so that only pairs of the answer meet: sorted by single supershingles, all pages with one piece of
 * boilerplate would meet. Candidates by bands meet in the 13 sortings by one band; these pairs are not all part of the
 * answer, and are compared one by one, which is quadratic in the pages that share a band. A pair is
 * emitted in the first sorting only that brings it together, which is seen from its sketches, so that nothing
 * has to be remembered: memory is 64 bytes a page beside the table.
 *
 * `report` learns after every few thousand steps how many of how many steps are done; a step is a page in a sorting.
 */
export const joinSketches = (
  table: SketchTable,
  options: SketchJoinOptions,
  emit: (a: number, b: number, bSimilarity: number, cSimilarity: number) => void,
  report: (done: number, total: number) => void = () => undefined,
): void => {
  const { count } = table
  const { minSupershingles, acceptance } = options
  const choices = minSupershingles === null ? [] : positionChoices(minSupershingles)
  const total = count * (choices.length + (options.bands ? bandCount : 0))
  const sorter = new KeySorter(count)
  const keys = new Uint32Array(count)
  let done = 0
  const step = () => {
    if (++done % 4096 === 0) report(done, total)
  }

  for (const choice of choices) {
    fillChoiceKeys(table, choice, keys)
    eachPairInBuckets(sorter.sort(keys), keys, step, (a, b) => {
      const agreeing = agreeingPositions(table.supershingles, a, b)
      if (firstPositions(agreeing, minSupershingles ?? 0) !== choice) return
      const bSimilarity = populationCount(agreeing)
      const cSimilarity = simhashBits - differingBits(table.simhashes, a, b, simhashBits)
      if (acceptance[acceptanceAt(bSimilarity, cSimilarity)] !== 0) emit(a, b, bSimilarity, cSimilarity)
    })
  }

  if (options.bands) {
    const mostDiffering = simhashBits - leastAccepted(acceptance, minSupershingles)
    const bands = bandColumns(table)
    for (const [band, column] of bands.entries()) {
      eachPairInBuckets(sorter.sort(column), column, step, (a, b) => {
        const differing = differingBits(table.simhashes, a, b, mostDiffering)
        if (differing > mostDiffering) return
        for (let earlier = 0; earlier < band; earlier++) {
          const values = bands[earlier] as Uint32Array
          if (values[a] === values[b]) return
        }
        const bSimilarity = populationCount(agreeingPositions(table.supershingles, a, b))
        if (minSupershingles !== null && bSimilarity >= minSupershingles) return
        const cSimilarity = simhashBits - differing
        if (acceptance[acceptanceAt(bSimilarity, cSimilarity)] !== 0) emit(a, b, bSimilarity, cSimilarity)
      })
    }
  }
  report(total, total)
}

/** All sets of `size` of the six positions, as bits; position 0 is the lowest bit. */
const positionChoices = (size: number): number[] =>
  Array.from({ length: 1 << supershingleCount }, (_, bits) => bits).filter(
    (bits) => populationCount(bits) === size,
  )

/** The lowest `size` bits that are set; -1 where fewer are. */
const firstPositions = (bits: number, size: number): number => {
  let rest = bits
  for (let taken = 0; taken < size; taken++) {
    if (rest === 0) return -1
    rest &= rest - 1
  }
  return bits ^ rest
}

/** The supershingles at the chosen positions, mixed into 32 bits: a bucket may hold others, too. */
const fillChoiceKeys = ({ count, supershingles }: SketchTable, choice: number, keys: Uint32Array): void => {
  for (let page = 0; page < count; page++) {
    let key = 0
    for (let position = 0; position < supershingleCount; position++) {
      if ((choice & (1 << position)) === 0) continue
      const at = page * wordsInSketch + 2 * position
      key = Math.imul(key ^ (supershingles[at] as number), 0x9e3779b1)
      key = Math.imul(key ^ (key >>> 15) ^ (supershingles[at + 1] as number), 0x85ebca6b)
      key ^= key >>> 13
    }
    keys[page] = key
  }
}

const bandColumns = ({ count, simhashes }: SketchTable): readonly Uint32Array[] => {
  const columns = Array.from({ length: bandCount }, () => new Uint32Array(count))
  const bytes = new Uint8Array(4 * wordsInSketch)
  const view = new DataView(bytes.buffer)
  for (let page = 0; page < count; page++) {
    for (let word = 0; word < wordsInSketch; word++)
      view.setUint32(4 * word, simhashes[page * wordsInSketch + word] as number)
    const values = bandValues(bytes)
    for (let band = 0; band < bandCount; band++) (columns[band] as Uint32Array)[page] = values[band] as number
  }
  return columns
}

/** The least C-similarity that is accepted of a pair that was not a candidate by its supershingles. */
const leastAccepted = (acceptance: Uint8Array, minSupershingles: number | null): number => {
  for (let c = 0; c <= simhashBits; c++)
    for (let b = 0; b < (minSupershingles ?? supershingleCount + 1); b++)
      if (acceptance[acceptanceAt(b, c)] !== 0) return c
  return simhashBits + 1
}

const agreeingPositions = (supershingles: Uint32Array, a: number, b: number): number => {
  let agreeing = 0
  for (let position = 0; position < supershingleCount; position++) {
    const atA = a * wordsInSketch + 2 * position
    const atB = b * wordsInSketch + 2 * position
    if (supershingles[atA] === supershingles[atB] && supershingles[atA + 1] === supershingles[atB + 1])
      agreeing |= 1 << position
  }
  return agreeing
}

/** B-similarity and C-similarity of two pages of the table. */
export const similaritiesIn = ({ supershingles, simhashes }: SketchTable, a: number, b: number) => ({
  bSimilarity: populationCount(agreeingPositions(supershingles, a, b)),
  cSimilarity: simhashBits - differingBits(simhashes, a, b, simhashBits),
})

/** How many bits differ; where they are more than `most`, some number above it. */
const differingBits = (simhashes: Uint32Array, a: number, b: number, most: number): number => {
  const startA = a * wordsInSketch
  const startB = b * wordsInSketch
  let differing = 0
  for (let word = 0; word < wordsInSketch && differing <= most; word++) {
    differing += populationCount((simhashes[startA + word] as number) ^ (simhashes[startB + word] as number))
  }
  return differing
}

/** Calls `look` with all pairs a < b of equal keys, and `step` after each page. `order` is sorted by key, then by page. */
const eachPairInBuckets = (
  order: Uint32Array,
  keys: Uint32Array,
  step: () => void,
  look: (a: number, b: number) => void,
): void => {
  let start = 0
  while (start < order.length) {
    const key = keys[order[start] as number]
    let end = start + 1
    while (end < order.length && keys[order[end] as number] === key) end++
    for (let i = start; i < end; i++) {
      const a = order[i] as number
      for (let j = i + 1; j < end; j++) look(a, order[j] as number)
      step()
    }
    start = end
  }
}
