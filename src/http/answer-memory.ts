import type { ServerResponse } from 'node:http'
import { DittographError } from '../errors.ts'

const mostBytes = 256 * 1024 * 1024

/** Smaller answers fit into the buffers of their connections. */
const leastBytes = 64 * 1024

/** Counts the answers that wait in memory for clients to read them, so that slow readers cannot fill it. */
export class AnswerMemory {
  #bytes = 0

  /** Throws `overloaded` while too much waits. */
  check(): void {
    if (this.#bytes > mostBytes)
      throw new DittographError('overloaded', 'Too many answers wait for their clients to read them')
  }

  /** Counts an answer until it was taken, or its connection ended. */
  hold(bytes: number, answer: ServerResponse): void {
    if (bytes < leastBytes) return
    this.#bytes += bytes
    answer.once('close', () => {
      this.#bytes -= bytes
    })
  }
}
