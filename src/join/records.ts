/**
 * Sets of tokens as ranks in one global order, rare tokens first, in increasing order of size: record i has the
 * ranks tokens[offsets[i]] to tokens[offsets[i + 1]], in increasing order.
 */
export type Records = {
  readonly tokens: Uint32Array
  readonly offsets: Uint32Array
  /** Of each record: its place among the sets that the records were made of. */
  readonly ids: Uint32Array
  /** Different tokens: ranks are below it. */
  readonly vocabularySize: number
}

/** Sets of tokens that are numbered as they came: of set i those from offsets[i] on, each once. */
export type NumberedSets = {
  readonly tokens: Uint32Array
  readonly offsets: Uint32Array
  readonly vocabularySize: number
}

/** Grows by doubling. */
class Column {
  length = 0
  #values: Uint32Array

  constructor(capacity: number) {
    this.#values = new Uint32Array(capacity)
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Uint32Array(2 * this.length)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.length++] = value
  }

  /** The values so far; not a copy. */
  values(): Uint32Array {
    return this.#values.subarray(0, this.length)
  }
}

/**
 * Numbers tokens as they come. A bag becomes a set in which the i-th occurrence of a token is an element of its own.
 * Two tokens are equal where they are one key of a Map, so fingerprints of 53 bits are as good as the tokens
 * themselves, but where two of them coincide.
 *
 * Source: Xiao et al. 2008, section 2.
 */
export class BagNumbering {
  /** How many elements have a number. */
  size = 0
  /** Of each token the numbers of its occurrences; most occur once, and get along without a list. */
  readonly #numbers = new Map<string | number, number | number[]>()

  /** The numbers of a bag, in the order of its tokens. */
  number(bag: Iterable<string | number>): Uint32Array {
    const numbers = new Column(64)
    const counts = new Map<string | number, number>()
    for (const token of bag) {
      const count = counts.get(token) ?? 0
      counts.set(token, count + 1)
      let number = this.#numberOf(token, count)
      if (number === undefined) {
        number = this.size++
        const known = this.#numbers.get(token)
        if (known === undefined) this.#numbers.set(token, number)
        else if (typeof known === 'number') this.#numbers.set(token, [known, number])
        else known.push(number)
      }
      numbers.push(number)
    }
    return numbers.values()
  }

  /** The numbers that the elements of a bag have, and how many have none. */
  lookUp(bag: Iterable<string | number>): { readonly known: readonly number[]; readonly unknown: number } {
    const known: number[] = []
    let unknown = 0
    const counts = new Map<string | number, number>()
    for (const token of bag) {
      const count = counts.get(token) ?? 0
      counts.set(token, count + 1)
      const number = this.#numberOf(token, count)
      if (number === undefined) unknown++
      else known.push(number)
    }
    return { known, unknown }
  }

  #numberOf(token: string | number, count: number): number | undefined {
    const known = this.#numbers.get(token)
    if (typeof known === 'number') return count === 0 ? known : undefined
    return known?.[count]
  }
}

export const numberBags = (bags: Iterable<Iterable<string | number>>): NumberedSets => {
  const numbering = new BagNumbering()
  const tokens = new Column(1024)
  const offsets = new Column(1024)
  offsets.push(0)
  for (const bag of bags) {
    for (const number of numbering.number(bag)) tokens.push(number)
    offsets.push(tokens.length)
  }
  return { tokens: tokens.values(), offsets: offsets.values(), vocabularySize: numbering.size }
}

/**
 * Brings sets into the canonical form: tokens by increasing frequency, equal ones as they were numbered; records by
 * increasing size, equal ones as they came. O(n log n) in the number of tokens.
 */
const canonicalRecords = ({ tokens, offsets, vocabularySize }: NumberedSets): Records => {
  const rankOf = ranksByFrequency(tokens, vocabularySize)
  return sortedRecords(
    tokens.map((token) => rankOf[token] as number),
    offsets,
    vocabularySize,
  )
}

/**
 * The same of sets of whole numbers below 2^53, each without repetition: several times as fast as with a Map.
 */
const numberSets = (sets: readonly Float64Array[]): NumberedSets => {
  const total = sets.reduce((sum, { length }) => sum + length, 0)
  const tokens = new Uint32Array(total)
  const offsets = new Uint32Array(sets.length + 1)
  const table = new NumberTable()
  let end = 0
  sets.forEach((set, i) => {
    for (let at = 0; at < set.length; at++) tokens[end++] = table.numberOf(set[at] as number)
    offsets[i + 1] = end
  })
  return { tokens, offsets, vocabularySize: table.size }
}

/** Numbers whole numbers as they come: open addressing, at most half full; 12 bytes a place. */
class NumberTable {
  size = 0
  #keys = new Float64Array(1024)
  /** One more than the number of the key; 0 is an empty place. */
  #numbers = new Uint32Array(1024)

