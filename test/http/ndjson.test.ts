import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DittographError } from '../../src/errors.ts'
import { BodyMemory } from '../../src/http/body.ts'
import { batchesOf, type Entry, LineSplitter } from '../../src/http/ndjson.ts'
import {
  bodyLimitBytes,
  diskBroken,
  diskFull,
  listen,
  open,
  type RecordingApp,
  recordingApp,
} from './fixture.ts'

const property = { seed: 20260131, numRuns: 500 }
const memory = () => new BodyMemory(2 ** 20)

/** Cuts bytes at the given places, taken modulo their number. */
const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...at, bytes.length].map((to, i) => bytes.subarray(i === 0 ? 0 : at[i - 1], to))
}

type Plain = { number: number; text: string | null }

const split = (chunks: readonly Buffer[], limitBytes: number, shared = memory()): Plain[] => {
  const splitter = new LineSplitter(limitBytes, shared)
  const lines: Plain[] = []
  const collect = (from: Iterable<{ number: number; bytes: Buffer | null }>) => {
    for (const { number, bytes } of from) lines.push({ number, text: bytes?.toString('latin1') ?? null })
  }
  for (const chunk of chunks) collect(splitter.push(chunk))
  collect(splitter.end())
  splitter.close()
  return lines
}

/** The same by the plainest means: the whole body at once. */
const splitPlainly = (bytes: Buffer, limitBytes: number): Plain[] => {
  const texts = bytes.toString('latin1').split('\n')
  return texts
    .map((text, i) => {
      if (text.length > limitBytes) return { number: i + 1, text: null }
      const line = text.endsWith('\r') ? text.slice(0, -1) : text
      return { number: i + 1, text: i === 0 && line.startsWith('ï»¿') ? line.slice(3) : line }
    })
    .filter(({ text }) => text === null || /[^ \t]/.test(text))
}

describe('a line splitter', () => {
  test('gives the same lines whichever way the bytes arrive', () => {
    const piece = fc.constantFrom(
      '\n',
      '\r\n',
      '\n\n',
      ' ',
      '\t',
      '\r',
      '\ufeff',
      'a',
      '{"a":1}',
      'é',
      'x'.repeat(12),
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.array(fc.nat(200), { maxLength: 12 }),
        fc.integer({ min: 1, max: 20 }),
        (pieces, places, limitBytes) => {
          const bytes = Buffer.from(pieces.join(''))
          expect(split(cut(bytes, places), limitBytes)).toEqual(splitPlainly(bytes, limitBytes))
        },
      ),
      property,
    )
  })

  test('holds no more memory than the limit of a line, and gives it back', () => {
    const shared = new BodyMemory(128 * 1024)
    const long = Buffer.alloc(16 * 1024, 'a')
    const chunks = [...Array.from({ length: 100 }, () => long), Buffer.from('\nb\n'), long]
    expect(split(chunks, 64 * 1024, shared)).toEqual([
      { number: 1, text: null },
      { number: 2, text: 'b' },
      { number: 3, text: long.toString() },
    ])
    shared.take(128 * 1024)
    expect(() => shared.take(1)).toThrow(DittographError)
  })
})

async function* chunksOf(texts: readonly (string | number | Error)[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (text instanceof Error) throw text
    if (typeof text === 'number') await new Promise((resolve) => setTimeout(resolve, text))
    else yield Buffer.from(text)
  }
}

const batches = async (texts: readonly (string | number | Error)[]): Promise<Entry<string>[][]> => {
  const found: Entry<string>[][] = []
  const splitter = new LineSplitter(2 ** 20, memory())
  const read = ({ bytes }: { bytes: Buffer | null }): string => {
    const text = String(bytes)
    if (text === 'bad') throw new DittographError('invalid_body', 'bad')
    return text
  }
  for await (const batch of batchesOf(chunksOf(texts), splitter, read)) found.push([...batch])
  return found
}

