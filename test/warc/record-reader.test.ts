import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRecords } from '../../src/warc/record-reader.ts'
import { seededRandom } from '../fixture/pages.ts'
import {
  arcFile,
  arcRecord,
  findAll,
  findAllIn,
  httpResponse,
  inChunks,
  inMembers,
  limitsOf,
  madePage,
  outlineOf,
  responseRecord,
  urlOf,
  warcRecord,
} from './archive.ts'

const records = [0, 1, 2, 3].map((i) => responseRecord(urlOf(i), madePage(i)))
const pages = [0, 1, 2, 3].map((i) => madePage(i))
const offsetOf = (i: number, parts: readonly Buffer[]): number =>
  parts.slice(0, i).reduce((sum, part) => sum + part.length, 0)
const members = records.map((record) => gzipSync(record))
const garbage = (length: number, seed = 7): Buffer => {
  const random = seededRandom(seed)
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)))
}

describe('an archive that is as it should be', () => {
  test('gives every record with its place, compressed or not', async () => {
    const plain = await findAllIn(Buffer.concat(records))
    const byMembers = await findAllIn(Buffer.concat(members))
    const whole = await findAllIn(gzipSync(Buffer.concat(records)))
    for (const found of [plain, byMembers, whole]) expect(outlineOf(found)).toEqual(pages)
    expect(plain.map(({ offset }) => offset)).toEqual([0, 1, 2, 3].map((i) => offsetOf(i, records)))
    expect(byMembers.map(({ offset }) => offset)).toEqual([0, 1, 2, 3].map((i) => offsetOf(i, members)))
    expect(whole.map(({ offset }) => offset)).toEqual([0, 0, 0, 0])
  })

  test('may be cut into gzip members wherever its writer liked', async () => {
    const bytes = Buffer.concat(records)
    const parts = [0, 10, 700, 701, 1500].map((from, i, all) => gzipSync(bytes.subarray(from, all[i + 1])))
    expect(outlineOf(await findAllIn(Buffer.concat(parts)))).toEqual(pages)
  })

  test('gives the same whichever way its bytes arrive', async () => {
    const files = [
      Buffer.concat(records),
      inMembers(records),
      gzipSync(Buffer.concat(records)),
      arcFile(...pages.map((page, i) => arcRecord(urlOf(i), 'text/html', httpResponse(page)))),
      Buffer.concat([members[0] as Buffer, garbage(300), members[1] as Buffer, members[2] as Buffer]),
      Buffer.concat([records[0] as Buffer, garbage(300), Buffer.from('\n'), records[1] as Buffer]),
    ]
    const whole = await Promise.all(files.map((file) => findAllIn(file)))
    await fc.assert(
      fc.asyncProperty(
        fc.nat(files.length - 1),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 }),
        async (i, sizes) => {
          const file = files[i] as Buffer
          const chunks = (async function* () {
            for (let at = 0, n = 0; at < file.length; n++) {
              const size = sizes[n % sizes.length] as number
              yield file.subarray(at, at + size)
              at += size
            }
          })()
          expect(await findAll(chunks)).toEqual(whole[i])
        },
      ),
      { seed: 20260131, numRuns: 60 },
    )
    for (const [i, file] of files.entries()) expect(await findAll(inChunks(file, 1))).toEqual(whole[i])
  })

  test('may have folded headers, bare newlines, angle brackets around URLs, and no newlines at its end', async () => {
    const body = httpResponse('<p>one')
    const head =
      'WARC/1.1\nwarc-type:\n response\nWARC-Target-URI: <https://example.com/long\n' +
      `\t/er>\nContent-Type: application/http\nno colon here\nContent-Length:  ${body.length}\n\n`
    const [found] = await findAllIn(Buffer.concat([Buffer.from(head), body]))
    expect(found).toMatchObject({
      page: { text: '<p>one', url: 'https://example.com/long /er', fetchedAt: null },
    })
  })

  test('may be an ARC file, of either version, with spaces in URLs', async () => {
    const response = httpResponse('<p>one')
    const second = `https://example.com/2 192.0.2.1 20260131120000 text/html 200 ABC - 0 made.arc ${response.length}\n`
    const file = arcFile(
      arcRecord('https://example.com/a b', 'text/html', response),
      Buffer.concat([Buffer.from(second), response, Buffer.from('\n')]),
      arcRecord('dns:example.com', 'text/dns', '192.0.2.1'),
    )
    const found = [await findAllIn(file), await findAllIn(gzipSync(file))]
    for (const one of found)
      expect(one).toMatchObject([
        { skipped: 'warcinfo' },
        { page: { url: 'https://example.com/a b', text: '<p>one', fetchedAt: '2026-01-31T12:00:00Z' } },
        { page: { url: 'https://example.com/2', text: '<p>one' } },
        { skipped: 'no-http' },
      ])
  })

  test('gives a record of a finished member before anything follows it', async () => {
    let sendMore: () => void = () => {}
    const chunks = (async function* () {
      yield members[0] as Buffer
      await new Promise<void>((resolve) => {
        sendMore = resolve
      })
      yield members[1] as Buffer
    })()
    const found = readRecords(chunks, limitsOf(2 ** 20))
    expect((await found.next()).value).toMatchObject({ kind: 'record', offset: 0 })
    const next = found.next()
    setImmediate(() => sendMore())
    expect((await next).value).toMatchObject({ kind: 'record', offset: members[0]?.length })
    expect((await found.next()).done).toBe(true)
  })
})

