import { createBrotliCompress, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import {
  bodyLimitBytes,
  exchange,
  listen,
  open,
  parseAnswer,
  type RecordingApp,
  recordingApp,
} from './fixture.ts'

let recording: RecordingApp
afterEach(() => recording.close())

const start = async (changes: Parameters<typeof recordingApp>[0]): Promise<number> => {
  recording = await recordingApp(changes)
  return listen(recording.app)
}

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const ndjsonHead =
  'POST /documents HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n'

/** A client that writes a piece again and again until its connection is closed. */
const keepWriting = async (port: number, head: string, piece: string, pauseMs: number) => {
  const connection = open(port)
  connection.socket.write(head)
  const timer = setInterval(() => connection.socket.write(piece), pauseMs)
  await connection.closed
  clearInterval(timer)
  return connection.received().toString()
}

const isAlive = async (port: number): Promise<boolean> => {
  const answer = await exchange(port, ['GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'])
  return parseAnswer(answer).answer.status === 200
}

describe('a client that takes its time is cut off', () => {
  const requestTimeoutMs = 300

  test('in the head, with a header that never ends', async () => {
    const port = await start({ requestTimeoutMs })
    const received = await keepWriting(port, 'GET /health/live HTTP/1.1\r\nhost: a\r\n', 'x: y\r\n', 20)
    expect(received).toMatch(/^HTTP\/1\.1 408 /)
    expect(received).toContain('request_timeout')
  })

  test('in the body of one document', async () => {
    const port = await start({ requestTimeoutMs })
    const head = `PUT /documents/a HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 60000\r\n\r\n`
    expect(await keepWriting(port, head, 'x', 20)).toMatch(/^HTTP\/1\.1 408 /)
    expect(await recording.count()).toBe(0)
  })

  test('in a line that never ends, however fast it comes, after the lines before it were stored', async () => {
    const port = await start({ requestTimeoutMs })
    const begun = ndjsonHead + chunk('{"id": "a", "text": "a"}\n{"id": "b", "text": "')
    const [slow] = await Promise.all([
      keepWriting(port, begun, chunk('x'), 20),
      keepWriting(port, begun, chunk('x'.repeat(bodyLimitBytes)), 1),
    ])
    expect(slow).toContain('"line":1')
    expect(await recording.count()).toBe(1)
    expect(await isAlive(port)).toBe(true)
  })

  test('in an archive without the end of a record', async () => {
    const port = await start({ requestTimeoutMs })
    const head = ndjsonHead.replace('application/x-ndjson', 'application/warc')
    const record = 'WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 9999999\r\n\r\n'
    await keepWriting(port, head + chunk(record), chunk('x'), 20)
    expect(await recording.count()).toBe(0)
    expect(await isAlive(port)).toBe(true)
  })

  test('on a connection over which nothing ever comes', async () => {
    const port = await start({ requestTimeoutMs })
    const idle = open(port)
    await idle.closed
    expect(await isAlive(port)).toBe(true)
  })

  test('and a body of many lines is not, while lines come, though it takes longer than one request may', async () => {
    const port = await start({ requestTimeoutMs })
    const connection = open(port)
    connection.socket.write(ndjsonHead)
    const begun = performance.now()
    let line = 0
    while (performance.now() - begun < 3 * requestTimeoutMs) {
      connection.socket.write(chunk(`{"id": "${line++}", "text": "a"}\n`))
      await new Promise((resolve) => setTimeout(resolve, requestTimeoutMs / 6))
    }
    connection.socket.write('0\r\n\r\n')
    await expect
      .poll(() => connection.received().toString())
      .toContain(`{"summary":{"stored":${line},"unchanged":0`)
    connection.socket.destroy()
  })

  test('and what it held of memory can be used by others', async () => {
    const port = await start({ requestTimeoutMs })
    const most = '{"text": "'.padEnd(bodyLimitBytes - 100, 'x')
    // So much that all of the memory for bodies is taken.
    const holders = Array.from({ length: 8 }, () =>
      keepWriting(port, ndjsonHead + chunk(most), chunk('x'), 20),
    )
    const post = async () => {
      const body = 'x'.repeat(bodyLimitBytes)
      const connection = open(port)
      connection.socket.write(
        `PUT /documents/a HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      await expect.poll(() => connection.received().toString()).toMatch(/\}$/)
      connection.socket.destroy()
      return parseAnswer(connection.received()).answer
    }
    await expect.poll(async () => (await post()).status).toBe(503)
    const refused = await post()
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    await Promise.all(holders)
    expect((await post()).status).toBeOneOf([200, 201])
  })
})

test('more connections than the limit are closed at once, and those before them go on', async () => {
  const port = await start({ connectionLimit: 3 })
  const before = Array.from({ length: 3 }, () => open(port))
  await Promise.all(before.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))))
  await expect.poll(async () => (await exchange(port, [])).length).toBe(0)
  for (const { socket, received } of before) {
    socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n')
    await expect.poll(() => received().toString()).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  }
  await expect.poll(() => isAlive(port)).toBe(true)
})

describe('a bomb is stopped at the limit of decoded bytes', () => {
  const zeros = Buffer.alloc(16 * 2 ** 20)

  const brotli = async (bytes: Buffer): Promise<Buffer> => {
    const encoder = createBrotliCompress()
    encoder.end(bytes)
    const parts: Buffer[] = []
    for await (const part of encoder) parts.push(part)
    return Buffer.concat(parts)
  }

  test.each(['gzip', 'br'])('as one document in %s, and as a line of many', async (coding) => {
    const port = await start({})
    const bomb = coding === 'gzip' ? gzipSync(zeros) : await brotli(zeros)
    for (const type of ['text/plain', 'application/x-ndjson']) {
      const head = `POST /documents HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: ${type}\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bomb.length}\r\n\r\n`
      const received = (await exchange(port, [head, bomb])).toString()
      expect(received).toContain('body_too_large')
    }
    expect(await recording.count()).toBe(0)
    expect(await isAlive(port)).toBe(true)
  })
})
