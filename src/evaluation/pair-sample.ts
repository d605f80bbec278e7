import { xxh64Text } from '../signature/xxhash.ts'

type Ids = { readonly a: string; readonly b: string }

/**
 * A uniform random sample of pairs without repetition: the `size` pairs with the least hashes under a seed.
 * The same seed gives the same sample in whatever order and portions the pairs are added, and a smaller sample
 * is the start of a larger one, so that a person can go on judging where he stopped. When pairs come or go in
 * the collection, the rest of the sample stays. Each pair must be added once only.
 *
 * Expected cost of a pair O(log size), memory O(size).
 *
 * Source: bottom-k sampling, Cohen and Kaplan 2007.
 */
export class PairSample<Pair extends Ids> {
  readonly #size: number
  readonly #seed: bigint
  /** Up to twice the size; then all but the least are thrown away. */
  #kept: { readonly hash: bigint; readonly pair: Pair }[] = []
  #population = 0
  #bound: bigint | null = null

  /** `size` >= 1; `seed` a whole number from 0 to 2^53 - 1. */
  constructor(size: number, seed: number) {
    this.#size = size
    this.#seed = BigInt(seed)
  }

  add(pair: Pair): void {
    this.#population++
    // No id has a control character: two pairs never make one text.
    const hash = xxh64Text(`${pair.a}\n${pair.b}`, this.#seed)
    if (this.#bound !== null && hash > this.#bound) return
    this.#kept.push({ hash, pair })
    if (this.#kept.length >= 2 * this.#size) this.#cut()
  }

  /** The pairs in the random order of their hashes, and how many they were drawn from. */
  result(): { readonly pairs: readonly Pair[]; readonly population: number } {
    this.#cut()
    return { pairs: this.#kept.map(({ pair }) => pair), population: this.#population }
  }

  #cut(): void {
    this.#kept.sort((x, y) => (x.hash < y.hash ? -1 : x.hash > y.hash ? 1 : compareIds(x.pair, y.pair)))
    this.#kept.length = Math.min(this.#kept.length, this.#size)
    if (this.#kept.length === this.#size) this.#bound = this.#kept.at(-1)?.hash ?? null
  }
}

const compareIds = (x: Ids, y: Ids): number => (x.a < y.a || (x.a === y.a && x.b < y.b) ? -1 : 1)