  numberOf(key: number): number {
    const place = this.#placeOf(key)
    const known = this.#numbers[place] as number
    if (known !== 0) return known - 1
    this.#keys[place] = key
    this.#numbers[place] = ++this.size
    if (2 * this.size > this.#keys.length) this.#grow()
    return this.size - 1
  }

  #placeOf(key: number): number {
    const mask = this.#keys.length - 1
    // Features are fingerprints, so that any of their bits would do; other numbers are mixed.
    let hash = Math.imul((key % 0x100000000) | 0, 0x9e3779b1) ^ Math.imul((key / 0x100000000) | 0, 0x85ebca6b)
    hash ^= hash >>> 15
    let place = hash & mask
    while (this.#numbers[place] !== 0 && this.#keys[place] !== key) place = (place + 1) & mask
    return place
  }

  #grow(): void {
    const [keys, numbers] = [this.#keys, this.#numbers]
    this.#keys = new Float64Array(2 * keys.length)
    this.#numbers = new Uint32Array(2 * keys.length)
    for (let old = 0; old < keys.length; old++) {
      const number = numbers[old] as number
      if (number === 0) continue
      const place = this.#placeOf(keys[old] as number)
      this.#keys[place] = keys[old] as number
      this.#numbers[place] = number
    }
  }
}

export const recordsOfSets = (sets: readonly Float64Array[]): Records => canonicalRecords(numberSets(sets))

export const recordsOfBags = (bags: Iterable<Iterable<string | number>>): Records =>
  canonicalRecords(numberBags(bags))

/** Two collections, and an order of tokens by their frequency in both. */
export type RecordPair = { readonly r: Records; readonly s: Records }

export const recordPairOfBags = (
  r: readonly Iterable<string | number>[],
  s: readonly Iterable<string | number>[],
): RecordPair => recordPair(numberBags([...r, ...s]), r.length)

export const recordPairOfSets = (r: readonly Float64Array[], s: readonly Float64Array[]): RecordPair =>
  recordPair(numberSets([...r, ...s]), r.length)

/** The first `cut` sets, and the others. */
const recordPair = ({ tokens, offsets, vocabularySize }: NumberedSets, cut: number): RecordPair => {
  const rankOf = ranksByFrequency(tokens, vocabularySize)
  const part = (from: number, to: number): Records => {
    const start = offsets[from] as number
    return sortedRecords(
      tokens.subarray(start, offsets[to]).map((token) => rankOf[token] as number),
      offsets.subarray(from, to + 1).map((offset) => offset - start),
      vocabularySize,
    )
  }
  return { r: part(0, cut), s: part(cut, offsets.length - 1) }
}

const sortedRecords = (ranks: Uint32Array, offsets: Uint32Array, vocabularySize: number): Records => {
  const ids = orderBySize(offsets)
  const tokens = new Uint32Array(ranks.length)
  const starts = new Uint32Array(offsets.length)
  let end = 0
  ids.forEach((set, record) => {
    const values = ranks.subarray(offsets[set], offsets[set + 1]).sort()
    tokens.set(values, end)
    end += values.length
    starts[record + 1] = end
  })
  return { tokens, offsets: starts, ids, vocabularySize }
}

/** Of each token its place in the order of increasing frequency. */
const ranksByFrequency = (tokens: Uint32Array, vocabularySize: number): Uint32Array => {
  const ranks = new Uint32Array(vocabularySize)
  tokensByFrequency(tokens, vocabularySize).forEach((token, rank) => {
    ranks[token] = rank
  })
  return ranks
}

/** All tokens by increasing frequency, equal ones as they were numbered. */
export const tokensByFrequency = (tokens: Uint32Array, vocabularySize: number): Uint32Array => {
  const frequencies = new Uint32Array(vocabularySize)
  for (const token of tokens) frequencies[token] = (frequencies[token] as number) + 1
  return placesInOrder(frequencies)
}

const orderBySize = (offsets: Uint32Array): Uint32Array =>
  placesInOrder(
    Uint32Array.from(
      { length: offsets.length - 1 },
      (_, i) => (offsets[i + 1] as number) - (offsets[i] as number),
    ),
  )

/** Indices by increasing value, those of equal values in order: a counting sort. */
const placesInOrder = (values: Uint32Array): Uint32Array => {
  let most = 0
  for (const value of values) if (value > most) most = value
  const ends = new Uint32Array(most + 2)
  for (const value of values) ends[value + 1] = (ends[value + 1] as number) + 1
  for (let value = 0; value <= most; value++)
    ends[value + 1] = (ends[value + 1] as number) + (ends[value] as number)
  const order = new Uint32Array(values.length)
  values.forEach((value, i) => {
    const place = ends[value] as number
    order[place] = i
    ends[value] = place + 1
  })
  return order
}
