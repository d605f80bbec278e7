import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BodyMemory, GrowingBytes, parseJson } from '../../src/http/body.ts'
import { bodyLimitBytes, listen, open, parseAnswer, type RecordingApp, recordingApp } from './fixture.ts'

const property = { seed: 20260131, numRuns: 300 }

describe('growing bytes', () => {
  test('are the parts joined, and take no more memory than five times their length or 48 KiB', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 20 }), (parts) => {
        const joined = Buffer.concat(parts)
        const bytes = new GrowingBytes(new BodyMemory(Math.max(48 * 1024, 5 * joined.length)))
        for (const part of parts) bytes.append(part)
        expect(bytes.length).toBe(joined.length)
        expect(bytes.view().equals(joined)).toBe(true)
        bytes.clear()
        expect(bytes.length).toBe(0)
        expect(bytes.view()).toHaveLength(0)
      }),
      property,
    )
  })

  test('are refused where other bodies hold the memory, until those give it back', () => {
    const memory = new BodyMemory(100_000)
    const first = new GrowingBytes(memory)
    first.append(Buffer.alloc(60_000))
    const second = new GrowingBytes(memory)
    expect(() => second.append(Buffer.alloc(40_000))).toThrow(
      expect.objectContaining({ code: 'overloaded', kind: 'overloaded' }),
    )
    first.clear()
    second.append(Buffer.alloc(40_000))
    expect(second.length).toBe(40_000)
  })

  test('take what a client announces at once, but never more than 1 MiB before it is there', () => {
    const memory = new BodyMemory(2 ** 21)
    const first = new GrowingBytes(memory)
    first.append(Buffer.alloc(10), 2 ** 30)
    expect(() => memory.take(2 ** 20)).not.toThrow()
    expect(() => memory.take(1)).toThrow(expect.objectContaining({ code: 'overloaded' }))
  })
})