describe('a record beyond the limit', () => {
  const large = responseRecord(urlOf(9), 'x'.repeat(5000))

  test('is passed over, compressed or not, and what follows is found', async () => {
    for (const parts of [
      [large, ...records],
      [records[0] as Buffer, large, records[1] as Buffer],
    ])
      for (const file of [Buffer.concat(parts), inMembers(parts), gzipSync(Buffer.concat(parts))])
        expect(outlineOf(await findAllIn(file, 4000))).toEqual(
          parts.map((part) => (part === large ? 'skipped: too-large' : pages[records.indexOf(part)])),
        )
  })

  test('does not keep memory busy', async () => {
    const zeros = warcRecord('resource', urlOf(1), Buffer.alloc(40 * 2 ** 20))
    const found = await findAllIn(Buffer.concat([zeros, records[0] as Buffer]), 4000)
    expect(outlineOf(found)).toEqual(['skipped: too-large', pages[0]])
  })

  test('that a bomb would make is not even decompressed', async () => {
    const bomb = gzipSync(warcRecord('resource', urlOf(1), Buffer.alloc(40 * 2 ** 20)))
    const found = await findAllIn(Buffer.concat([bomb, members[0] as Buffer]), 4000)
    expect(found).toMatchObject([
      { offset: 0, damage: expect.stringContaining('expands more than 250 times') },
      { offset: bomb.length, page: { text: pages[0] } },
    ])
  })
})