describe('batches', () => {
  test('end at 64 lines, at 1 MiB, and where the body pauses', async () => {
    const sizes = async (texts: readonly (string | number)[]) =>
      (await batches(texts)).map(({ length }) => length)
    expect(await sizes(['a\n'.repeat(130)])).toEqual([64, 64, 2])
    const large = `${'a'.repeat(300_000)}\n`
    expect(await sizes([large.repeat(5), 'a\n'])).toEqual([4, 2])
    expect(await sizes(['a\n', 'a\n', 200, 'a\na', 200, 'a\n'])).toEqual([2, 1, 1])
  })

  test('hold the error of a line in its place, and damage at the line that it cut', async () => {
    const damage = new DittographError('invalid_body', 'cut short')
    const [batch = []] = await batches(['a\nbad\n\nb\nc', damage])
    expect(
      batch.map((entry) => ('input' in entry ? [entry.line, entry.input] : [entry.line, entry.error])),
    ).toEqual([
      [1, 'a'],
      [2, expect.objectContaining({ message: 'bad' })],
      [4, 'b'],
      [5, damage],
    ])
  })

  test('of a body without a line, or damaged before its first line, are refused as a whole', async () => {
    await expect(batches([' \n\r\n\n'])).rejects.toMatchObject({ code: 'invalid_body' })
    await expect(batches([])).rejects.toMatchObject({ code: 'invalid_body' })
    const damage = new DittographError('invalid_body', 'cut short')
    await expect(batches(['a', damage])).rejects.toBe(damage)
  })

  test('a failure while a batch is being stored is met, not left unhandled', async () => {
    const damage = new DittographError('invalid_body', 'cut short')
    const splitter = new LineSplitter(100, memory())
    const all = batchesOf(chunksOf(['a\n', 30, damage]), splitter, (line) => line.number)
    expect((await all.next()).value).toEqual([{ line: 1, input: 1 }])
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await all.next()).value).toEqual([{ line: 2, error: damage }])
  })
})

