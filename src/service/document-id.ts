import { v7 } from 'uuid'
import { xxh64Bytes } from '../signature/xxhash.ts'

const encoder = new TextEncoder()
const hex = (value: bigint): string => value.toString(16).padStart(16, '0')

/**
 * The id of a document that was posted without one: the same for the same normalised URL, so that a re-crawl
 * replaces the page and a retry is harmless; without a URL a new UUIDv7. A derived id is 8 hexadecimal digits
 * of the host, a dash and 24 of the URL: pages of one host lie together in the id index, which keeps a crawl
 * from touching all of that index with every batch.
 */
export const deriveDocumentId = (urlKey: string | null): string => {
  if (urlKey === null) return v7()
  const url = encoder.encode(urlKey)
  const host = encoder.encode(URL.canParse(urlKey) ? new URL(urlKey).host : '')
  return `${hex(xxh64Bytes(host)).slice(0, 8)}-${hex(xxh64Bytes(url))}${hex(xxh64Bytes(url, 1n)).slice(0, 8)}`
}