describe('damage', () => {
  /** What has to hold of a file cut short behind `length` of the bytes of these parts. */
  const expectCut = async (file: Buffer, length: number, ends: readonly number[]): Promise<void> => {
    const found = await findAllIn(file.subarray(0, length))
    const wholeCount = ends.filter((end) => end <= length).length
    const texts = outlineOf(found).slice(0, wholeCount)
    expect(texts, `cut behind ${length}`).toEqual(pages.slice(0, wholeCount))
    const rest = found.slice(wholeCount)
    const isAtBorder = length === 0 || ends.includes(length)
    if (isAtBorder) expect(rest, `cut behind ${length}`).toEqual([])
    else if (rest.length > 0 || !isInTail(file, length, ends))
      expect(rest, `cut behind ${length}`).toMatchObject([{ damage: expect.any(String) }])
  }
  /** Between the block of a record and the next record only newlines can be missing, which nobody misses. */
  const isInTail = (file: Buffer, length: number, ends: readonly number[]): boolean => {
    const begun = ends.findLast((end) => end <= length) ?? 0
    return begun < length && /^[\r\n]*$/.test(file.toString('latin1', begun, length))
  }

  const short = [0, 1, 2].map((i) => responseRecord(urlOf(i), madePage(i)))

  test('by a cut is reported wherever it falls, and costs no record before it', async () => {
    const ends = short.map((_, i) => offsetOf(i + 1, short) - 4)
    const file = Buffer.concat(short)
    for (let length = 0; length <= file.length; length++) await expectCut(file, length, ends)
  })

  test('by a cut is reported wherever it falls among gzip members', async () => {
    const parts = short.map((record) => gzipSync(record))
    const ends = parts.map((_, i) => offsetOf(i + 1, parts))
    const file = Buffer.concat(parts)
    for (let length = 0; length <= file.length; length++) await expectCut(file, length, ends)
  })

  test('by a cut is reported with the member that it falls into', async () => {
    const found = await findAllIn(Buffer.concat(members).subarray(0, -20))
    expect(found.at(-1)).toMatchObject({
      offset: offsetOf(3, members),
      damage: expect.stringContaining('it ends within a gzip member'),
    })
  })

  test('by a cut in a file compressed as a whole costs the last record only', async () => {
    const file = gzipSync(Buffer.concat(records), { level: 0 })
    const found = await findAllIn(file.subarray(0, -40))
    expect(outlineOf(found)).toEqual([...pages.slice(0, 3), 'damage at 0'])
  })

  test('of any one byte is reported or harmless, and costs no other member', async () => {
    const file = Buffer.concat(members)
    const start = offsetOf(1, members)
    const end = offsetOf(2, members)
    for (let at = start; at < end; at++) {
      const broken = Buffer.from(file)
      broken[at] = (broken[at] as number) ^ (1 << (at % 8))
      const outline = outlineOf(await findAllIn(broken))
      const [first, second, ...rest] = outline
      expect([first, ...rest], `byte ${at}`).toEqual([pages[0], pages[2], pages[3]])
      expect([pages[1], `damage at ${start}`], `byte ${at}`).toContain(second)
    }
  })

  test('by bytes missing between two members costs those two at most', async () => {
    const [a, b, c, d] = members as [Buffer, Buffer, Buffer, Buffer]
    for (const missing of [1, 5, 8, 9, 30]) {
      const file = Buffer.concat([a, b.subarray(0, -missing), c, d])
      const outline = outlineOf(await findAllIn(file))
      expect(outline, `${missing} bytes`).toEqual([pages[0], `damage at ${a.length}`, pages[2], pages[3]])
    }
  })

  test('by bytes between records is reported once, at its place', async () => {
    const between = Buffer.concat([garbage(2000), Buffer.from('\nWARC/ is no version\r\n\r\n')])
    const [a, b] = records as [Buffer, Buffer]
    const plain = await findAllIn(Buffer.concat([a, Buffer.from('\r\nWARC/1.0 x\r\n\r\n'), b]))
    expect(outlineOf(plain)).toEqual([pages[0], `damage at ${a.length + 2}`, pages[1]])
    const packed = await findAllIn(Buffer.concat([gzipSync(a), between, gzipSync(b)]))
    expect(outlineOf(packed)).toEqual([pages[0], `damage at ${gzipSync(a).length}`, pages[1]])
  })

  test('by a Content-Length that is too large or too small costs that record only', async () => {
    const block = httpResponse(madePage(1))
    for (const wrong of [block.length - 7, block.length + 7, block.length + 900, 2 ** 16, 'many', '']) {
      const record = warcRecord('response', urlOf(1), block, { 'Content-Length': String(wrong) })
      const parts = [records[0] as Buffer, record, records[2] as Buffer, records[3] as Buffer]
      const expected = (at: number) => [pages[0], `damage at ${at}`, pages[2], pages[3]]
      expect(outlineOf(await findAllIn(Buffer.concat(parts))), `plain, ${wrong}`).toEqual(
        expected(offsetOf(1, parts)),
      )
      expect(outlineOf(await findAllIn(inMembers(parts))), `members, ${wrong}`).toEqual(
        expected(gzipSync(records[0] as Buffer).length),
      )
      expect(outlineOf(await findAllIn(gzipSync(Buffer.concat(parts)))), `whole, ${wrong}`).toEqual(
        expected(0),
      )
    }
  })

  test('is found in what is no archive at all', async () => {
    for (const bytes of [
      garbage(5000),
      Buffer.from('{"text": "one"}\n'),
      Buffer.from([0x1f, 0x8b, 8]),
      Buffer.from('x'),
    ])
      expect(outlineOf(await findAllIn(bytes))).toEqual(['damage at 0'])
    expect(await findAllIn(Buffer.alloc(0))).toEqual([])
  })

  test('of any kind neither throws nor hangs', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...records,
        ...members,
        gzipSync(Buffer.concat(records)),
        Buffer.from('\r\n'),
        Buffer.from('WARC/1.0\r\n'),
      ),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(piece, fc.nat(600), fc.nat(600)), { maxLength: 6 }),
        async (pieces) => {
          const file = Buffer.concat(
            pieces.map(([bytes, from, to]) => (from % 3 === 0 ? bytes.subarray(from, from + to) : bytes)),
          )
          await findAllIn(file, 4096)
        },
      ),
      { seed: 20260131, numRuns: 300 },
    )
  })

  test('that lets every record reach over all others ends soon', async () => {
    const record = 'WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 900000\r\n\r\n'
    const found = await findAllIn(Buffer.from(record.repeat(20_000)), 2 ** 20)
    expect(found.length).toBeGreaterThan(100)
    expect(found.every((one) => 'damage' in one)).toBe(true)
  })
})

test('a fault of the source is thrown on', async () => {
  const chunks = (async function* () {
    yield members[0] as Buffer
    throw new Error('The disk is gone')
  })()
  await expect(findAll(chunks)).rejects.toThrow('The disk is gone')
})