const ndjson = { 'content-type': 'application/x-ndjson' }
const linesOf = (body: string) =>
  body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('POST /documents with NDJSON', () => {
  let recording: RecordingApp
  beforeEach(async () => {
    recording = await recordingApp()
  })
  afterEach(() => recording.close())
  const post = async (payload: string | Buffer, headers: Record<string, string> = {}, query = '') => {
    const answer = await recording.app.inject({
      method: 'POST',
      url: `/documents${query}`,
      headers: { ...ndjson, ...headers },
      payload,
    })
    return { ...answer, lines: answer.statusCode === 200 ? linesOf(answer.body) : [] }
  }

  test('answers a line for each line, in order, with a problem in the place of a bad one', async () => {
    const { statusCode, headers, lines } = await post(
      '\ufeff{"id":"a","text":"a"}\r\n\r\n{"id":7,"text":"b"}\n{"id":"c"\n \n{"id":"a","text":"again"}',
    )
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('application/x-ndjson')
    expect(lines).toEqual([
      { line: 1, id: 'a', url: null, site: null, status: 'created', tokenCount: 1, identicalTo: null },
      expect.objectContaining({
        line: 3,
        status: 400,
        code: 'invalid_body',
        errors: [{ pointer: '/id', detail: 'must be string' }],
      }),
      expect.objectContaining({ line: 4, status: 400, code: 'invalid_body' }),
      expect.objectContaining({ line: 6, id: 'a', status: 'replaced' }),
      { summary: { stored: 2, unchanged: 0, failed: 2 } },
    ])
    expect(recording.input('a')?.page.content).toEqual({ kind: 'text', characters: 'again' })
    expect(await recording.services.documents.text('a')).toBe('again')
  })

  test('an over-long line is a problem with its number, and the lines around it are stored', async () => {
    const long = JSON.stringify({ id: 'b', text: 'a'.repeat(bodyLimitBytes) })
    const { lines } = await post(`{"id":"a","text":"a"}\n${long}\n{"id":"c","text":"c"}\n`)
    expect(lines).toEqual([
      expect.objectContaining({ line: 1, status: 'created' }),
      expect.objectContaining({ line: 2, status: 413, code: 'body_too_large' }),
      expect.objectContaining({ line: 3, status: 'created' }),
      { summary: { stored: 2, unchanged: 0, failed: 1 } },
    ])
  })

  test('a body much larger than the limit is stored line by line', async () => {
    const line = (i: number) => JSON.stringify({ id: `n${i}`, text: 'a'.repeat(1000) })
    const { lines } = await post(Array.from({ length: 500 }, (_, i) => line(i)).join('\n'))
    expect(lines.slice(0, -1).map(({ line, id }) => [line, id])).toEqual(
      Array.from({ length: 500 }, (_, i) => [i + 1, `n${i}`]),
    )
    expect(recording.calls.batches.every((batch) => batch.length <= 64)).toBe(true)
  })

  test.each([1, 5, 100])(
    'damage %i bytes before the end of the encoding is a problem at the line reached',
    async (missing) => {
      const line = (i: number) => JSON.stringify({ id: `n${i}`, text: String(Math.sin(i)).repeat(20) })
      const body = gzipSync(Array.from({ length: 300 }, (_, i) => line(i)).join('\n'))
      const { lines } = await post(body.subarray(0, -missing), { 'content-encoding': 'gzip' })
      const [damage, summary] = lines.slice(-2)
      expect(damage).toMatchObject({ status: 400, code: 'invalid_body', line: lines.length - 1 })
      expect(summary).toEqual({ summary: { stored: lines.length - 2, unchanged: 0, failed: 1 } })
      expect(await recording.count()).toBe(lines.length - 2)
    },
  )

  test('a store that fails is a problem for every line of the batch', async () => {
    recording.diskFailure = diskFull
    const { lines } = await post('{"text":"a"}\n{"text":"b"}\n')
    expect(lines.map(({ line, status }) => [line, status])).toEqual([
      [1, 507],
      [2, 507],
      [undefined, undefined],
    ])
    recording.diskFailure = diskBroken
    const unexpected = await post('{"text":"a"}\n')
    expect(unexpected.lines[0]).toMatchObject({ line: 1, status: 500, code: 'internal_error' })
    expect(unexpected.body).not.toContain(diskBroken.message)
    expect(await recording.count()).toBe(0)
  })

  test('the options of the search go to every batch', async () => {
    await post('{"text":"a"}\n', {}, '?duplicates=7&algorithm=simhash&minAgreeingBits=380')
    expect(recording.calls.options).toEqual([
      expect.objectContaining({
        algorithm: 'simhash',
        limit: 7,
        cursor: null,
        thresholds: expect.objectContaining({ minAgreeingBits: 380 }),
      }),
    ])
  })

  test('a line is answered while the body is still being sent', async () => {
    const { socket, closed, received } = open(await listen(recording.app))
    const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
    socket.write(
      'POST /documents HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    socket.write(chunk('{"id":"first","text":"a"}\n{"id":"sec'))
    await expect.poll(() => received().toString()).toContain('"id":"first"')
    expect(received().toString()).not.toContain('summary')
    socket.write(`${chunk('ond","text":"b"}')}0\r\n\r\n`)
    await closed
    expect(received().toString()).toContain('"line":2,"id":"second"')
    expect(received().toString()).toContain('{"summary":{"stored":2,"unchanged":0,"failed":0}}')
  })

  test('a client may send 20,000 lines before it reads the first answer', async () => {
    const port = await listen(recording.app)
    const body = Array.from(
      { length: 20_000 },
      (_, i) => `{"id":"a-rather-long-id-of-a-document-${i}","text":"a"}`,
    ).join('\n')
    const { socket, closed, received } = open(port)
    socket.pause()
    const sent = new Promise((resolve) =>
      socket.write(
        `POST /documents HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        resolve,
      ),
    )
    await sent
    await expect.poll(() => recording.count(), { timeout: 40_000, interval: 200 }).toBe(20_000)
    socket.resume()
    await closed
    expect(received().toString()).toContain('{"summary":{"stored":20000,"unchanged":0,"failed":0}}')
  })

  test('a client that goes away stops the reading', async () => {
    const release = recording.hold()
    const { socket } = open(await listen(recording.app))
    socket.write(
      'POST /documents HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\ncontent-length: 100000000\r\n\r\n',
    )
    socket.write('{"text":"a"}\n'.repeat(20_000))
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    // Closing waits for every request: it ends only if nothing reads or stores any more.
    await recording.app.close()
    expect(await recording.count()).toBeLessThan(20_000)
  })

  test('a body that keeps moving may take longer than the request timeout', async () => {
    const slow = await recordingApp({ requestTimeoutMs: 150 })
    const { socket, closed, received } = open(await listen(slow.app))
    const line = (i: number) => `{"id":"${i}","text":"a"}\n`
    socket.write(
      `POST /documents HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\ncontent-length: ${line(1).length * 8}\r\n\r\n`,
    )
    for (let i = 0; i < 8; i++) {
      socket.write(line(i))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await closed
    await slow.close()
    expect(received().toString()).toContain('{"summary":{"stored":8,"unchanged":0,"failed":0}}')
  })

  test('the connection can be used again after a stream that was damaged', async () => {
    const { socket, closed, received } = open(await listen(recording.app))
    const damaged = Buffer.concat([
      gzipSync('{"id":"a","text":"a"}\n'),
      Buffer.from('not gzip'.repeat(50_000)),
    ])
    socket.write(
      `POST /documents HTTP/1.1\r\nhost: a\r\ncontent-encoding: gzip\r\ncontent-type: application/x-ndjson\r\ncontent-length: ${damaged.length}\r\n\r\n`,
    )
    socket.write(damaged)
    socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    await closed
    expect(received().toString()).toMatch(
      /^HTTP\/1.1 400 .*"code":"invalid_body".*HTTP\/1.1 200 OK.*\{"status":"ok"\}$/s,
    )
  })
})
