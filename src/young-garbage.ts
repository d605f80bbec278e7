import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Well below what V8 allows the memory outside its heap to grow by (some 24 MiB). */
const mostBytes = 12 * 1024 * 1024

type Collect = (options: { type: 'minor' }) => void

const exposeCollect = (): Collect => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

let collect: Collect | null = null
let bytes = 0

/**
 * Says that buffers of so many bytes were made which are not needed for long, and collects them when there are many.
 *
 * V8 counts what buffers hold outside its heap against the limit at which it marks the whole heap, and would do so
 * for every 24 MiB of bodies, though all of them die young: that costs as much as storing the pages. A collection of
 * the young generation frees them in less than a millisecond.
 */
export const noteYoungGarbage = (length: number): void => {
  bytes += length
  if (bytes < mostBytes) return
  bytes = 0
  collect ??= exposeCollect()
  collect({ type: 'minor' })
}
