const longestStretchMs = 2

/**
 * A pause that long-running work awaits between its steps: it lets the event loop serve others, but only
 * where more than 2 ms have passed since it last did. One pacer for one piece of work.
 */
export const createPacer = (): (() => Promise<void>) => {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < longestStretchMs) return
    await new Promise(setImmediate)
    since = performance.now()
  }
}
