import { Decompress } from 'fzstd'

/** What decoders of the HTTP content coding have to allow and need not exceed (RFC 9659). */
const mostWindowBytes = 8 * 1024 * 1024
/** The decoder moves its whole window for each block: more than this in all is refused. */
const mostMovedBytes = 4 * 1024 * 1024 * 1024
const sliceBytes = 64 * 1024

const magic = 0xfd2f_b528

/** Whether a frame of Zstandard begins here. */
export const isZstd = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === magic

/** Window of the frame that begins there, and where its first block is (RFC 8878, section 3.1.1.1). */
const readFrameHeader = (bytes: Buffer, at: number): { windowBytes: number; next: number } | null => {
  const descriptor = bytes[at + 4]
  if (descriptor === undefined || bytes.readUInt32LE(at) !== magic) return null
  const isSingleSegment = (descriptor & 0x20) !== 0
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  const sizeFlag = descriptor >> 6
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag
  const sizeAt = at + 5 + Number(!isSingleSegment) + dictionaryBytes
  if (sizeAt + sizeBytes > bytes.length) return null
  const next = sizeAt + sizeBytes
  if (isSingleSegment) {
    const size = sizeBytes === 8 ? Number(bytes.readBigUInt64LE(sizeAt)) : bytes.readUIntLE(sizeAt, sizeBytes)
    return { windowBytes: sizeBytes === 2 ? size + 256 : size, next }
  }
  const window = bytes[at + 5] ?? 0
  const base = 2 ** (10 + (window >> 3))
  return { windowBytes: base + (base / 8) * (window & 7), next }
}

/** Whether decoding takes no more memory and time than pages need; false too where the frames are damaged. */
const isBearable = (bytes: Buffer): boolean => {
  let moved = 0
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 <= bytes.length && bytes.readUInt32LE(at) >>> 4 === 0x184d2a5) {
      if (at + 8 > bytes.length) return false
      at += 8 + bytes.readUInt32LE(at + 4)
      continue
    }
    const frame = bytes.length - at < 6 ? null : readFrameHeader(bytes, at)
    if (frame === null || frame.windowBytes > mostWindowBytes) return false
    const hasChecksum = ((bytes[at + 4] ?? 0) & 4) !== 0
    at = frame.next
    for (let isLast = false; !isLast; ) {
      if (at + 3 > bytes.length) return true
      const header = bytes.readUIntLE(at, 3)
      isLast = (header & 1) !== 0
      at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
      moved += frame.windowBytes
      if (moved > mostMovedBytes) return false
    }
    if (hasChecksum) at += 4
  }
  return true
}

/**
 * Decodes Zstandard and hands each piece to `add`, which may throw to stop it. Returns `whole`, `cut` where the
 * bytes end too early (what could be decoded has been handed on), and `refused` where they are damaged, or would
 * take windows beyond 8 MiB.
 */
export const decodeZstd = (bytes: Buffer, add: (part: Uint8Array) => void): 'whole' | 'cut' | 'refused' => {
  if (!isBearable(bytes)) return 'refused'
  let stopped: unknown = null
  const decoder = new Decompress((part) => {
    try {
      add(part)
    } catch (error) {
      stopped = error
      throw error
    }
  })
  try {
    for (let at = 0; at < bytes.length; at += sliceBytes) decoder.push(bytes.subarray(at, at + sliceBytes))
  } catch {
    if (stopped !== null) throw stopped
    return 'refused'
  }
  try {
    decoder.push(Buffer.alloc(0), true)
    return 'whole'
  } catch {
    return 'cut'
  }
}
