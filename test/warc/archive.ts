import { gzipSync } from 'node:zlib'
import { BodyMemory, GrowingBytes } from '../../src/http/body.ts'
import { type ArchivedPage, pageOfRecord } from '../../src/warc/archived-page.ts'
import type { RecordLimits } from '../../src/warc/byte-store.ts'
import { readRecords } from '../../src/warc/record-reader.ts'
import { htmlPage, randomWords, seededRandom } from '../fixture/pages.ts'

export type Fields = Readonly<Record<string, string>>

const lines = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

/** A WARC record; `fields` add to or replace what goes with its type. */
export const warcRecord = (
  type: string,
  url: string,
  block: Buffer | string,
  fields: Fields = {},
): Buffer => {
  const bytes = Buffer.from(block)
  const head = lines({
    'WARC-Type': type,
    'WARC-Target-URI': url,
    'WARC-Date': '2026-01-31T12:00:00Z',
    'Content-Type': `application/http; msgtype=${type}`,
    'Content-Length': String(bytes.length),
    ...fields,
  })
  return Buffer.concat([Buffer.from(`WARC/1.0\r\n${head}\r\n`), bytes, Buffer.from('\r\n\r\n')])
}

/** An HTTP response as it came over the wire. */
export const httpResponse = (body: Buffer | string, fields: Fields = {}, status = '200 OK'): Buffer => {
  const head = lines({ 'Content-Type': 'text/html; charset=utf-8', ...fields })
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${head}\r\n`), Buffer.from(body)])
}

export const responseRecord = (url: string, body: Buffer | string, fields: Fields = {}): Buffer =>
  warcRecord('response', url, httpResponse(body, fields))

/** A record of an ARC file, version 1. */
export const arcRecord = (url: string, mediaType: string, block: Buffer | string): Buffer => {
  const bytes = Buffer.from(block)
  const line = `${url} 192.0.2.1 20260131120000 ${mediaType} ${bytes.length}\n`
  return Buffer.concat([Buffer.from(line), bytes, Buffer.from('\n')])
}

export const arcFile = (...records: readonly Buffer[]): Buffer =>
  Buffer.concat([
    arcRecord(
      'filedesc://made.arc',
      'text/plain',
      '1 0 Made\nURL IP-address Archive-date Content-type Archive-length\n',
    ),
    ...records,
  ])

export const urlOf = (i: number): string => `https://example.com/${i}`

/** The i-th of a row of pages that have nothing to do with each other. */
export const madePage = (i: number, words = 30): string =>
  htmlPage(`Page ${i}`, randomWords(seededRandom(i), words))

/** Records as gzip members, one each. */
export const inMembers = (records: readonly Buffer[]): Buffer =>
  Buffer.concat(records.map((record) => gzipSync(record)))

/** In chunks of that many bytes. */
export async function* inChunks(bytes: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export type Found =
  | {
      readonly offset: number
      readonly page: Omit<ArchivedPage, 'bytes' | 'release'> & { readonly text: string }
    }
  | { readonly offset: number; readonly skipped: string }
  | { readonly offset: number; readonly damage: string }

const enoughFor = (limitBytes: number): number => Math.max(2 ** 18, 4 * limitBytes)

export const limitsOf = (
  limitBytes: number,
  memoryBytes = enoughFor(limitBytes),
): RecordLimits & { memory: BodyMemory } => {
  const memory = new BodyMemory(memoryBytes)
  return { limitBytes, memory, createStore: () => new GrowingBytes(memory) }
}

/** Everything that is found in an archive, in order; fails where memory was not given back. */
export const findAll = async (
  chunks: AsyncIterable<Buffer>,
  limitBytes = 2 ** 17,
): Promise<readonly Found[]> => {
  const limits = limitsOf(limitBytes)
  const found: Found[] = []
  for await (const item of readRecords(chunks, limits)) {
    const { offset } = item
    if (item.kind === 'damage') {
      found.push({ offset, damage: item.detail })
      continue
    }
    const page = await pageOfRecord(item, limits)
    if (typeof page === 'string') found.push({ offset, skipped: page })
    else {
      const { bytes, release, ...rest } = page
      found.push({ offset, page: { ...rest, text: bytes.toString('latin1') } })
      release()
    }
  }
  limits.memory.giveBack(limits.memory.take(enoughFor(limitBytes)))
  return found
}

export const findAllIn = (bytes: Buffer, limitBytes?: number): Promise<readonly Found[]> =>
  findAll(inChunks(bytes), limitBytes)

/** Texts of the pages, reasons of what was skipped, details of damage. */
export const outlineOf = (found: readonly Found[]): string[] =>
  found.map((one) => {
    if ('page' in one) return one.page.text
    return 'skipped' in one ? `skipped: ${one.skipped}` : `damage at ${one.offset}`
  })
