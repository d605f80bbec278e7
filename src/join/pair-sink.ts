/** Pairs of record ids with their overlaps: the first `count` elements of each column. Only valid during the call. */
export type PairBlock = {
  readonly a: Uint32Array
  readonly b: Uint32Array
  readonly overlaps: Uint32Array
  readonly count: number
}
export type PairSink = (block: PairBlock) => void

const pairsInBlock = 4096

/** Collects pairs into blocks, so that results stream in bounded memory. */
export class PairWriter {
  pairs = 0
  readonly #sink: PairSink
  readonly #a = new Uint32Array(pairsInBlock)
  readonly #b = new Uint32Array(pairsInBlock)
  readonly #overlaps = new Uint32Array(pairsInBlock)
  #count = 0

  constructor(sink: PairSink) {
    this.#sink = sink
  }

  add(a: number, b: number, overlap: number): void {
    if (this.#count === pairsInBlock) this.flush()
    this.#a[this.#count] = a
    this.#b[this.#count] = b
    this.#overlaps[this.#count] = overlap
    this.#count++
    this.pairs++
  }

  flush(): void {
    if (this.#count === 0) return
    this.#sink({ a: this.#a, b: this.#b, overlaps: this.#overlaps, count: this.#count })
    this.#count = 0
  }
}
