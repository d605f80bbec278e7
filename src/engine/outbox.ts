/** Collects messages and hands them over together once in a turn of the event loop. */
export class Outbox<T> {
  readonly #send: (messages: readonly T[]) => void
  #messages: T[] = []

  constructor(send: (messages: readonly T[]) => void) {
    this.#send = send
  }

  add(message: T): void {
    this.#messages.push(message)
    if (this.#messages.length === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const messages = this.#messages
    this.#messages = []
    this.#send(messages)
  }
}
