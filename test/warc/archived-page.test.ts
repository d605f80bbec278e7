import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DittographError } from '../../src/errors.ts'
import { pageOfRecord } from '../../src/warc/archived-page.ts'
import { readRecords } from '../../src/warc/record-reader.ts'
import {
  type Fields,
  findAllIn,
  httpResponse,
  inChunks,
  limitsOf,
  madePage,
  outlineOf,
  responseRecord,
  urlOf,
  warcRecord,
} from './archive.ts'

const url = urlOf(1)
const page = madePage(1, 200)
const bytes = Buffer.from(page)

const outcomeOf = async (record: Buffer, limitBytes?: number): Promise<string | undefined> =>
  outlineOf(await findAllIn(record, limitBytes))[0]

/** What becomes of a response with this body. */
const received = (
  body: Buffer | string,
  fields: Fields = {},
  warcFields: Fields = {},
): Promise<string | undefined> =>
  outcomeOf(warcRecord('response', url, httpResponse(body, fields), warcFields))

const chunked = (body: Buffer, size: number, lastChunk = '0\r\n\r\n'): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const data = body.subarray(at, at + size)
    parts.push(Buffer.from(`${data.length.toString(16)};name="value"\r\n`), data, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from(lastChunk)])
}

/** A frame of Zstandard that consists of blocks which are stored, or repeat one byte. */
const zstdFrame = (blocks: readonly (Buffer | { byte: number; count: number })[], window = 0x50): Buffer => {
  const parts = blocks.map((block, i) => {
    const isLast = Number(i === blocks.length - 1)
    const [type, size, data] = Buffer.isBuffer(block)
      ? [0, block.length, block]
      : [1, block.count, Buffer.from([block.byte])]
    const head = Buffer.alloc(3)
    head.writeUIntLE(isLast + 2 * type + 8 * size, 0, 3)
    return Buffer.concat([head, data])
  })
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window]), ...parts])
}

describe('the record type decides', () => {
  test('that a page is what a response or a resource holds', async () => {
    const found = await findAllIn(
      Buffer.concat([
        responseRecord(url, page),
        warcRecord('resource', urlOf(2), page, { 'Content-Type': 'text/plain; charset=utf-8' }),
      ]),
    )
    const common = { fetchedAt: '2026-01-31T12:00:00Z', truncated: null, text: page }
    expect(found).toMatchObject([
      { page: { ...common, url, contentType: 'text/html; charset=utf-8' } },
      { page: { ...common, url: urlOf(2), contentType: 'text/plain; charset=utf-8' } },
    ])
  })

  test('that all others are skipped by what they are', async () => {
    for (const type of ['warcinfo', 'request', 'metadata', 'revisit', 'conversion', 'continuation'])
      expect(await outcomeOf(warcRecord(type, url, httpResponse(page)))).toBe(`skipped: ${type}`)
    expect(await outcomeOf(warcRecord('something', url, page))).toBe('skipped: unknown-type')
    expect(await outcomeOf(warcRecord('RESPONSE', url, httpResponse(page)))).toBe(page)
  })

  test('that what a crawler notes of its own is none', async () => {
    for (const own of ['metadata://gnu.org/software/wget/warc/wget.log', 'urn:text:https://example.com/'])
      expect(await outcomeOf(warcRecord('resource', own, page, { 'Content-Type': 'text/plain' }))).toBe(
        'skipped: url-scheme',
      )
  })

  test('that a response without HTTP is none', async () => {
    const dns = warcRecord('response', 'dns:example.com', '20260131120000\nexample.com. 1 IN A 192.0.2.1')
    expect(await outcomeOf(dns)).toBe('skipped: no-http')
  })
})

describe('the HTTP response decides', () => {
  test('by its status', async () => {
    const statuses = ['302 Found', '404 Not Found', '503', '101 Switching', '999 Odd', '99 Odd']
    const outcomes = statuses.map((status) =>
      outcomeOf(warcRecord('response', url, httpResponse(page, {}, status))),
    )
    expect(await Promise.all(outcomes)).toEqual([
      'skipped: status-3xx',
      'skipped: status-4xx',
      'skipped: status-5xx',
      'skipped: status-1xx',
      'skipped: status-other',
      'skipped: no-http',
    ])
  })

  test('by its media type, and not by that of the record', async () => {
    expect(await received(page, { 'Content-Type': 'APPLICATION/XHTML+XML ; charset=x' })).toBe(page)
    expect(await received(page, { 'Content-Type': 'application/json' })).toBe('skipped: media-type')
    expect(await received(page, { 'Content-Type': '' })).toBe('skipped: media-type')
    expect(await outcomeOf(warcRecord('response', url, 'HTTP/1.1 200 OK\r\n\r\ntext'))).toBe(
      'skipped: media-type',
    )
  })

  test('that nothing is no page', async () => {
    expect(await received('')).toBe('skipped: empty')
    expect(await received('', { 'Content-Encoding': 'gzip' })).toBe('skipped: empty')
    expect(await received('0\r\n\r\n', { 'Transfer-Encoding': 'chunked' })).toBe('skipped: empty')
    expect(await received(gzipSync(''))).toBe('skipped: empty')
  })
})

