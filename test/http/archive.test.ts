import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ArchiveTally, batchesOfArchive } from '../../src/http/archive.ts'
import { BodyMemory, GrowingBytes } from '../../src/http/body.ts'
import {
  arcFile,
  arcRecord,
  httpResponse,
  inChunks,
  inMembers,
  madePage,
  responseRecord,
  urlOf,
  warcRecord,
} from '../warc/archive.ts'
import { bodyLimitBytes, diskFull, listen, open, type RecordingApp, recordingApp } from './fixture.ts'

const records = [0, 1, 2].map((i) => responseRecord(urlOf(i), madePage(i)))
const members = records.map((record) => gzipSync(record))
const [first, second, third] = members as [Buffer, Buffer, Buffer]

describe('POST /documents with WARC', () => {
  let recording: RecordingApp
  beforeEach(async () => {
    recording = await recordingApp()
  })
  afterEach(() => recording.close())
  const post = async (payload: Buffer, headers: Record<string, string> = {}, query = '') => {
    const answer = await recording.app.inject({
      method: 'POST',
      url: `/documents${query}`,
      headers: { 'content-type': 'application/warc', ...headers },
      payload,
    })
    const lines = answer.body.trimEnd().split('\n')
    return { ...answer, lines: lines.map((line) => JSON.parse(line)) }
  }

  test('answers a line for each record that is a document, and says what became of the others', async () => {
    const others = ['warcinfo', 'request', 'revisit', 'request'].map((type) =>
      warcRecord(type, urlOf(9), 'block'),
    )
    const { statusCode, headers, lines } = await post(Buffer.concat([...others, ...records]))
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('application/x-ndjson')
    const start = Buffer.concat(others).length
    expect(lines).toEqual([
      {
        offset: start,
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{24}$/),
        url: urlOf(0),
        site: 'example.com',
        status: 'created',
        tokenCount: expect.any(Number),
        identicalTo: null,
      },
      expect.objectContaining({ offset: start + (records[0]?.length ?? 0), url: urlOf(1) }),
      expect.objectContaining({ url: urlOf(2), status: 'created' }),
      {
        summary: {
          stored: 3,
          unchanged: 0,
          failed: 0,
          skipped: { warcinfo: 1, request: 2, revisit: 1 },
          damaged: [],
        },
      },
    ])
    const document = await recording.services.documents.get(lines[0].id)
    expect(document).toMatchObject({ title: 'Page 0', fetchedAt: '2026-01-31T12:00:00Z', metadata: null })
  })

  test('reads gzip members, ARC files and encoded bodies alike', async () => {
    const arc = arcFile(...[0, 1, 2].map((i) => arcRecord(urlOf(i), 'text/html', httpResponse(madePage(i)))))
    const plain = Buffer.concat(records)
    const bodies: [Buffer, Record<string, string>][] = [
      [plain, {}],
      [Buffer.concat(members), {}],
      [Buffer.concat(members), { 'content-type': 'application/warc+gzip; charset=x' }],
      [gzipSync(plain), { 'content-encoding': 'gzip' }],
      [brotliCompressSync(inMembers(records)), { 'content-encoding': 'br' }],
      [arc, {}],
      [gzipSync(arc), {}],
    ]
    for (const [i, [body, headers]] of bodies.entries()) {
      const { lines } = await post(body, headers)
      expect(lines.at(-1).summary, `body ${i}`).toMatchObject(
        i === 0 ? { stored: 3, unchanged: 0 } : { stored: 0, unchanged: 3 },
      )
    }
  })

  test('reports damage with its offset and stores what is around it', async () => {
    const broken = Buffer.from(second)
    broken[200] = (broken[200] as number) ^ 0xff
    const { statusCode, lines } = await post(Buffer.concat([first, broken, third, first.subarray(0, -30)]))
    expect(statusCode).toBe(200)
    expect(lines.map(({ offset }) => offset)).toEqual([0, first.length + second.length, undefined])
    expect(lines.at(-1).summary.damaged).toEqual([
      { offset: first.length, detail: expect.stringContaining('gzip member') },
      { offset: first.length + second.length + third.length, detail: expect.stringContaining('truncated') },
    ])
  })

  test('a page without a URL that a document can have is a problem in its place', async () => {
    const bad = [
      responseRecord('', 'text'),
      responseRecord('no url', 'text'),
      responseRecord(urlOf(1) + 'x'.repeat(9000), 'text'),
    ]
    const { lines } = await post(Buffer.concat([records[0] as Buffer, ...bad, records[2] as Buffer]))
    expect(lines.map(({ status, code }) => code ?? status)).toEqual([
      'created',
      'invalid_body',
      'invalid_body',
      'invalid_body',
      'created',
      undefined,
    ])
    expect(lines[2]).toMatchObject({ url: 'no url', detail: expect.stringContaining('WARC-Target-URI') })
    expect(lines[3].url.length).toBe(8192)
    expect(lines.at(-1).summary).toMatchObject({ stored: 2, failed: 3 })
  })

  test('the body limit holds for one record, decoded too, and not for the file', async () => {
    const large = responseRecord(urlOf(7), 'x'.repeat(bodyLimitBytes))
    const bomb = responseRecord(urlOf(8), gzipSync(Buffer.alloc(bodyLimitBytes + 1, 0x20)))
    const many = Array.from({ length: 300 }, (_, i) => responseRecord(urlOf(i), madePage(i, 60)))
    const { lines } = await post(Buffer.concat([large, bomb, ...many]))
    expect(lines.at(-1).summary).toEqual({
      stored: 300,
      unchanged: 0,
      failed: 0,
      skipped: { 'too-large': 2 },
      damaged: [],
    })
  })

  test('a record that the crawler truncated says so in its metadata', async () => {
    const { lines } = await post(
      warcRecord('response', urlOf(1), httpResponse('<p>the first part'), { 'WARC-Truncated': 'length' }),
    )
    const document = await recording.services.documents.get(lines[0].id)
    expect(document.metadata).toEqual({ warcTruncated: 'length' })
  })

  test('near-duplicates go with each result', async () => {
    const copy = responseRecord('https://example.org/copy', madePage(0))
    const { lines } = await post(Buffer.concat([records[0] as Buffer, copy]), {}, '?duplicates=3')
    expect(lines[0].duplicates).toEqual([])
    expect(lines[1].duplicates).toMatchObject([{ url: urlOf(0), identical: true }])
  })

  test('what holds no record at all is refused as a whole, and says why', async () => {
    for (const [body, reason] of [
      [Buffer.alloc(0), 'no record'],
      [Buffer.from('{"text": "one"}'), 'No record of WARC or ARC begins here'],
      [first.subarray(0, 100), 'truncated'],
    ] as const) {
      const { statusCode, lines } = await post(body)
      expect([statusCode, lines[0].code]).toEqual([400, 'invalid_body'])
      expect(lines[0].detail).toContain(reason)
    }
    for (const query of ['?url=https://example.com/', '?id=a'])
      expect((await post(first, {}, query)).statusCode).toBe(400)
  })

  test('a full disk is a problem for each document, and the file is read to its end', async () => {
    recording.diskFailure = diskFull
    const { lines } = await post(Buffer.concat(records))
    expect(lines.map(({ status }) => status)).toEqual([507, 507, 507, undefined])
    expect(lines.at(-1).summary).toMatchObject({ failed: 3 })
  })

  test('answers what came so far when the body pauses, and says when it breaks off', async () => {
    const { socket, received, closed } = open(await listen(recording.app))
    socket.write(
      'POST /documents HTTP/1.1\r\nHost: a\r\nContent-Type: application/warc\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    const send = (part: Buffer) => {
      socket.write(`${part.length.toString(16)}\r\n`)
      socket.write(part)
      socket.write('\r\n')
    }
    send(first)
    while (!received().includes('"created"')) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(received().toString()).toContain(urlOf(0))
    send(second.subarray(0, 50))
    socket.end()
    await closed
    while ((await recording.count()) < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await recording.count()).toBe(1)
  })
})

