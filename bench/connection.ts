import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type Answer = { readonly status: number; readonly body: Buffer }

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('\r\n0\r\n\r\n')

/**
 * One keep-alive connection to a server, for one request at a time. It does as little as HTTP allows, because on a small
 * machine the time of the client is part of every latency and makes a slow route look like a fast one.
 * It reads bodies with a content-length, and takes a chunked one as it came: good for its end, not its content.
 */
export class Connection {
  readonly #socket: Socket
  readonly #host: string
  #received: Buffer[] = []
  #length = 0
  /** Bytes of the whole answer; null while they are not known. */
  #expected: number | null = null
  #headLength = 0
  #waiting: { resolve: (answer: Answer) => void; reject: (reason: Error) => void } | null = null

  private constructor(socket: Socket, host: string) {
    this.#socket = socket
    this.#host = host
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('The server closed the connection')))
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new Connection(socket, host)
  }

  /** Rejects for a status that is neither 2xx nor expected: an overloaded server must not look like a fast one. */
  async send(
    method: string,
    path: string,
    type?: string,
    body?: Buffer,
    expected: readonly number[] = [404],
  ): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
    const content = body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${body.length}\r\n`
    this.#socket.cork()
    this.#socket.write(`${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${content}\r\n`)
    if (body !== undefined) this.#socket.write(body)
    this.#socket.uncork()
    const { status, body: received } = await answer
    if (status >= 300 && !expected.includes(status))
      throw new Error(`${method} ${path} was answered ${status}: ${received.toString().slice(0, 500)}`)
    return { status, body: received }
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received.push(chunk)
    this.#length += chunk.length
    if (this.#headLength === 0) this.#readHead()
    if (this.#headLength === 0) return
    if (this.#expected === null ? this.#endsWithLastChunk() : this.#length >= this.#expected) this.#finish()
  }

  #readHead(): void {
    const bytes = Buffer.concat(this.#received)
    this.#received = [bytes]
    const end = bytes.indexOf(headEnd)
    if (end === -1) return
    this.#headLength = end + headEnd.length
    const head = bytes.toString('latin1', 0, end).toLowerCase()
    if (/\r\ntransfer-encoding: chunked/.test(head)) return
    const bodyLength = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0)
    this.#expected = this.#headLength + bodyLength
  }

  #endsWithLastChunk(): boolean {
    const tail = Buffer.concat(this.#received.slice(-2))
    return tail.subarray(-lastChunk.length).equals(lastChunk)
  }

  #finish(): void {
    const bytes = this.#received.length === 1 ? this.#received[0] : Buffer.concat(this.#received)
    const waiting = this.#waiting
    if (bytes === undefined || waiting === null) return
    const answer = { status: Number(bytes.toString('latin1', 9, 12)), body: bytes.subarray(this.#headLength) }
    this.#received = []
    this.#length = 0
    this.#expected = null
    this.#headLength = 0
    this.#waiting = null
    waiting.resolve(answer)
  }
}
