/** Lets one job run at a time, of whatever collection: they would take each other's time and memory. */
export class JobTurns {
  #isTaken = false
  /** Who is waiting, once each, in the order in which they came. */
  readonly #waiting = new Set<() => void>()

  /** Takes the turn where it is free; else `tryAgain` is called once when it has been given back. */
  take(tryAgain: () => void): boolean {
    if (this.#isTaken) {
      this.#waiting.add(tryAgain)
      return false
    }
    this.#isTaken = true
    return true
  }

  giveBack(): void {
    this.#isTaken = false
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const tryAgain of waiting) tryAgain()
  }
}
