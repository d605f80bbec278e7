/*
 * Character references. Equals decodeHTML and decodeHTMLAttribute of the package entities 8.1, from which the table of
 * names comes (see ../references.ts).
 *
 *     REFERENCE_SLOTS  4,096 slots, open addressing:
 *         +0 first 8 bytes of the name, filled up with zeros   +8 position of its record, 0 for a free slot
 *
 *     REFERENCE_NAMES  records:
 *         +0 length of the name   +4 code point   +8 second code point or 0   +12 the name
 */
import { EQUALS, NUMBER_SIGN, SEMICOLON, isAsciiAlphanumeric, isAsciiLetter, isDigit, wordIn } from './bytes'
import { REFERENCE_SLOTS } from './layout'

const SLOT_MASK: u32 = 4095

/** "CounterClockwiseContourIntegral" */
const MAX_NAME: usize = 31
/** "Aacute", "frac12" … */
const MAX_NAME_WITHOUT_SEMICOLON: usize = 6

const REPLACEMENT: u32 = 0xfffd
const MAX_CODE_POINT: u32 = 0x10ffff

/** The reference that `readReference` read. */
export let referenceEnd: usize = 0
export let referenceFirst: u32 = 0
export let referenceSecond: u32 = 0

/** Enters the record at `at`. */
export function addReference(at: usize): void {
  const length = <usize>load<u32>(at)
  const slot = slotOf(at + 12, length)
  store<u64>(slot, firstEight(at + 12, length))
  store<u32>(slot, <u32>at, 8)
}

/**
 * Reads the reference that begins with the '&' at `at`; false where there is none. Neither '<' nor a quote can be part
 * of one, so the end of the text needs no attention.
 */
export function readReference(at: usize, inAttribute: bool): bool {
  const first: u32 = load<u8>(at, 1)
  if (first == NUMBER_SIGN) return readNumber(at + 2)
  return isAsciiLetter(first) && readName(at + 1, inAttribute)
}

function readNumber(at: usize): bool {
  let value: u32 = 0
  const isHexadecimal = (load<u8>(at) | 0x20) == 0x78
  if (isHexadecimal) at++
  const digits = at
  while (true) {
    const byte: u32 = load<u8>(at)
    const letter = (byte | 0x20) - 0x61
    if (isDigit(byte)) value = value * (isHexadecimal ? 16 : 10) + byte - 0x30
    else if (isHexadecimal && letter < 6) value = value * 16 + letter + 10
    else break
    // Stays too large, however many digits follow.
    if (value > MAX_CODE_POINT) value = MAX_CODE_POINT + 1
    at++
  }
  if (at == digits) return false
  referenceEnd = load<u8>(at) == SEMICOLON ? at + 1 : at
  referenceFirst = characterOf(value)
  referenceSecond = 0
  return true
}

function characterOf(value: u32): u32 {
  if (value == 0 || value > MAX_CODE_POINT || value - 0xd800 < 0x800) return REPLACEMENT
  return value - 0x80 < 0x20 ? windows1252(value) : value
}

/** What windows-1252 has at the place of a C1 control character. */
function windows1252(value: u32): u32 {
  switch (value) {
    case 0x80: return 0x20ac
    case 0x82: return 0x201a
    case 0x83: return 0x0192
    case 0x84: return 0x201e
    case 0x85: return 0x2026
    case 0x86: return 0x2020
    case 0x87: return 0x2021
    case 0x88: return 0x02c6
    case 0x89: return 0x2030
    case 0x8a: return 0x0160
    case 0x8b: return 0x2039
    case 0x8c: return 0x0152
    case 0x8e: return 0x017d
    case 0x91: return 0x2018
    case 0x92: return 0x2019
    case 0x93: return 0x201c
    case 0x94: return 0x201d
    case 0x95: return 0x2022
    case 0x96: return 0x2013
    case 0x97: return 0x2014
    case 0x98: return 0x02dc
    case 0x99: return 0x2122
    case 0x9a: return 0x0161
    case 0x9b: return 0x203a
    case 0x9c: return 0x0153
    case 0x9e: return 0x017e
    case 0x9f: return 0x0178
    default: return value
  }
}

/** The longest name counts; in an attribute, one without semicolon only before what could not go on with it. */
function readName(at: usize, inAttribute: bool): bool {
  let length = alphanumericCount(at)
  if (load<u8>(at + length) == SEMICOLON && found(at, length + 1)) return true
  for (length = min(length, MAX_NAME_WITHOUT_SEMICOLON); length >= 2; length--) {
    if (!found(at, length)) continue
    const next: u32 = load<u8>(at + length)
    return !inAttribute || (next != EQUALS && !isAsciiAlphanumeric(next))
  }
  return false
}

/** Letters and digits from `at`, counted up to MAX_NAME + 1. */
function alphanumericCount(at: usize): usize {
  let count = <usize>ctz(~i8x16.bitmask(wordIn(v128.load(at))))
  if (count >= 16) count = 16 + <usize>ctz(~i8x16.bitmask(wordIn(v128.load(at, 16))))
  return min(count, MAX_NAME + 1)
}

function found(at: usize, length: usize): bool {
  const record = <usize>load<u32>(slotOf(at, length), 8)
  if (record == 0) return false
  referenceEnd = at + length
  referenceFirst = load<u32>(record, 4)
  referenceSecond = load<u32>(record, 8)
  return true
}

/** The slot of a name, or the free one where it would stand. */
function slotOf(at: usize, length: usize): usize {
  const first = firstEight(at, length)
  // The names with one beginning are few, and the length tells most of them apart.
  let index = <u32>((first + <u64>length) * 0x9e3779b97f4a7c15 >> 52)
  while (true) {
    const slot = REFERENCE_SLOTS + (<usize>index << 4)
    const record = <usize>load<u32>(slot, 8)
    if (record == 0 || (load<u64>(slot) == first && isRest(record, at, length))) return slot
    index = (index + 1) & SLOT_MASK
  }
}

@inline
function firstEight(at: usize, length: usize): u64 {
  return load<u64>(at) & (<u64>-1 >> (64 - (<u64>min(length, 8) << 3)))
}

@inline
function isRest(record: usize, at: usize, length: usize): bool {
  if (load<u32>(record) != <u32>length) return false
  return length <= 8 || memory.compare(record + 20, at + 8, length - 8) == 0
}