describe('batches of an archive', () => {
  const memoryBytes = 2 ** 20
  const setUp = () => {
    const memory = new BodyMemory(memoryBytes)
    return {
      limits: { limitBytes: 2 ** 16, createStore: () => new GrowingBytes(memory) },
      tally: new ArchiveTally(),
      expectAllFree: () => memory.giveBack(memory.take(memoryBytes)),
    }
  }

  test('give all memory back when nobody asks for more', async () => {
    const { limits, tally, expectAllFree } = setUp()
    const batches = batchesOfArchive(inChunks(Buffer.concat(members)), limits, tally)
    expect((await batches.next()).value).toHaveLength(3)
    await batches.return(undefined)
    expectAllFree()
  })

  test('give all memory back when nobody asks for more while a record is on its way', async () => {
    const { limits, tally, expectAllFree } = setUp()
    const chunks = (async function* () {
      yield first
      await new Promise((resolve) => setTimeout(resolve, 60))
      yield second
      yield third
    })()
    const batches = batchesOfArchive(chunks, limits, tally)
    expect((await batches.next()).value).toHaveLength(1)
    await batches.return(undefined)
    expectAllFree()
  })

  test('name a fault of the source in the place where it was met', async () => {
    const { limits, tally, expectAllFree } = setUp()
    const fault = new Error('The disk is gone')
    const chunks = (async function* () {
      yield first
      throw fault
    })()
    const all = []
    for await (const batch of batchesOfArchive(chunks, limits, tally)) all.push(...batch)
    expect(all).toMatchObject([{ url: urlOf(0) }, { offset: 0, error: fault }])
    expectAllFree()
  })

  test('list no more than a thousand damaged places', () => {
    const tally = new ArchiveTally()
    for (let offset = 0; offset < 1500; offset++)
      tally.countDamage({ kind: 'damage', offset, detail: 'Gone' })
    const { damaged } = tally.summary()
    expect(damaged).toHaveLength(1001)
    expect(damaged.at(-1)).toEqual({ offset: 999, detail: 'Behind this there are 500 more damaged places' })
  })
})
