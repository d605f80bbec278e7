/** 32-bit words that fit a cache line; all bits of one value lie in one such group. */
const wordsInGroup = 16
const bitsPerPosting = 10
const bitsPerValue = 6

const mix = (high: number, low: number): number => {
  let hash = Math.imul(low ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(high, 0xcc9e_2d51)
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2_ae35)
  return hash ^ (hash >>> 15)
}

/**
 * A Bloom filter of 64-bit values, 10 bits for each: tells of about 99 in 100 values that were not added that they
 * were not, and never says so of one that was. Each question touches one cache line.
 */
export class PostingFilter {
  readonly words: Uint32Array

  /** For about `postings` values, or with the words of one made before. */
  constructor(postingsOrWords: number | Uint32Array) {
    this.words =
      typeof postingsOrWords === 'number'
        ? new Uint32Array(
            wordsInGroup * Math.max(1, Math.ceil((postingsOrWords * bitsPerPosting) / (32 * wordsInGroup))),
          )
        : postingsOrWords
  }

  add(high: number, low: number): void {
    const start = this.#groupOf(high, low)
    let bits = mix(low, high)
    for (let i = 0; i < bitsPerValue; i++) {
      const bit = bits & 511
      this.words[start + (bit >>> 5)] = (this.words[start + (bit >>> 5)] as number) | (1 << (bit & 31))
      bits = nextBits(bits)
    }
  }

  mayHave(high: number, low: number): boolean {
    const start = this.#groupOf(high, low)
    let bits = mix(low, high)
    for (let i = 0; i < bitsPerValue; i++) {
      const bit = bits & 511
      if (((this.words[start + (bit >>> 5)] as number) & (1 << (bit & 31))) === 0) return false
      bits = nextBits(bits)
    }
    return true
  }

  #groupOf(high: number, low: number): number {
    const groups = this.words.length / wordsInGroup
    return wordsInGroup * Math.floor(((mix(high, low) >>> 0) * groups) / 2 ** 32)
  }
}

const nextBits = (bits: number): number => {
  const next = Math.imul(bits, 0x9e37_79b1)
  return next ^ (next >>> 15)
}
