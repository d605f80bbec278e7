import { createInflateRaw, type InflateRaw } from 'node:zlib'

/** Raw DEFLATE, one piece after the other: Node's own gunzip runs over the borders of members without a word. */
export class Inflater {
  readonly #stream: InflateRaw = createInflateRaw({ chunkSize: 32 * 1024 })
  #state: 'idle' | 'busy' | 'ended' | 'failed' = 'idle'
  #wake: () => void = () => {}

  constructor() {
    const become = (state: 'idle' | 'ended' | 'failed') => {
      if (this.#state !== 'failed') this.#state = state
      this.#wake()
    }
    this.#stream
      .on('readable', () => this.#wake())
      .on('end', () => become('ended'))
      .on('error', () => become('failed'))
  }

  /** Whether the last block has come to its end. */
  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Whether the data is no DEFLATE. */
  get hasFailed(): boolean {
    return this.#state === 'failed'
  }

  /** How many bytes have been used; where the data has ended what follows it is not. */
  get usedBytes(): number {
    return this.#stream.bytesWritten
  }

  /** What comes out for these bytes; ends when they are used, or when the data ends or turns out not to be any. */
  async *write(bytes: Buffer): AsyncGenerator<Buffer> {
    const usedBefore = this.usedBytes
    this.#state = 'busy'
    this.#stream.write(bytes, () => {
      // What is left over shows the end before the stream says so.
      const isOver = this.usedBytes - usedBefore < bytes.length
      if (this.#state === 'busy') this.#state = isOver ? 'ended' : 'idle'
      this.#wake()
    })
    for (;;) {
      const inflated: Buffer | null = this.#stream.read()
      if (inflated !== null) yield inflated
      else if (this.#state !== 'busy') return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  close(): void {
    this.#stream.destroy()
  }
}
