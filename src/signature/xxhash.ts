import xxhash, { type XXHash } from 'xxhash-wasm'

const hashes = await xxhash()

/** XXH64 of the bytes under a seed: an unsigned 64-bit integer. Linear in the number of bytes. */
export const xxh64Bytes = (bytes: Uint8Array, seed = 0n): bigint => hashes.h64Raw(bytes, seed)

/** XXH64 of the UTF-8 form of a string; a lone surrogate counts as U+FFFD. */
export const xxh64Text = (text: string, seed = 0n): bigint =>
  text.length <= mostUnitsAtOnce ? hashes.h64(text, seed) : xxh64LongText(text, seed)

/** The module reserves three bytes a UTF-16 unit and never gives them back: longer texts go in by pieces. */
const mostUnitsAtOnce = 64 * 1024

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800

const xxh64LongText = (text: string, seed: bigint): bigint => {
  const state: XXHash<bigint> = hashes.create64(seed)
  let from = 0
  while (from < text.length) {
    let to = Math.min(from + mostUnitsAtOnce, text.length)
    // A surrogate pair that were cut in two would be encoded as two U+FFFD.
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1
    state.update(text.slice(from, to))
    from = to
  }
  return state.digest()
}
