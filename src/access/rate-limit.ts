const minuteMs = 60_000
/** Below any time that matters, and above the rounding errors of the sums. */
const toleranceMs = 0.001

/**
 * Who was quiet for a minute may send a minute's requests at once, and after that as many as come in evenly: a token
 * bucket, kept as the time at which it will be full again (the generic cell rate algorithm of ATM).
 */
export class RateLimit {
  /** Milliseconds by name; there are few names. */
  readonly #fullAt = new Map<string, number>()

  /** Takes a token. Gives 0, or where there is none the whole seconds until there is one again. */
  take(name: string, perMinute: number, now: number): number {
    const intervalMs = minuteMs / perMinute
    const fullAt = Math.max(now, this.#fullAt.get(name) ?? now) + intervalMs
    const waitMs = fullAt - now - minuteMs - toleranceMs
    if (waitMs > 0) return Math.ceil(waitMs / 1000)
    this.#fullAt.set(name, fullAt)
    return 0
  }
}
