import { bandCount } from '../detect/band.ts'
import { simhashBits, supershingleCount } from '../signature/scheme.ts'
import type { Signature } from '../signature/signature.ts'
import { signatureSlots } from './posting.ts'
import type { PostingColumns } from './posting-columns.ts'
import type { Candidate, ProbeQuery, SetNumber } from './store.ts'

/** The slot after those of the signature: sets by the first 8 bytes of their content hash. */
export const contentSlot = signatureSlots
const tierSlots = signatureSlots + 1

/** A record: 8 bytes of the content hash, 6 supershingles, the simhash; 0 in place of a signature that is missing. */
export const recordBytes = 8 + 8 * supershingleCount + simhashBits / 8
const recordWords = recordBytes / 4
const supershinglesAt = 8
const simhashAt = supershinglesAt + 8 * supershingleCount

const chunkBits = 12
const chunkSets = 1 << chunkBits
/** Places of sets go round in a ring of this size, so that one and a tag fit into 32 bits. */
const ringSize = 1 << 24
const ringMask = ringSize - 1
/** Room for sets beyond the capacity that are in no run yet. */
const mostSets = ringSize - (1 << 21)

/**
 * An entry of a table: occupied, 7 bits of the hash, 24 bits of place. 0 is an empty one, which ends a search; what
 * was removed does not.
 */
const occupied = 0x8000_0000 | 0
const removed = 1
const tagMask = 0x7f
const shardBits = 10
const mostShards = 1 << shardBits
/** Entries of a shard when the capacity is reached: growing one takes a fraction of a millisecond. */
const setsInShard = 65536
const smallestTable = 8
const fullestTable = 0.75
/** A full table of which more than this is in use grows; otherwise it is only cleared of what is not. */
const growingShare = 0.7
/** From this share of the capacity on tables get their last size at once: doubling them again reads every record. */
const lastGrowthShare = 0.25
const meanLoad = 0.54

/** Record, links, number, state, and table entries. */
export const bytesPerSet = recordBytes + 4 * tierSlots + 8 + 1 + Math.ceil((4 * tierSlots) / meanLoad)

const isSigned = 1
const isGone = 2

/** Steps of a scan over neighbouring sets for each step along a chain, which misses the cache. */
const scanSteps = 8

/** An element within bounds. One function for each kind of array: one for all would look up the kind at each call. */
const at = (column: Int32Array, index: number): number => column[index] as number
const byteAt = (column: Uint8Array, index: number): number => column[index] as number
const atOf = <T>(list: readonly T[], index: number): T => list[index] as T

/** Where the key of a slot is: bits of two neighbouring words of a record, in the byte order of the machine. */
const keyWord = new Uint8Array(tierSlots)
const keyMasks = new Int32Array(2 * tierSlots)
/** First bit of the key of a slot, counted from the beginning of the record, and width in bits. */
const keyBit = new Int32Array(tierSlots)
const keyWidth = new Uint8Array(tierSlots)

const defineKey = (slot: number, bit: number, width: number): void => {
  const word = Math.min(bit >>> 5, recordWords - 2)
  const mask = new Uint8Array(8)
  for (let i = bit; i < bit + width; i++) {
    const inMask = i - 32 * word
    mask[inMask >>> 3] = byteAt(mask, inMask >>> 3) | (0x80 >>> (inMask & 7))
  }
  keyWord[slot] = word
  keyMasks.set(new Int32Array(mask.buffer), 2 * slot)
  keyBit[slot] = bit
  keyWidth[slot] = width
}
for (let position = 0; position < supershingleCount; position++)
  defineKey(position, 8 * (supershinglesAt + 8 * position), 64)
for (let band = 0; band < bandCount; band++) {
  const start = Math.floor((simhashBits * band) / bandCount)
  const end = Math.floor((simhashBits * (band + 1)) / bandCount)
  defineKey(supershingleCount + band, 8 * simhashAt + start, end - start)
}
defineKey(contentSlot, 0, 64)

