import { minvaluesInSupershingle, supershingleCount } from './scheme.ts'
import { xxh64Bytes } from './xxhash.ts'

/**
 * The six supershingles of 84 minvalues, 8 bytes each, big-endian, position 0 first (48 bytes): supershingle j
 * is XXH64 of minvalues 14 j to 14 j + 13 (4 bytes each, little-endian) with j as the seed. Two pages agree in
 * one with probability r^14, where r is their resemblance.
 *
 * Source: Henzinger 2006, Algorithm B, step 3.
 */
export const supershingles = (minvalues: Uint32Array): Uint8Array => {
  const concatenated = new DataView(new ArrayBuffer(4 * minvaluesInSupershingle))
  const bytes = new Uint8Array(concatenated.buffer)
  const result = new DataView(new ArrayBuffer(8 * supershingleCount))
  for (let j = 0; j < supershingleCount; j++) {
    for (let i = 0; i < minvaluesInSupershingle; i++) {
      concatenated.setUint32(4 * i, minvalues[minvaluesInSupershingle * j + i] as number, true)
    }
    result.setBigUint64(8 * j, xxh64Bytes(bytes, BigInt(j)))
  }
  return new Uint8Array(result.buffer)
}
