/** The bytes of a file from its start to its end, with ways to look ahead and to go back. */
export class FileBytes {
  readonly #chunks: AsyncIterator<Uint8Array>
  /** Comes before whatever the chunks still give. */
  #ahead: Buffer = Buffer.alloc(0)
  #offset = 0
  #isOver = false

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Where in the file the next byte lies. */
  get offset(): number {
    return this.#offset
  }

  /** The next bytes, at least one; null at the end. */
  async read(): Promise<Buffer | null> {
    const bytes = await this.peek(1)
    if (bytes.length === 0) return null
    this.skip(bytes.length)
    return bytes
  }

  /** The bytes at hand without taking them: at least so many, fewer only before the end. */
  async peek(least: number): Promise<Buffer> {
    while (this.#ahead.length < least && !this.#isOver) {
      const { done, value } = await this.#chunks.next()
      if (done) this.#isOver = true
      else if (this.#ahead.length > 0) this.#ahead = Buffer.concat([this.#ahead, value])
      else this.#ahead = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
    return this.#ahead
  }

  /** Takes bytes that were peeked at. */
  skip(count: number): void {
    this.#ahead = this.#ahead.subarray(count)
    this.#offset += count
  }

  /** Puts back the bytes that were taken last. */
  unread(bytes: Buffer): void {
    this.#ahead = this.#ahead.length === 0 ? bytes : Buffer.concat([bytes, this.#ahead])
    this.#offset -= bytes.length
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}
