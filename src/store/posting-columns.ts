/**
 * Postings of one slot, entry by entry: the value `high * 2^32 + low` and the number of a set or document. All
 * three have the same length.
 */
export type PostingColumns = {
  readonly highs: Uint32Array
  readonly lows: Uint32Array
  readonly numbers: Float64Array
}

/** Indices are packed behind 32 bits of a key into a double, so that the engine's sort of numbers can be used. */
const indexSpan = 2 ** 21

const at = (column: Uint32Array | Float64Array, index: number): number => column[index] as number

/** Indices of a part of the column from its least element to its greatest; equal ones stay in order. */
const order = (keys: Uint32Array): Uint32Array => {
  const packed = new Float64Array(keys.length)
  for (let i = 0; i < keys.length; i++) packed[i] = at(keys, i) * indexSpan + i
  packed.sort()
  const indices = new Uint32Array(keys.length)
  for (let i = 0; i < keys.length; i++) indices[i] = at(packed, i) % indexSpan
  return indices
}

const permuted = ({ highs, lows, numbers }: PostingColumns, indices: Uint32Array): PostingColumns => {
  const columns = {
    highs: new Uint32Array(indices.length),
    lows: new Uint32Array(indices.length),
    numbers: new Float64Array(indices.length),
  }
  for (let i = 0; i < indices.length; i++) {
    const from = at(indices, i)
    columns.highs[i] = at(highs, from)
    columns.lows[i] = at(lows, from)
    columns.numbers[i] = at(numbers, from)
  }
  return columns
}

/**
 * The postings by unsigned value; those of one value stay in order. At most 2 million. O(n log n), some 10 ms for
 * 100,000.
 */
export const sortPostings = (columns: PostingColumns): PostingColumns => {
  if (columns.numbers.length > indexSpan) throw new RangeError('Too many postings to sort at once')
  if (!columns.highs.some((high) => high !== 0)) return permuted(columns, order(columns.lows))
  const sorted = permuted(columns, order(columns.highs))
  const { highs, lows, numbers } = sorted
  for (let from = 0; from < highs.length; ) {
    let to = from + 1
    while (to < highs.length && at(highs, to) === at(highs, from)) to++
    if (to > from + 1) {
      const part = { highs, lows: lows.slice(from, to), numbers: numbers.slice(from, to) }
      const indices = order(part.lows)
      for (let i = 0; i < indices.length; i++) {
        lows[from + i] = at(part.lows, at(indices, i))
        numbers[from + i] = at(part.numbers, at(indices, i))
      }
    }
    from = to
  }
  return sorted
}

/**
 * The postings parted by value, in about `partCount` parts in increasing order of their values, each in the order of
 * before: parts can be sorted one by one. Values are taken for hashes: others make parts of unequal size. Linear.
 */
export const partPostings = (columns: PostingColumns, partCount: number): PostingColumns[] => {
  const { highs, lows, numbers } = columns
  const keys = highs.some((high) => high !== 0) ? highs : lows
  let greatest = 0
  for (let i = 0; i < keys.length; i++) greatest = Math.max(greatest, at(keys, i))
  const scale = partCount / (greatest + 1)
  const lengths = new Uint32Array(partCount)
  for (let i = 0; i < keys.length; i++) {
    const part = Math.floor(at(keys, i) * scale)
    lengths[part] = at(lengths, part) + 1
  }
  const parts = Array.from({ length: partCount }, (_, part) => {
    const length = at(lengths, part)
    return {
      highs: new Uint32Array(length),
      lows: new Uint32Array(length),
      numbers: new Float64Array(length),
    }
  })
  const filled = new Uint32Array(partCount)
  for (let i = 0; i < keys.length; i++) {
    const number = Math.floor(at(keys, i) * scale)
    const part = parts[number] as PostingColumns
    const to = at(filled, number)
    part.highs[to] = at(highs, i)
    part.lows[to] = at(lows, i)
    part.numbers[to] = at(numbers, i)
    filled[number] = to + 1
  }
  return parts
}