const hashOf = (word0: number, word1: number): number => {
  let hash = Math.imul(word0, 0xcc9e_2d51)
  hash = Math.imul((hash << 15) | (hash >>> 17), 0x1b87_3593) ^ word1
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return hash ^ (hash >>> 16)
}

/** Of the hash, shards take the lowest bits, tags the next, places in a table the highest. */
const tagOf = (hash: number): number => (hash >>> shardBits) & tagMask
const homeOf = (hash: number, size: number): number => Math.floor(((hash >>> 0) * size) / 2 ** 32)
const entryOf = (hash: number, place: number): number => occupied | (tagOf(hash) << 24) | place

/** Sets that are linked together. */
const mostTogether = 65536
const touchedTogether = 256

/** Sets that are gone which count as one that was examined. */
const goneInExamined = 64

/** Arrays of `chunkSets` sets. */
class Chunk {
  readonly bytes = new Uint8Array(chunkSets * recordBytes)
  readonly words = new Int32Array(this.bytes.buffer)
  /** By slot and set: the place of the next set of the posting list; the last one names the first. */
  readonly links = new Int32Array(chunkSets * tierSlots)
  readonly numbers = new Float64Array(chunkSets)
  readonly states = new Uint8Array(chunkSets)
}

/** The chunk of a place where a set is. */
const chunkOf = (chunks: readonly (Chunk | undefined)[], place: number): Chunk =>
  chunks[place >>> chunkBits] as Chunk

export type TierPage = {
  readonly candidates: Candidate[]
  readonly examined: number
  readonly frontier: SetNumber | null
}

/**
 * The newest identity sets with their posting lists, in memory. A posting list is a ring of links in increasing
 * order of set numbers; a table by the hash of the key names the last set of each ring, and holds no key: a key
 * is compared with the record of that set. A set is linked once in each slot, so links of a slot can name sets.
 *
 * Every set that was added is answered for until `evict` drops it; the oldest goes first. Nothing here takes longer
 * than a fraction of a millisecond, because each slot has many small tables that grow at different times.
 */
export class MemoryTier {
  /** Sets beyond this number are to be evicted. */
  readonly capacity: number
  /** All sets with greater numbers that exist are here. */
  coveredAfter = 0
  readonly #shardCount: number
  readonly #tables: Int32Array[]
  /** Entries in each table that are not empty, and how many make it full. */
  readonly #sizes: Int32Array
  readonly #limits: Int32Array
  readonly #chunks: (Chunk | undefined)[] = Array(ringSize / chunkSets)
  #spareChunk: Chunk | null = null
  /** Ordinals count sets from 0; modulo the size of the ring they are places. */
  #first = 0
  #end = 0
  #evictableEnd = 0
  /** Places, and hashes in one slot, of sets that are gone through together: as they came, and then by shard. */
  #places = new Int32Array(0)
  #hashes = new Int32Array(0)
  #unorderedHashes = new Int32Array(0)
  readonly #shardEnds: Int32Array
  /** Keeps the engine from leaving out reads whose only use is that the cache has what they read. */
  #touched = 0
  readonly #query = new Uint8Array(recordBytes)
  readonly #queryWords = new Int32Array(this.#query.buffer)
  readonly #cursorSlots = new Uint8Array(signatureSlots)
  readonly #cursorTails = new Int32Array(signatureSlots)
  readonly #cursorPlaces = new Int32Array(signatureSlots)
  /** How far the place of a cursor is from the oldest set. */
  readonly #cursorRanks = new Int32Array(signatureSlots)

