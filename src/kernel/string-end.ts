import { kernelModule } from './module.ts'

/**
 * Position of the quotation mark that ends a JSON string, from the position of its first character on; the length
 * of the bytes where there is none.
 */
export type StringEndFinder = (bytes: Uint8Array, start: number) => number

const quote = 0x22
const backslash = 0x5c

/** The same without WebAssembly. */
export const findStringEnd: StringEndFinder = (bytes, start) => {
  let at = start
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return Math.min(at, bytes.length)
}

type Exports = {
  readonly memory: WebAssembly.Memory
  initialize(): void
  place(length: number): number
  stringEnd(at: number, end: number): number
}

const windowBytes = 64 * 1024
/** Short strings are read where they lie. */
const leastBytes = 256

/** A finder that looks at sixteen bytes at once, where that can be; some 2 MiB of memory. */
export const createStringEndFinder = (): StringEndFinder => {
  if (kernelModule === null) return findStringEnd
  const unused = () => 0
  const instance = new WebAssembly.Instance(kernelModule, {
    image: { openImageContext: unused, resolveImage: unused, resolveBase: unused },
    token: { tokenizeChunk: unused },
  })
  const { memory, initialize, place, stringEnd } = instance.exports as Exports
  initialize()
  const window = place(windowBytes)
  const view = new Uint8Array(memory.buffer)
  return (bytes, start) => {
    if (bytes.length - start < leastBytes) return findStringEnd(bytes, start)
    let from = start
    while (from < bytes.length) {
      const length = Math.min(windowBytes, bytes.length - from)
      view.set(bytes.subarray(from, from + length), window)
      const at = stringEnd(window, window + length) - window
      if (at < length) return from + at
      from += at
    }
    return bytes.length
  }
}
