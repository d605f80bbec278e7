import { kindOfPage, mediaTypeOf } from '../page/media-type.ts'
import type { RecordLimits } from './byte-store.ts'
import { chunkingOf, joinChunks, parseHttpResponse } from './http-response.ts'
import { type DecodedPayload, type Payload, undoCodings } from './payload-coding.ts'
import { firstValue, type Headers } from './record-head.ts'
import type { ArchiveRecord } from './record-reader.ts'

/** A page as an archive holds it. */
export type ArchivedPage = {
  readonly url: string | null
  /** The Content-Type that came with the bytes; of a type that is a page. */
  readonly contentType: string
  /** The bytes without transfer and content codings, valid until `release`. */
  readonly bytes: Buffer
  /** When it was fetched, by RFC 3339; null where the record does not say it so. */
  readonly fetchedAt: string | null
  /** Why the crawler kept only the first part of it (WARC-Truncated); null where it is whole. */
  readonly truncated: string | null
  readonly release: () => void
}

/**
 * Why a record is no page. The types of records that hold none by their nature, and: `unknown-type`; `no-http`, a
 * response of another protocol; `status-3xx` and the like; `media-type`, neither HTML nor plain text; `empty`;
 * `too-large` before or after decoding; `undecodable`, codings that cannot be undone, or a body cut short.
 */
export type SkipReason = (typeof typesWithoutPage)[number] | OtherReason
type OtherReason =
  | 'unknown-type'
  | 'no-http'
  | 'url-scheme'
  | 'status-1xx'
  | 'status-3xx'
  | 'status-4xx'
  | 'status-5xx'
  | 'status-other'
  | 'media-type'
  | 'empty'
  | 'too-large'
  | 'undecodable'

/** A revisit has the page in another record, and a conversion is made from one: neither is a page of its own. */
const typesWithoutPage = ['warcinfo', 'request', 'metadata', 'revisit', 'conversion', 'continuation'] as const

const reasonOfType = (type: string): SkipReason =>
  typesWithoutPage.find((known) => known === type) ?? 'unknown-type'

const reasonOfStatus = (status: number): SkipReason => {
  const reasons = ['status-1xx', null, 'status-3xx', 'status-4xx', 'status-5xx'] as const
  return reasons[Math.floor(status / 100) - 1] ?? 'status-other'
}

const dateOf = (headers: Headers): string | null => {
  const date = firstValue(headers, 'warc-date') ?? ''
  const isDate =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(date) && !Number.isNaN(Date.parse(date))
  return isDate ? date : null
}

/** WARC 1.0 was understood to want angle brackets around the URI. */
const urlOf = (headers: Headers): string | null => {
  const url = firstValue(headers, 'warc-target-uri')
  return url === null ? null : url.replace(/^<(.*)>$/, '$1')
}

/** Logs of the crawler and texts taken from pages come as resources too, under `metadata:` and `urn:`. */
const isOfWeb = (url: string | null): boolean =>
  url === null || !URL.canParse(url) || /^(?:https?|ftp|file):$/.test(new URL(url).protocol)

const listOf = (headers: Headers, name: string): string[] =>
  (headers.get(name) ?? [])
    .flatMap((value) => value.split(','))
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '')

/** Null where something else stands among the chunks, or the body is cut short and may not be. */
const undoChunks = (body: Buffer, isNamed: boolean, mayBeCut: boolean): Buffer | null => {
  const chunking = chunkingOf(body)
  if (chunking === 'whole') return joinChunks(body)
  if (!isNamed || chunking === 'none') return body
  if (chunking === 'broken' || (chunking === 'cut' && !mayBeCut)) return null
  return joinChunks(body)
}

type Content = { readonly contentType: string; readonly payload: DecodedPayload }

/** Throws what the stores throw. Whatever is returned, the block is part of it or cleared. */
const contentOf = async (
  { type, headers }: ArchiveRecord,
  { bytes, store }: Payload,
  limits: RecordLimits & { readonly mayBeCut: boolean },
): Promise<Content | SkipReason> => {
  const skip = (reason: SkipReason) => {
    store.clear()
    return reason
  }
  const response = type === 'response' ? parseHttpResponse(bytes) : null
  if (type === 'response' && response === null) return skip('no-http')
  const contentType = firstValue(response === null ? headers : response.headers, 'content-type') ?? ''
  if (!isOfWeb(urlOf(headers))) return skip('url-scheme')
  if (response !== null && Math.floor(response.status / 100) !== 2)
    return skip(reasonOfStatus(response.status))
  if (kindOfPage(mediaTypeOf(contentType)) === null) return skip('media-type')
  if (response === null) return { contentType, payload: await undoCodings({ bytes, store }, [], limits) }
  const isChunked = listOf(response.headers, 'transfer-encoding').includes('chunked')
  const body = undoChunks(response.body, isChunked, limits.mayBeCut)
  if (body === null) return skip('undecodable')
  const names = listOf(response.headers, 'content-encoding')
  return { contentType, payload: await undoCodings({ bytes: body, store }, names, limits) }
}

/**
 * The page that a record holds, or why it holds none. Takes the block of the record over. Throws what the stores
 * throw. Time: linear in the record and its decoded payload.
 */
export const pageOfRecord = async (
  record: ArchiveRecord,
  limits: RecordLimits,
): Promise<ArchivedPage | SkipReason> => {
  const { type, headers, block } = record
  if (type !== 'response' && type !== 'resource') {
    block?.clear()
    return reasonOfType(type)
  }
  if (block === null) return 'too-large'
  const truncated = firstValue(headers, 'warc-truncated')
  const content = await contentOf(
    record,
    { bytes: block.view(), store: block },
    { ...limits, mayBeCut: truncated !== null },
  )
  if (typeof content === 'string') return content
  const { contentType, payload } = content
  if (typeof payload === 'string') return payload
  const release = () => payload.store.clear()
  if (payload.bytes.length === 0) {
    release()
    return 'empty'
  }
  return {
    url: urlOf(headers),
    contentType,
    bytes: payload.bytes,
    fetchedAt: dateOf(headers),
    truncated,
    release,
  }
}