  /** As many sets as fit into the bytes. */
  constructor(budgetBytes: number) {
    this.capacity = Math.min(mostSets, Math.floor(budgetBytes / bytesPerSet))
    const shardsWanted = Math.ceil(Math.max(this.capacity, 16 * setsInShard) / setsInShard)
    this.#shardCount = Math.min(mostShards, 2 ** Math.ceil(Math.log2(shardsWanted)))
    this.#shardEnds = new Int32Array(this.#shardCount)
    // First sizes are spread over an octave, so that tables of equal fill double at different times.
    this.#tables = Array.from({ length: tierSlots * this.#shardCount }, (_, table) => {
      const shard = table % this.#shardCount
      return new Int32Array(Math.round(smallestTable * 2 ** (shard / this.#shardCount)))
    })
    this.#sizes = new Int32Array(this.#tables.length)
    this.#limits = Int32Array.from(this.#tables, ({ length }) => Math.floor(length * fullestTable))
  }

  /** Sets held, those that are gone included. */
  get size(): number {
    return this.#end - this.#first
  }

  /** The ordinal that the next set gets. */
  get endOrdinal(): number {
    return this.#end
  }

  /** Number of the first set from an ordinal on; infinite where there is none. */
  firstNumberFrom(ordinal: number): SetNumber {
    return ordinal < this.#end ? this.#numberAt(ordinal & ringMask) : Number.POSITIVE_INFINITY
  }

  /** Number of the newest set; 0 where there is none. */
  get lastNumber(): SetNumber {
    return this.#end === this.#first ? 0 : this.#numberAt((this.#end - 1) & ringMask)
  }

  /** Makes room for so many sets, so that no table has to grow on the way there. */
  reserve(sets: number): void {
    const expected = sets / this.#shardCount
    const entries = expected + 4 * Math.sqrt(expected)
    for (let table = 0; table < this.#tables.length; table++) {
      let size = atOf(this.#tables, table).length
      while (Math.floor(size * fullestTable) < entries) size = this.#nextSize(size, entries)
      if (size > atOf(this.#tables, table).length)
        this.#resize(Math.floor(table / this.#shardCount), table, size)
    }
  }

  /**
   * Adds sets with increasing numbers, greater than all before. Their records are one behind the other; `signed` has
   * 1 for those with a signature and 0 for the others. Many at once cost a fraction of as many one by one.
   */
  add(numbers: Float64Array, records: Uint8Array, signed: Uint8Array): void {
    const firstAdded = this.#end
    for (let from = 0; from < numbers.length; ) {
      const place = this.#end & ringMask
      const inChunk = place & (chunkSets - 1)
      const end = Math.min(numbers.length, from + chunkSets - inChunk)
      const chunk = this.#chunkForAdding(place)
      chunk.bytes.set(records.subarray(from * recordBytes, end * recordBytes), inChunk * recordBytes)
      chunk.numbers.set(numbers.subarray(from, end), inChunk)
      chunk.states.set(signed.subarray(from, end), inChunk)
      const { links } = chunk
      for (let slot = 0; slot < tierSlots; slot++) {
        const first = slot * chunkSets + inChunk
        for (let i = 0; i < end - from; i++) links[first + i] = place + i
      }
      this.#end += end - from
      from = end
    }
    for (let from = firstAdded; from < this.#end; from += mostTogether) {
      const count = Math.min(mostTogether, this.#end - from)
      for (let slot = 0; slot < tierSlots; slot++) this.#linkAll(slot, from, count)
    }
  }

  /** Sets before the ordinal may be evicted, as others answer for them. */
  allowEviction(endOrdinal: number): void {
    this.#evictableEnd = Math.max(this.#evictableEnd, endOrdinal)
  }

  /** Drops the oldest sets, at most `count`, while there are more than the capacity and they may be evicted. */
  evict(count: number): void {
    const end = this.#first + Math.min(count, this.size - this.capacity, this.#evictableEnd - this.#first)
    while (this.#first < end) {
      const place = this.#first & ringMask
      const inChunk = place & (chunkSets - 1)
      const evicted = Math.min(end - this.#first, chunkSets - inChunk)
      for (let slot = 0; slot < tierSlots; slot++) this.#unlinkOldest(slot, evicted)
      this.coveredAfter = this.#numberAt(place + evicted - 1)
      this.#first += evicted
      if (inChunk + evicted === chunkSets) {
        this.#spareChunk = chunkOf(this.#chunks, place)
        this.#chunks[place >>> chunkBits] = undefined
      }
    }
  }

  /** The set is no candidate from now on. Unknown numbers are ignored. */
  markGone(number: SetNumber): void {
    const ordinal = this.#ordinalAfter(number) - 1
    const place = ordinal & ringMask
    if (ordinal < this.#first || this.#numberAt(place) !== number || this.#stateAt(place) & isGone) return
    this.#unlinkContent(place)
    const { states } = chunkOf(this.#chunks, place)
    states[place & (chunkSets - 1)] = this.#stateAt(place) | isGone
  }

  /** Numbers of the sets, in increasing order, whose content hash begins like this one; one, but for a collision. */
  setsWithContent(contentHash: Uint8Array): SetNumber[] {
    this.#query.set(contentHash.subarray(0, 8))
    const tail = this.#findTail(contentSlot)
    const numbers: SetNumber[] = []
    if (tail < 0) return numbers
    let place = tail
    do {
      place = this.#nextOf(contentSlot, place)
      numbers.push(this.#numberAt(place))
    } while (place !== tail)
    return numbers
  }

  /**
   * What `Store.probe` gives, of the sets in memory. Of the sets that are gone, 64 count as one examined: passing
   * over them costs that little, and pages that were crawled again and again must not hide those that are there.
   */
  probe({ signature, minSupershingles, bands, after, limit }: ProbeQuery): TierPage {
    this.#query.set(signature.supershingles, supershinglesAt)
    this.#query.set(signature.simhash, simhashAt)
    let cursorCount = 0
    const firstAfter = this.#ordinalAfter(after)
    const from = minSupershingles === null ? supershingleCount : 0
    const to = bands ? signatureSlots : supershingleCount
    for (let slot = from; slot < to; slot++) {
      const tail = this.#findTail(slot)
      if (tail < 0) continue
      const place = this.#firstOfRing(slot, tail, firstAfter)
      if (place < 0) continue
      this.#cursorSlots[cursorCount] = slot
      this.#cursorTails[cursorCount] = tail
      this.#cursorPlaces[cursorCount] = place
      this.#cursorRanks[cursorCount] = this.#rankOf(place)
      cursorCount++
    }
    return this.#merge(cursorCount, minSupershingles ?? Number.POSITIVE_INFINITY, after, limit)
  }

  /** The postings of the sets from one ordinal to another that are not gone, by number. */
  postings(slot: number, fromOrdinal: number, endOrdinal: number): PostingColumns {
    const capacity = endOrdinal - fromOrdinal
    const [highs, lows] = [new Uint32Array(capacity), new Uint32Array(capacity)]
    const numbers = new Float64Array(capacity)
    const [bit, width] = [at(keyBit, slot), byteAt(keyWidth, slot)]
    let count = 0
    for (let ordinal = fromOrdinal; ordinal < endOrdinal; ordinal++) {
      const place = ordinal & ringMask
      const state = this.#stateAt(place)
      if (state & isGone || (slot !== contentSlot && !(state & isSigned))) continue
      const { bytes } = chunkOf(this.#chunks, place)
      const start = (place & (chunkSets - 1)) * recordBytes
      if (width === 64) {
        highs[count] = bigEndian(bytes, start + (bit >>> 3))
        lows[count] = bigEndian(bytes, start + (bit >>> 3) + 4)
      } else lows[count] = bitsAt(bytes, 8 * start + bit, width)
      numbers[count++] = this.#numberAt(place)
    }
    return {
      highs: highs.subarray(0, count),
      lows: lows.subarray(0, count),
      numbers: numbers.subarray(0, count),
    }
  }

  /** How many of the sets from one ordinal to another are not gone. */
  countPresent(fromOrdinal: number, endOrdinal: number): number {
    let count = 0
    for (let ordinal = fromOrdinal; ordinal < endOrdinal; ordinal++)
      if (!(this.#stateAt(ordinal & ringMask) & isGone)) count++
    return count
  }

  #merge(cursorCount: number, minSupershingles: number, after: SetNumber, limit: number): TierPage {
    const [slots, tails, places, ranks] = [
      this.#cursorSlots,
      this.#cursorTails,
      this.#cursorPlaces,
      this.#cursorRanks,
    ]
    const candidates: Candidate[] = []
    let examined = 0
    let gone = 0
    let last = -1
    while (cursorCount > 0) {
      if (examined === limit)
        return { candidates, examined, frontier: last < 0 ? after : this.#numberAt(last) }
      let least = ringSize
      for (let i = 0; i < cursorCount; i++) if (at(ranks, i) < least) least = at(ranks, i)
      let sharedSupershingles = 0
      let sharedBands = 0
      for (let i = cursorCount - 1; i >= 0; i--) {
        if (at(ranks, i) !== least) continue
        const slot = byteAt(slots, i)
        if (slot < supershingleCount) sharedSupershingles++
        else sharedBands++
        last = at(places, i)
        if (last === at(tails, i)) {
          cursorCount--
          slots[i] = byteAt(slots, cursorCount)
          tails[i] = at(tails, cursorCount)
          places[i] = at(places, cursorCount)
          ranks[i] = at(ranks, cursorCount)
        } else {
          const next = this.#nextOf(slot, last)
          places[i] = next
          ranks[i] = this.#rankOf(next)
        }
      }
      if (this.#stateAt(last) & isGone) {
        if (++gone % goneInExamined === 0) examined++
        continue
      }
      examined++
      if (sharedBands > 0 || sharedSupershingles >= minSupershingles)
        candidates.push({ set: this.#numberAt(last), signature: this.#signatureAt(last) })
    }
    return { candidates, examined, frontier: null }
  }

  #numberAt(place: number): SetNumber {
    return chunkOf(this.#chunks, place).numbers[place & (chunkSets - 1)] as number
  }

  #stateAt(place: number): number {
    return byteAt(chunkOf(this.#chunks, place).states, place & (chunkSets - 1))
  }

  #signatureAt(place: number): Signature {
    const { bytes } = chunkOf(this.#chunks, place)
    const start = (place & (chunkSets - 1)) * recordBytes
    return {
      supershingles: bytes.slice(start + supershinglesAt, start + simhashAt),
      simhash: bytes.slice(start + simhashAt, start + recordBytes),
    }
  }

  #nextOf(slot: number, place: number): number {
    return at(chunkOf(this.#chunks, place).links, slot * chunkSets + (place & (chunkSets - 1)))
  }

  #setNext(slot: number, place: number, next: number): void {
    const { links } = chunkOf(this.#chunks, place)
    links[slot * chunkSets + (place & (chunkSets - 1))] = next
  }

  #rankOf(place: number): number {
    return (place - this.#first) & ringMask
  }

  /** Ordinal of the first set with a number greater than `after`. Logarithmic. */
  #ordinalAfter(after: SetNumber): number {
    let low = this.#first
    let high = this.#end
    if (after < this.coveredAfter || low === high) return low
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (this.#numberAt(middle & ringMask) <= after) low = middle + 1
      else high = middle
    }
    return low
  }

  #hashAt(slot: number, place: number): number {
    const { words } = chunkOf(this.#chunks, place)
    const start = (place & (chunkSets - 1)) * recordWords + byteAt(keyWord, slot)
    return hashOf(
      at(words, start) & at(keyMasks, 2 * slot),
      at(words, start + 1) & at(keyMasks, 2 * slot + 1),
    )
  }

  #sameKey(slot: number, words: Int32Array, start: number, place: number): boolean {
    const { words: others } = chunkOf(this.#chunks, place)
    const word = byteAt(keyWord, slot)
    const other = (place & (chunkSets - 1)) * recordWords + word
    return (
      ((at(words, start + word) ^ at(others, other)) & at(keyMasks, 2 * slot)) === 0 &&
      ((at(words, start + word + 1) ^ at(others, other + 1)) & at(keyMasks, 2 * slot + 1)) === 0
    )
  }

  #tableOf(slot: number, hash: number): number {
    return slot * this.#shardCount + (hash & (this.#shardCount - 1))
  }

  /** Index in the table of the entry with the key of a record; -1 where there is none. */
  #findEntry(slot: number, table: Int32Array, hash: number, words: Int32Array, start: number): number {
    const wanted = entryOf(hash, 0)
    const size = table.length
    for (let index = homeOf(hash, size); ; index = index + 1 === size ? 0 : index + 1) {
      const entry = at(table, index)
      if (entry === 0) return -1
      if ((entry & ~ringMask) === wanted && this.#sameKey(slot, words, start, entry & ringMask)) return index
    }
  }

  /** Index in the table of the first entry on the way of a hash that may be written over. */
  #findRoom(table: Int32Array, hash: number): number {
    const size = table.length
    let index = homeOf(hash, size)
    while (at(table, index) < 0) index = index + 1 === size ? 0 : index + 1
    return index
  }

  /** Last place of the posting list of the query's key; -1 where there is none. */
  #findTail(slot: number): number {
    const words = this.#queryWords
    const word = byteAt(keyWord, slot)
    const hash = hashOf(
      at(words, word) & at(keyMasks, 2 * slot),
      at(words, word + 1) & at(keyMasks, 2 * slot + 1),
    )
    const table = atOf(this.#tables, this.#tableOf(slot, hash))
    const index = this.#findEntry(slot, table, hash, words, 0)
    return index < 0 ? -1 : at(table, index) & ringMask
  }

  /**
   * First place of a posting list of the query's key from an ordinal on; -1 where there is none. Follows the list
   * from its beginning and looks through the sets from the ordinal on in turns: the first way is short where the
   * list is, the second one where it is dense.
   */
  #firstOfRing(slot: number, tail: number, fromOrdinal: number): number {
    const fromRank = fromOrdinal - this.#first
    if (fromRank === 0) return this.#nextOf(slot, tail)
    if (this.#rankOf(tail) < fromRank) return -1
    const before = (fromOrdinal - 1) & ringMask
    if (this.#stateAt(before) & isSigned && this.#sameKey(slot, this.#queryWords, 0, before))
      return this.#nextOf(slot, before)
    let inList = tail
    let scanned = fromOrdinal & ringMask
    while (true) {
      inList = this.#nextOf(slot, inList)
      if (this.#rankOf(inList) >= fromRank) return inList
      for (let step = 0; step < scanSteps; step++) {
        if (this.#stateAt(scanned) & isSigned && this.#sameKey(slot, this.#queryWords, 0, scanned))
          return scanned
        if (scanned === tail) return tail
        scanned = (scanned + 1) & ringMask
      }
    }
  }

  /**
   * Sets `#places` and `#hashes` to those of the sets from an ordinal on, shard by shard, and those of a shard in
   * order: so they are gone through table by table, each of which fits a cache.
   */
  #arrange(slot: number, fromOrdinal: number, count: number): void {
    if (this.#places.length < count) {
      this.#places = new Int32Array(count)
      this.#hashes = new Int32Array(count)
      this.#unorderedHashes = new Int32Array(count)
    }
    const [places, hashes, unordered, ends] = [
      this.#places,
      this.#hashes,
      this.#unorderedHashes,
      this.#shardEnds,
    ]
    const [mask0, mask1] = [at(keyMasks, 2 * slot), at(keyMasks, 2 * slot + 1)]
    const lowest = this.#shardCount - 1
    ends.fill(0)
    for (let i = 0; i < count; ) {
      const place = (fromOrdinal + i) & ringMask
      const { words } = chunkOf(this.#chunks, place)
      const end = Math.min(count, i + chunkSets - (place & (chunkSets - 1)))
      let word = (place & (chunkSets - 1)) * recordWords + byteAt(keyWord, slot)
      for (; i < end; i++, word += recordWords) {
        const hash = hashOf(at(words, word) & mask0, at(words, word + 1) & mask1)
        unordered[i] = hash
        ends[hash & lowest] = at(ends, hash & lowest) + 1
      }
    }
    let start = 0
    for (let shard = 0; shard < ends.length; shard++) {
      const size = at(ends, shard)
      ends[shard] = start
      start += size
    }
    for (let i = 0; i < count; i++) {
      const hash = at(unordered, i)
      const index = at(ends, hash & lowest)
      ends[hash & lowest] = index + 1
      hashes[index] = hash
      places[index] = (fromOrdinal + i) & ringMask
    }
  }

  /** Reads where the searches of some hashes begin: the reads miss the cache together, and searches one by one. */
  #touch(slot: number, from: number, end: number): void {
    for (let i = from; i < end; i++) {
      const hash = at(this.#hashes, i)
      const table = atOf(this.#tables, this.#tableOf(slot, hash))
      this.#touched ^= at(table, homeOf(hash, table.length))
    }
  }

  #linkAll(slot: number, fromOrdinal: number, count: number): void {
    this.#arrange(slot, fromOrdinal, count)
    for (let i = 0; i < count; i++) {
      if (i % touchedTogether === 0) this.#touch(slot, i, Math.min(count, i + touchedTogether))
      const place = at(this.#places, i)
      if (slot === contentSlot || this.#stateAt(place) & isSigned)
        this.#link(slot, place, at(this.#hashes, i))
    }
  }

  #link(slot: number, place: number, hash: number): void {
    const number = this.#tableOf(slot, hash)
    if (at(this.#sizes, number) >= at(this.#limits, number)) this.#rebuild(slot, number)
    const table = atOf(this.#tables, number)
    const { words } = chunkOf(this.#chunks, place)
    const found = this.#findEntry(slot, table, hash, words, (place & (chunkSets - 1)) * recordWords)
    if (found < 0) {
      const index = this.#findRoom(table, hash)
      if (at(table, index) === 0) this.#sizes[number] = at(this.#sizes, number) + 1
      table[index] = entryOf(hash, place)
      return
    }
    const tail = at(table, found) & ringMask
    this.#setNext(slot, place, this.#nextOf(slot, tail))
    this.#setNext(slot, tail, place)
    table[found] = entryOf(hash, place)
  }

  /** Takes the oldest sets out of their lists in a slot, of which they are the first. */
  #unlinkOldest(slot: number, count: number): void {
    this.#arrange(slot, this.#first, count)
    for (let i = 0; i < count; i++) {
      if (i % touchedTogether === 0) this.#touch(slot, i, Math.min(count, i + touchedTogether))
      const oldest = at(this.#places, i)
      const state = this.#stateAt(oldest)
      const isLinked = slot === contentSlot ? !(state & isGone) : state & isSigned
      if (!isLinked) continue
      const hash = at(this.#hashes, i)
      const next = this.#nextOf(slot, oldest)
      const number = this.#tableOf(slot, hash)
      const table = atOf(this.#tables, number)
      if (next === oldest) {
        const entry = entryOf(hash, oldest)
        let index = homeOf(hash, table.length)
        while (at(table, index) !== entry) index = index + 1 === table.length ? 0 : index + 1
        this.#removeEntry(number, index)
      } else {
        const { words } = chunkOf(this.#chunks, oldest)
        const index = this.#findEntry(slot, table, hash, words, (oldest & (chunkSets - 1)) * recordWords)
        this.#setNext(slot, at(table, index) & ringMask, next)
      }
    }
  }

  /** Where a search ends behind the entry, it may as well end here, and before: most leave no trace. */
  #removeEntry(number: number, index: number): void {
    const table = atOf(this.#tables, number)
    const last = table.length - 1
    table[index] = removed
    if (at(table, index === last ? 0 : index + 1) !== 0) return
    for (let empty = index; at(table, empty) === removed; empty = empty === 0 ? last : empty - 1) {
      table[empty] = 0
      this.#sizes[number] = at(this.#sizes, number) - 1
    }
  }

  /** Takes a set out of its list by content, which has no other member but for a collision. */
  #unlinkContent(place: number): void {
    const hash = this.#hashAt(contentSlot, place)
    const number = this.#tableOf(contentSlot, hash)
    const table = atOf(this.#tables, number)
    const { words } = chunkOf(this.#chunks, place)
    const start = (place & (chunkSets - 1)) * recordWords
    const index = this.#findEntry(contentSlot, table, hash, words, start)
    const tail = at(table, index) & ringMask
    let before = tail
    while (this.#nextOf(contentSlot, before) !== place) before = this.#nextOf(contentSlot, before)
    if (before === place) this.#removeEntry(number, index)
    else if (tail === place) table[index] = entryOf(hash, before)
    this.#setNext(contentSlot, before, this.#nextOf(contentSlot, place))
    this.#setNext(contentSlot, place, place)
  }

  /** Frees a full table of what was removed, and doubles it where that is little. */
  #rebuild(slot: number, number: number): void {
    const table = atOf(this.#tables, number)
    let inUse = 0
    for (let i = 0; i < table.length; i++) if (at(table, i) < 0) inUse++
    const isGrowing = inUse > growingShare * at(this.#limits, number)
    this.#resize(slot, number, isGrowing ? this.#nextSize(table.length, inUse) : table.length)
  }

  /** Of a table that is to grow and has so many entries. */
  #nextSize(size: number, entries: number): number {
    const mostEntries = this.capacity / this.#shardCount
    const lastSize = entries < lastGrowthShare * mostEntries ? 0 : Math.ceil(mostEntries / meanLoad)
    return Math.max(2 * size, lastSize)
  }

  #resize(slot: number, number: number, size: number): void {
    const old = atOf(this.#tables, number)
    const hashes = new Int32Array(old.length)
    // By itself, so that reading one record does not wait for the other.
    for (let i = 0; i < old.length; i++)
      if (at(old, i) < 0) hashes[i] = this.#hashAt(slot, at(old, i) & ringMask)
    const table = new Int32Array(size)
    let inUse = 0
    for (let i = 0; i < old.length; i++) {
      if (at(old, i) >= 0) continue
      let index = homeOf(at(hashes, i), size)
      while (at(table, index) !== 0) index = index + 1 === size ? 0 : index + 1
      table[index] = at(old, i)
      inUse++
    }
    this.#tables[number] = table
    this.#sizes[number] = inUse
    this.#limits[number] = Math.floor(size * fullestTable)
  }

  #chunkForAdding(place: number): Chunk {
    const index = place >>> chunkBits
    const chunk = this.#chunks[index] ?? this.#spareChunk ?? new Chunk()
    if (this.#chunks[index] === undefined) {
      this.#chunks[index] = chunk
      this.#spareChunk = null
    }
    return chunk
  }
}

const bigEndian = (bytes: Uint8Array, start: number): number =>
  ((byteAt(bytes, start) << 24) |
    (byteAt(bytes, start + 1) << 16) |
    (byteAt(bytes, start + 2) << 8) |
    byteAt(bytes, start + 3)) >>>
  0

/** At most 32 bits, of which the last is the lowest. */
const bitsAt = (bytes: Uint8Array, bit: number, width: number): number => {
  // Five bytes always hold them; the record that they are of does not end within the four bytes read first.
  const end = bit + width
  const lastByte = (end - 1) >>> 3
  const low = bigEndian(bytes, lastByte - 3)
  const spare = 8 * (lastByte + 1) - end
  const high = spare === 0 ? 0 : byteAt(bytes, lastByte - 4) << (32 - spare)
  return (((low >>> spare) | high) & (2 ** width - 1)) >>> 0
}
