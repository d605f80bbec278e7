/*
 * The inside of a JSON string literal as plain UTF-8. Equals JSON.parse with lone surrogates made U+FFFD.
 */
import { allBytes, BACKSLASH, QUOTATION_MARK, equalTo, isDigit, writeCodePoint } from './bytes'

const REPLACEMENT: u32 = 0xfffd
const INVALID: u32 = 0xffffffff

/**
 * Writes the characters of [at, end) to `to`, where as many bytes and PADDING must be free; returns the end of what
 * was written, or 0 where there is an invalid escape, a quotation mark or a control character. UTF-8 is not checked.
 */
export function unescapeJson(at: usize, end: usize, to: usize): usize {
  while (true) {
    const block = v128.load(at)
    v128.store(to, block)
    const special = v128.or(
      v128.or(equalTo(block, BACKSLASH), equalTo(block, QUOTATION_MARK)),
      i8x16.le_u(block, allBytes(0x1f)),
    )
    const found = i8x16.bitmask(special)
    const plain: usize = found == 0 ? 16 : ctz(found)
    if (at + plain >= end) return to + (end - at)
    at += plain
    to += plain
    if (found == 0) continue
    if (load<u8>(at) != BACKSLASH || at + 1 >= end) return 0
    const kind: u32 = load<u8>(at, 1)
    at += 2
    if (kind == 0x75) {
      let codePoint = hexUnit(at, end)
      if (codePoint == INVALID) return 0
      at += 4
      if (codePoint - 0xd800 < 0x800) {
        // A high half and a low half make one character; any other half stands alone.
        const next = codePoint < 0xdc00 && load<u16>(at) == 0x755c ? hexUnit(at + 2, end) : INVALID
        if (next - 0xdc00 < 0x400) {
          codePoint = 0x10000 + ((codePoint - 0xd800) << 10) + (next - 0xdc00)
          at += 6
        } else {
          codePoint = REPLACEMENT
        }
      }
      to = writeCodePoint(to, codePoint)
    } else {
      const character = simpleEscape(kind)
      if (character == INVALID) return 0
      store<u8>(to, character)
      to++
    }
  }
}

/**
 * Position in [at, end) of the quotation mark that ends the string which `at` lies in; `end` where there is none, and
 * one more where the last byte is a backslash, which takes the next one with it.
 */
export function stringEnd(at: usize, end: usize): usize {
  while (at < end) {
    const block = v128.load(at)
    const found = i8x16.bitmask(v128.or(equalTo(block, QUOTATION_MARK), equalTo(block, BACKSLASH)))
    if (found == 0) {
      at += 16
      continue
    }
    at += ctz(found)
    if (at >= end) return end
    if (load<u8>(at) == QUOTATION_MARK) return at
    at += 2
    if (at > end) return at
  }
  return end
}

function simpleEscape(kind: u32): u32 {
  if (kind == QUOTATION_MARK || kind == BACKSLASH || kind == 0x2f) return kind
  switch (kind) {
    case 0x62: return 0x08
    case 0x66: return 0x0c
    case 0x6e: return 0x0a
    case 0x72: return 0x0d
    case 0x74: return 0x09
    default: return INVALID
  }
}

/** The value of four hexadecimal digits. */
function hexUnit(at: usize, end: usize): u32 {
  if (at + 4 > end) return INVALID
  let value: u32 = 0
  for (let i: usize = 0; i < 4; i++) {
    const digit: u32 = load<u8>(at + i)
    const letter = (digit | 0x20) - 0x61
    if (isDigit(digit)) value = (value << 4) | (digit - 0x30)
    else if (letter < 6) value = (value << 4) | (letter + 10)
    else return INVALID
  }
  return value
}
