/** 2020-01-01T00:00:00Z in milliseconds since 1970. */
const epochMs = 1_577_836_800_000

/** Numbers to a millisecond; more than that run ahead of the time. Safe integers last until 2089. */
const numbersPerMs = 4096

/**
 * Mints the numbers of sets and documents: `(milliseconds since 2020) * 4096 + count`, each greater than the one
 * before and than `floor`, also where the time stands still or goes back. No two numbers of one clock are equal,
 * and whoever starts it above the greatest number ever stored never gives one twice.
 */
export class NumberClock {
  readonly #now: () => number
  #last: number

  /** `now` gives milliseconds since 1970. */
  constructor(floor: number, now: () => number = Date.now) {
    this.#last = floor
    this.#now = now
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, Math.floor(this.#now() - epochMs) * numbersPerMs)
    return this.#last
  }

  /** Takes note of a number that was given elsewhere: every one to come is greater. */
  skipTo(number: number): void {
    this.#last = Math.max(this.#last, number)
  }
}
