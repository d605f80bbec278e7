/** Features of identity sets, up to so many bytes: those that were asked for longest ago go out first. */
export class FeatureCache {
  readonly #mostBytes: number
  readonly #entries = new Map<number, Float64Array | null>()
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** null is what was remembered for a set without features, undefined where nothing was. */
  get(set: number): Float64Array | null | undefined {
    const known = this.#entries.get(set)
    if (known === undefined) return undefined
    this.#entries.delete(set)
    this.#entries.set(set, known)
    return known
  }

  /** For a set that is not there. What would push out an eighth of all others is left out. */
  remember(set: number, values: Float64Array | null): void {
    const bytes = values?.byteLength ?? 0
    if (bytes > this.#mostBytes / 8) return
    this.#entries.set(set, values)
    this.#bytes += bytes
    for (const [oldest, value] of this.#entries) {
      if (this.#bytes <= this.#mostBytes) break
      this.#entries.delete(oldest)
      this.#bytes -= value?.byteLength ?? 0
    }
  }
}