describe('chunks', () => {
  test('are joined wherever their borders lie', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), async (size) => {
        expect(await received(chunked(bytes, size), { 'Transfer-Encoding': 'chunked' })).toBe(page)
        expect(await received(chunked(bytes, size))).toBe(page)
      }),
      { seed: 20260131, numRuns: 50 },
    )
  })

  test('may lack the last one, and have a trailer', async () => {
    const headers = { 'Transfer-Encoding': 'chunked' }
    expect(await received(chunked(bytes, 500, ''), headers)).toBe(page)
    expect(await received(chunked(bytes, 500, '0\r\nExpires: never\r\n\r\n'), headers)).toBe(page)
  })

  test('that were joined already are not missed', async () => {
    for (const body of [page, 'abc is how this text begins', 'add\r\n', 'no'])
      expect(await received(body, { 'Transfer-Encoding': 'chunked' }), body).toBe(
        body === 'add\r\n' ? 'skipped: undecodable' : body,
      )
  })

  test('that break off are a page only where the record says so', async () => {
    const headers = { 'Transfer-Encoding': 'chunked' }
    const cut = chunked(bytes, 700).subarray(0, 1000)
    expect(await received(cut, headers)).toBe('skipped: undecodable')
    const kept = await received(cut, headers, { 'WARC-Truncated': 'length' })
    expect(kept?.length).toBeGreaterThan(950)
    expect(page.startsWith(kept ?? '-')).toBe(true)
    const broken = Buffer.concat([chunked(bytes.subarray(0, 700), 700, ''), Buffer.from('<p>no chunk')])
    expect(await received(broken, headers)).toBe('skipped: undecodable')
  })
})

describe('codings are undone by what the bytes are:', () => {
  const compressedZstd = Buffer.from(
    'KLUv/QRYbQYA8oYVGKCnOQBEE/kUk+9UQb+tLEV275RJ/Pp/gQYSKPL4O/q5+e/35Wn0GfnY+LbdLLa9lqL2NA32jvLY4OurAZK0BgkrHIZIyTooK4YgqMNgxZJaKwkMpAg+IGAzCnsLNmIHG3EHj5iDR2zERzxiIx6xER+xgxmx2RBivsesjTHfWzaEmO8pa2PMe4uTsKohxL7HYmEJaR0YwV7yhTgX8yLEdV1PMLtWtr6APa1+ed7ayyzZ7OQtc8W6GVsiu8Vkcl3GLMnOYiuLlmw8AaDpyZ8=',
    'base64',
  )
  const sentences = Array.from({ length: 40 }, (_, i) => `Kettle ${i} holds ${(i * 7) % 13} litres of water.`)

  test('each of them, with its name', async () => {
    const codings: [string, Buffer][] = [
      ['gzip', gzipSync(bytes)],
      ['x-gzip', gzipSync(bytes)],
      ['deflate', deflateSync(bytes)],
      ['deflate', deflateRawSync(bytes)],
      ['br', brotliCompressSync(bytes)],
      ['zstd', zstdFrame([bytes.subarray(0, 500), bytes.subarray(500)])],
      ['gzip, gzip', gzipSync(gzipSync(bytes))],
      ['br, gzip', gzipSync(brotliCompressSync(bytes))],
      ['gzip, br', brotliCompressSync(gzipSync(bytes))],
      ['identity', bytes],
    ]
    for (const [name, body] of codings)
      expect(await received(body, { 'Content-Encoding': name }), name).toBe(page)
    expect(await received(compressedZstd, { 'Content-Encoding': 'zstd' })).toBe(
      `<p>${sentences.join(' ')}</p>`,
    )
  })

  test('with a wrong name, with none, or with one too many', async () => {
    const byBytes = [
      gzipSync(bytes),
      deflateSync(bytes),
      zstdFrame([bytes]),
      gzipSync(gzipSync(bytes)),
      bytes,
    ]
    for (const name of [
      '',
      'gzip',
      'br',
      'deflate',
      'zstd',
      'gzip, br',
      'br, br',
      'made-up',
      'gzip, gzip, gzip',
    ])
      for (const body of byBytes) expect(await received(body, { 'Content-Encoding': name }), name).toBe(page)
  })

  test('below the chunks', async () => {
    const body = chunked(gzipSync(bytes), 100)
    expect(await received(body, { 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip' })).toBe(page)
    expect(await received(body)).toBe(page)
  })

  test('of a resource too', async () => {
    const record = warcRecord('resource', url, gzipSync(bytes), { 'Content-Type': 'text/html' })
    expect(await outcomeOf(record)).toBe(page)
  })

  test('text that only looks coded stays as it is', async () => {
    for (const text of ['x^2 is a square', '7', '; a comment', 'x\u0001']) {
      const names = text === 'x\u0001' ? [''] : ['', 'br', 'deflate', 'gzip']
      for (const name of names)
        expect(await received(text, { 'Content-Type': 'text/plain', 'Content-Encoding': name }), name).toBe(
          text === 'x\u0001' ? 'skipped: undecodable' : text,
        )
    }
  })

  test('what cannot be undone is never taken for a page', async () => {
    const binary = Buffer.from([1, 2, 3, 250, 251, 0, 7])
    const cut = (coded: Buffer) => coded.subarray(0, coded.length - 30)
    const bodies: [string, Buffer][] = [
      ['br', binary],
      ['zstd', binary],
      ['gzip', cut(gzipSync(bytes))],
      ['br', cut(brotliCompressSync(bytes))],
      ['zstd', cut(zstdFrame([bytes]))],
      ['zstd', Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), Buffer.alloc(50)])],
      ['gzip', gzipSync(gzipSync(gzipSync(gzipSync(gzipSync(bytes)))))],
    ]
    for (const [name, body] of bodies)
      expect(await received(body, { 'Content-Encoding': name }), name).toBe('skipped: undecodable')
  })

  test('as far as they go, where the record says that it was truncated', async () => {
    const truncated = { 'WARC-Truncated': 'time' }
    const long = Buffer.from(madePage(3, 8000))
    for (const [name, coded] of [
      ['gzip', gzipSync(long)],
      ['br', brotliCompressSync(long)],
      ['deflate', deflateSync(long)],
      ['zstd', zstdFrame([long.subarray(0, 20_000), long.subarray(20_000)])],
    ] as const) {
      const text = await received(
        coded.subarray(0, coded.length - 30),
        { 'Content-Encoding': name },
        truncated,
      )
      expect(text?.length, name).toBeGreaterThan(10_000)
      expect(long.toString().startsWith(text ?? '-'), name).toBe(true)
    }
    const [found] = await findAllIn(warcRecord('response', url, httpResponse(page), truncated))
    expect(found).toMatchObject({ page: { truncated: 'time' } })
  })
})

