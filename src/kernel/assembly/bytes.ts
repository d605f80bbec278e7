/*
 * Looking at sixteen bytes at once. All searches may read up to PADDING bytes past the end.
 */
import { MASK_RAMP, NAME_ENDS, SPLATS, STRUCTURAL, WHITE_SPACE } from './layout'

export const NUL: u32 = 0x00
export const TAB: u32 = 0x09
export const LINE_FEED: u32 = 0x0a
export const FORM_FEED: u32 = 0x0c
export const CARRIAGE_RETURN: u32 = 0x0d
export const SPACE: u32 = 0x20
export const EXCLAMATION_MARK: u32 = 0x21
export const QUOTATION_MARK: u32 = 0x22
export const NUMBER_SIGN: u32 = 0x23
export const PERCENT: u32 = 0x25
export const AMPERSAND: u32 = 0x26
export const APOSTROPHE: u32 = 0x27
export const HYPHEN: u32 = 0x2d
export const FULL_STOP: u32 = 0x2e
export const SLASH: u32 = 0x2f
export const COLON: u32 = 0x3a
export const SEMICOLON: u32 = 0x3b
export const LESS_THAN: u32 = 0x3c
export const EQUALS: u32 = 0x3d
export const GREATER_THAN: u32 = 0x3e
export const QUESTION_MARK: u32 = 0x3f
export const BACKSLASH: u32 = 0x5c

export function initializeBytes(): void {
  memory.fill(MASK_RAMP, 0xff, 16)
  memory.fill(MASK_RAMP + 16, 0, 16)
  for (let byte: usize = 0; byte < 256; byte++) memory.fill(SPLATS + 16 * byte, <u8>byte, 16)
  v128.store(WHITE_SPACE, i8x16(0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0x0a, 0, 0x0c, 0x0d, 0, 0))
  v128.store(NAME_ENDS, i8x16(0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0x0a, 0, 0x0c, 0x0d, 0x3e, 0x2f))
  v128.store(STRUCTURAL, i8x16(1, 0, 0x22, 0, 0, 0, 0, 0x27, 0, 0, 0, 0, 0x3c, 0x3d, 0x3e, 0))
}

/** The byte sixteen times. From memory: V8 puts a constant vector together anew, from four instructions, at each use. */
@inline
export function allBytes(byte: u32): v128 {
  return v128.load(SPLATS + (<usize>byte << 4))
}

/** Ones in the first `count` bytes (0 to 16). */
@inline
export function firstBytes(count: usize): v128 {
  return v128.load(MASK_RAMP + 16 - count)
}

@inline
export function equalTo(block: v128, byte: u32): v128 {
  return i8x16.eq(block, allBytes(byte))
}

/** Position of the first byte of that value in [at, end), or `end`. */
export function findByte(at: usize, end: usize, byte: u32): usize {
  const wanted = allBytes(byte)
  for (; at < end; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), wanted))
    if (found != 0) return min(at + ctz(found), end)
  }
  return end
}

/** Position of the first `first` followed by `second` in [at, end), or `end`. */
export function findPair(at: usize, end: usize, first: u32, second: u32): usize {
  for (; at < end; at += 16) {
    const found = i8x16.bitmask(v128.and(equalTo(v128.load(at), first), equalTo(v128.load(at, 1), second)))
    if (found != 0) return min(at + ctz(found), end)
  }
  return end
}

/** ASCII letters in lower case, everything else as it is. */
@inline
export function lowerCase(block: v128): v128 {
  const isUpper = i8x16.le_u(i8x16.sub(block, allBytes(0x41)), allBytes(25))
  return v128.or(block, v128.and(isUpper, allBytes(0x20)))
}

/** White space of HTML: each such character stands at the place of its low four bits, so one comparison finds all. */
@inline
export function whiteSpaceIn(block: v128): v128 {
  return i8x16.eq(block, i8x16.swizzle(v128.load(WHITE_SPACE), v128.and(block, allBytes(0x0f))))
}

/** White space, '/' and '>', which end the name of a tag. */
@inline
export function nameEndsIn(block: v128): v128 {
  return i8x16.eq(block, i8x16.swizzle(v128.load(NAME_ENDS), v128.and(block, allBytes(0x0f))))
}

/** ASCII letters and digits. */
@inline
export function wordIn(block: v128): v128 {
  const letters = v128.or(block, allBytes(0x20))
  return v128.or(
    i8x16.le_u(i8x16.sub(letters, allBytes(0x61)), allBytes(25)),
    i8x16.le_u(i8x16.sub(block, allBytes(0x30)), allBytes(9)),
  )
}

/** White space of HTML. */
@inline
export function isWhiteSpace(byte: u32): bool {
  return byte == SPACE || (byte - TAB <= 4 && byte != 0x0b)
}

/** Position of the first byte at or after `at` that is no white space. A text must not end in white space here. */
export function skipWhiteSpace(at: usize): usize {
  while (true) {
    const others = ~i8x16.bitmask(whiteSpaceIn(v128.load(at))) & 0xffff
    if (others != 0) return at + ctz(others)
    at += 16
  }
}

@inline
export function isAsciiLetter(byte: u32): bool {
  return (byte | 0x20) - 0x61 < 26
}

@inline
export function isDigit(byte: u32): bool {
  return byte - 0x30 < 10
}

@inline
export function isAsciiAlphanumeric(byte: u32): bool {
  return isAsciiLetter(byte) || isDigit(byte)
}

/** Writes the UTF-8 form of a code point; returns the position after it. */
export function writeCodePoint(to: usize, codePoint: u32): usize {
  if (codePoint < 0x80) {
    store<u8>(to, codePoint)
    return to + 1
  }
  if (codePoint < 0x800) {
    store<u8>(to, 0xc0 | (codePoint >> 6))
    store<u8>(to, 0x80 | (codePoint & 0x3f), 1)
    return to + 2
  }
  if (codePoint < 0x10000) {
    store<u8>(to, 0xe0 | (codePoint >> 12))
    store<u8>(to, 0x80 | ((codePoint >> 6) & 0x3f), 1)
    store<u8>(to, 0x80 | (codePoint & 0x3f), 2)
    return to + 3
  }
  store<u8>(to, 0xf0 | (codePoint >> 18))
  store<u8>(to, 0x80 | ((codePoint >> 12) & 0x3f), 1)
  store<u8>(to, 0x80 | ((codePoint >> 6) & 0x3f), 2)
  store<u8>(to, 0x80 | (codePoint & 0x3f), 3)
  return to + 4
}

/** Bytes of the UTF-8 sequence that a byte begins. */
@inline
export function sequenceLength(first: u32): usize {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
}

/** The code point of the UTF-8 sequence of `length` bytes. */
@inline
export function codePointAt(at: usize, length: usize): u32 {
  const first = load<u8>(at)
  if (length == 1) return first
  if (length == 2) return ((<u32>first & 0x1f) << 6) | (load<u8>(at, 1) & 0x3f)
  if (length == 3) {
    return ((<u32>first & 0x0f) << 12) | ((<u32>load<u8>(at, 1) & 0x3f) << 6) | (load<u8>(at, 2) & 0x3f)
  }
  return (
    ((<u32>first & 0x07) << 18) |
    ((<u32>load<u8>(at, 1) & 0x3f) << 12) |
    ((<u32>load<u8>(at, 2) & 0x3f) << 6) |
    (load<u8>(at, 3) & 0x3f)
  )
}