describe('JSON', () => {
  test('is read as JSON.parse reads it, a byte order mark left out', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, mark) => {
        const text = JSON.stringify(value)
        expect(parseJson(Buffer.from((mark ? '\ufeff' : '') + text))).toEqual(JSON.parse(text))
      }),
      property,
    )
  })

  test('that is cut short, or is not UTF-8, is refused without a word of it', () => {
    const bytes = Buffer.from('{"text":"SECRET","more":"é"}')
    for (let length = 0; length < bytes.length; length++)
      expect(() => parseJson(bytes.subarray(0, length))).toThrow(/^The body is not (JSON|UTF-8)/)
  })

  test('named __proto__ changes nothing but its own object', () => {
    const value = parseJson(Buffer.from('{"__proto__":{"polluted":true}}'))
    expect(Object.keys(Object(value))).toEqual(['__proto__'])
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('a request body', () => {
  let recording: RecordingApp
  beforeEach(async () => {
    recording = await recordingApp()
    port = null
  })
  afterEach(() => recording.close())

  let port: number | null = null
  const listening = async (): Promise<number> => {
    port ??= await listen(recording.app)
    return port
  }

  const encodings = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const
  const put = async (payload: Buffer, encoding: string, type = 'text/plain') =>
    recording.app.inject({
      method: 'PUT',
      url: '/documents/a',
      headers: { 'content-type': type, 'content-encoding': encoding },
      payload,
    })
  const storedBytes = () => {
    const content = recording.input('a')?.page.content
    return content && 'bytes' in content ? Buffer.from(content.bytes).toString() : null
  }

  test.each(encodings)(
    'encoded as %s is read up to the limit, and refused a byte above it',
    async (encoding, encode) => {
      const full = 'ab'.repeat(bodyLimitBytes / 2)
      expect((await put(encode(full), encoding)).statusCode).toBe(201)
      expect(storedBytes()).toBe(full)
      expect((await put(encode(`${full}c`), encoding)).statusCode).toBe(413)
    },
  )

  test.each(encodings)(
    'encoded as %s is refused where it is cut anywhere, or followed by anything',
    async (encoding, encode) => {
      const encoded = encode('A kettle of steel that holds two litres')
      for (let length = 0; length < encoded.length; length++)
        expect((await put(encoded.subarray(0, length), encoding)).statusCode).toBe(400)
      expect((await put(Buffer.concat([encoded, Buffer.from('more')]), encoding)).statusCode).toBe(400)
      expect(await recording.count()).toBe(0)
    },
  )

  test.each(['identity', 'GZIP', ' gzip ', ''])('may name its encoding as "%s"', async (encoding) => {
    const plain = Buffer.from('A kettle')
    const encoded = /gzip/i.test(encoding) ? gzipSync(plain) : plain
    expect((await put(encoded, encoding)).statusCode).toBe(201)
    expect(storedBytes()).toBe('A kettle')
  })

  test('of several gzip members is all of them', async () => {
    await put(Buffer.concat([gzipSync('A kettle '), gzipSync('of steel')]), 'gzip')
    expect(storedBytes()).toBe('A kettle of steel')
  })

  test('that decodes to a thousand times the limit is refused', async () => {
    expect((await put(gzipSync(Buffer.alloc(1000 * bodyLimitBytes)), 'gzip')).statusCode).toBe(413)
  })

  const refused: readonly [string, string, Buffer, number][] = [
    [
      'of an unknown encoding',
      'content-type: text/plain\r\ncontent-encoding: zstd',
      Buffer.alloc(3_000_000),
      415,
    ],
    ['of an unknown type', 'content-type: application/pdf', Buffer.alloc(3_000_000), 415],
    ['that is too large', 'content-type: text/plain', Buffer.alloc(3_000_000), 413],
    [
      'that is too large once decoded',
      'content-type: text/plain\r\ncontent-encoding: gzip',
      gzipSync(Buffer.alloc(50_000_000)),
      413,
    ],
    [
      'that is not what it says',
      'content-type: text/plain\r\ncontent-encoding: br',
      Buffer.alloc(3_000_000, 'x'),
      400,
    ],
  ]
  test.each(refused)(
    '%s is answered, and the connection can be used again',
    async (_name, headers, body, status) => {
      for (const framing of ['content-length', 'chunked']) {
        const { socket, closed, received } = open(await listening())
        const head = `PUT /documents/a HTTP/1.1\r\nhost: a\r\n${headers}\r\n`
        if (framing === 'chunked') {
          socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
          for (let from = 0; from < body.length; from += 100_000) {
            const part = body.subarray(from, from + 100_000)
            socket.write(`${part.length.toString(16)}\r\n`)
            socket.write(part)
            socket.write('\r\n')
          }
          socket.write('0\r\n\r\n')
        } else {
          socket.write(`${head}content-length: ${body.length}\r\n\r\n`)
          socket.write(body)
        }
        socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
        await closed
        const { answer, rest } = parseAnswer(received())
        expect(answer.status).toBe(status)
        expect(parseAnswer(rest).answer).toMatchObject({ status: 200, body: '{"status":"ok"}' })
      }
    },
  )
  test('sent a byte at a time in chunks is read whole', async () => {
    const { socket, closed, received } = open(await listening())
    socket.write(
      'PUT /documents/a HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    socket.write(`${'1\r\na\r\n'.repeat(bodyLimitBytes)}0\r\n\r\n`)
    await closed
    expect(parseAnswer(received()).answer.status).toBe(201)
    expect(storedBytes()).toBe('a'.repeat(bodyLimitBytes))
  })

  test('bodies that together are too large are answered 503, and their memory is free afterwards', async () => {
    const release = recording.hold()
    const waiting = Array.from({ length: 8 }, () => put(Buffer.alloc(bodyLimitBytes), 'identity'))
    await expect.poll(() => recording.calls.batches).toHaveLength(8)
    const answer = await put(Buffer.alloc(bodyLimitBytes), 'identity')
    expect(answer.statusCode).toBe(503)
    expect(answer.json().code).toBe('overloaded')
    expect(answer.headers['retry-after']).toBe('1')
    release()
    for (const { statusCode } of await Promise.all(waiting)) expect([200, 201]).toContain(statusCode)
    expect((await put(Buffer.alloc(bodyLimitBytes), 'identity')).statusCode).toBe(200)
  })
})
