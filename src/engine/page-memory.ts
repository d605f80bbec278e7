const segmentBytes = 128 * 1024
const segmentCount = 256

/** A range of the shared memory; `start` and `length` in bytes. */
export type SharedRange = { readonly start: number; readonly length: number }

/**
 * 32 MiB that both threads see, in which the bytes of pages cross: they are copied once, into memory that has
 * been used before (the first touch of fresh memory costs more than the copy), and no message carries them.
 * One thread alone takes and gives back.
 */
export class PageMemory {
  readonly buffer = new SharedArrayBuffer(segmentBytes * segmentCount)
  readonly #bytes = new Uint8Array(this.buffer)
  readonly #taken = new Uint8Array(segmentCount)

  /** Copies the parts in, one after the other; null where no room is left. Give the range back when done. */
  put(parts: readonly Uint8Array[]): SharedRange | null {
    const length = parts.reduce((sum, part) => sum + part.byteLength, 0)
    const first = this.#take(Math.ceil(length / segmentBytes))
    if (first === null) return null
    let at = first * segmentBytes
    for (const part of parts) {
      this.#bytes.set(part, at)
      at += part.byteLength
    }
    return { start: first * segmentBytes, length }
  }

  giveBack({ start, length }: SharedRange): void {
    const first = start / segmentBytes
    this.#taken.fill(0, first, first + Math.ceil(length / segmentBytes))
  }

  /**
   * The first of `count` free segments in a row. Sought from the start, so that few are in use at all and stay in
   * the processor's cache.
   */
  #take(count: number): number | null {
    let free = 0
    for (let segment = 0; segment < segmentCount; segment++) {
      free = this.#taken[segment] === 0 ? free + 1 : 0
      if (free < count) continue
      const first = segment + 1 - count
      this.#taken.fill(1, first, segment + 1)
      return first
    }
    return null
  }
}
