/**
 * Collects messages and hands them over together: once in a turn of the event loop, or where all of them can
 * wait, a millisecond later. Waking the other thread costs as much as analysing a small page.
 */
export class Outbox<T> {
  readonly #send: (messages: readonly T[]) => void
  #messages: T[] = []
  #isDue = false
  #timer: NodeJS.Timeout | null = null

  constructor(send: (messages: readonly T[]) => void) {
    this.#send = send
  }

  /** `canWait`: another millisecond makes no difference to whoever waits for the answer. */
  add(message: T, canWait = false): void {
    this.#messages.push(message)
    if (this.#isDue) return
    if (canWait) this.#timer ??= setTimeout(() => this.#flush(), 1)
    else {
      this.#isDue = true
      setImmediate(() => this.#flush())
    }
  }

  #flush(): void {
    this.#isDue = false
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const messages = this.#messages
    this.#messages = []
    if (messages.length > 0) this.#send(messages)
  }
}
