const digitBits = 11
const digitCount = 1 << digitBits

/** Sorts places by 32-bit keys: radix sort by three digits, stable, linear, in memory that is used again. */
export class KeySorter {
  #order: Uint32Array
  #spare: Uint32Array
  readonly #starts = new Uint32Array(digitCount)

  constructor(count: number) {
    this.#order = new Uint32Array(count)
    this.#spare = new Uint32Array(count)
  }

  /** The places 0 … in the order of their keys, until the next call. */
  sort(keys: Uint32Array): Uint32Array {
    for (let place = 0; place < keys.length; place++) this.#order[place] = place
    for (let shift = 0; shift < 32; shift += digitBits) {
      const starts = this.#starts.fill(0)
      for (const key of keys) {
        const digit = (key >>> shift) & (digitCount - 1)
        starts[digit] = (starts[digit] as number) + 1
      }
      let sum = 0
      for (let digit = 0; digit < digitCount; digit++) {
        const size = starts[digit] as number
        starts[digit] = sum
        sum += size
      }
      for (const place of this.#order) {
        const digit = ((keys[place] as number) >>> shift) & (digitCount - 1)
        const at = starts[digit] as number
        this.#spare[at] = place
        starts[digit] = at + 1
      }
      const sorted = this.#spare
      this.#spare = this.#order
      this.#order = sorted
    }
    return this.#order
  }
}