describe('bombs', () => {
  const zeros = Buffer.alloc(30 * 2 ** 20, 0x20)

  test('are stopped at the limit, in every coding', async () => {
    const bombs: [string, Buffer][] = [
      ['gzip', gzipSync(zeros)],
      ['deflate', deflateRawSync(zeros)],
      ['br', brotliCompressSync(zeros)],
      ['gzip, gzip', gzipSync(gzipSync(zeros))],
      ['zstd', zstdFrame(Array.from({ length: 200 }, () => ({ byte: 0x20, count: 2 ** 17 })))],
    ]
    for (const [name, body] of bombs)
      expect(await received(body, { 'Content-Encoding': name }), name).toBe('skipped: too-large')
  })

  test('of Zstandard that ask for large windows, or to move them often, are refused', async () => {
    const window = zstdFrame([bytes], 0xf8)
    const moves = zstdFrame(
      Array.from({ length: 2000 }, () => ({ byte: 0x20, count: 1 })),
      13 << 3,
    )
    for (const body of [window, moves])
      expect(await received(body, { 'Content-Encoding': 'zstd' })).toBe('skipped: undecodable')
  })
})

test('a date that is none is left out', async () => {
  for (const date of ['2026-01-31', 'yesterday', '2026-13-01T00:00:00Z', '2026-01-31T12:00:00.123456Z']) {
    const [found] = await findAllIn(warcRecord('response', url, httpResponse(page), { 'WARC-Date': date }))
    expect(found).toMatchObject({ page: { fetchedAt: date.endsWith('456Z') ? date : null } })
  }
})

test('where there is no memory for what is decoded, all that was held is given back', async () => {
  const limits = limitsOf(2 ** 20, 64 * 1024)
  const body = gzipSync(Buffer.alloc(2 ** 19, 0x20))
  const records = readRecords(inChunks(responseRecord(url, body, { 'Content-Encoding': 'gzip' })), limits)
  const { value: record } = await records.next()
  if (record?.kind !== 'record') throw new Error('There should be a record')
  await expect(pageOfRecord(record, limits)).rejects.toThrow(DittographError)
  limits.memory.giveBack(limits.memory.take(64 * 1024))
})
