/**
 * 64-bit values are unsigned in this program, and databases know signed integers only. This is the one place
 * that converts: `high` and `low` are the unsigned 32-bit halves of a value.
 */
const scratch = new DataView(new ArrayBuffer(8))

/** The value as the signed integer that a database column holds. Order of signed values is not unsigned order. */
export const signedOfHalves = (high: number, low: number): bigint => {
  scratch.setUint32(0, high)
  scratch.setUint32(4, low)
  return scratch.getBigInt64(0)
}

/** `[high, low]` of an unsigned 64-bit value. */
export const halvesOf = (value: bigint): readonly [high: number, low: number] => {
  scratch.setBigUint64(0, value)
  return [scratch.getUint32(0), scratch.getUint32(4)]
}

/** `[high, low]` of the big-endian 64-bit value that starts at the given byte. */
export const halvesAt = (bytes: Uint8Array, byte: number): readonly [high: number, low: number] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + byte, 8)
  return [view.getUint32(0), view.getUint32(4)]
}
