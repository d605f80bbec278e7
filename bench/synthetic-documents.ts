import { randomFillSync } from 'node:crypto'
import type { PutOperation } from '../src/store/store.ts'

const siteCount = 5000
const bytesEach = 16 + 48 + 48 + 32

/** Random documents as the service would store them, without texts: ids are derived from URLs of 5,000 sites. */
export const syntheticDocuments = (from: number, count: number): PutOperation[] => {
  const random = randomFillSync(Buffer.allocUnsafe(count * bytesEach))
  return Array.from({ length: count }, (_, i) => {
    const bytes = random.subarray(bytesEach * i, bytesEach * (i + 1))
    const site = `site-${bytes.readUInt32BE(112) % siteCount}.example`
    const url = `http://www.${site}/articles/${bytes.toString('hex', 116, 124)}/${from + i}.html`
    const hostDigits = (bytes.readUInt32BE(112) % siteCount).toString(16).padStart(8, '0')
    return {
      kind: 'put' as const,
      id: `${hostDigits}-${bytes.toString('hex', 124, 136)}`,
      url,
      urlKey: url,
      site,
      title: 'A synthetic document',
      tokenCount: 600,
      contentHash: bytes.subarray(0, 16),
      signature: { supershingles: bytes.subarray(16, 64), simhash: bytes.subarray(64, 112) },
      text: null,
      fetchedAt: null,
      metadata: null,
      now: Date.now(),
    }
  })
}

/** CPU time of this process so far, in microseconds. */
export const cpuMicroseconds = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

export const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20)
export const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits))
