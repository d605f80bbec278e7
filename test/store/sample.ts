import { createHash } from 'node:crypto'
import type { Signature } from '../../src/signature/signature.ts'
import type { PutOperation } from '../../src/store/store.ts'

/** Bytes that look random and are the same for the same words. */
export const bytesOf = (length: number, ...words: (string | number)[]): Uint8Array =>
  createHash('shake256', { outputLength: length }).update(JSON.stringify(words)).digest()

export const contentHashOf = (content: string): Uint8Array => bytesOf(16, 'content', content)

/** A signature that shares nothing with that of another content. */
export const signatureOf = (content: string): Signature => ({
  supershingles: bytesOf(48, 'supershingles', content),
  simhash: bytesOf(48, 'simhash', content),
})

/** The signature with the supershingles at the given positions taken from another one. */
export const sharingSupershingles = (
  signature: Signature,
  other: Signature,
  positions: readonly number[],
): Signature => {
  const supershingles = Uint8Array.from(signature.supershingles)
  for (const position of positions)
    supershingles.set(other.supershingles.subarray(8 * position, 8 * position + 8), 8 * position)
  return { ...signature, supershingles }
}

/** The signature with the given coordinates of its simhash inverted. */
export const invertingBits = (signature: Signature, bits: readonly number[]): Signature => {
  const simhash = Uint8Array.from(signature.simhash)
  for (const bit of bits) simhash[bit >> 3] = (simhash[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7))
  return { ...signature, simhash }
}

/** A text as it is kept. */
export const utf8 = (text: string): Uint8Array => Buffer.from(text)

/** A put of a document whose tokens, signature and text follow from `content`; no content, no tokens. */
export const put = (
  id: string,
  content: string,
  more: Partial<Omit<PutOperation, 'kind' | 'id'>> = {},
): PutOperation => ({
  kind: 'put',
  id,
  url: null,
  urlKey: null,
  site: null,
  title: null,
  tokenCount: content.length,
  contentHash: contentHashOf(content),
  signature: content === '' ? null : signatureOf(content),
  text: utf8(`text of ${content}`),
  fetchedAt: null,
  metadata: null,
  now: 1_700_000_000_000,
  ...more,
})
