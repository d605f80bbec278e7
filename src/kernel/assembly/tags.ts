/*
 * The names of tags and what is known of them. Equals the sets of src/page/html.ts.
 *
 * A known name is at most 13 letters and digits: in lower case, filled up with zeros, it is two words of 8 bytes.
 *
 *     TAG_SLOTS  512 slots of 40 bytes, open addressing:
 *         +0 first word    +8 second word     the name
 *        +16 first word   +24 second word     0x20 for each letter: what must be added to an upper case
 *        +32 properties   +36 length, 0 for a free slot
 *
 *     ELEMENTS   the name of each element, 24 bytes:   +0 first word   +8 second word   +16 length
 */
import { firstBytes, isWhiteSpace, lowerCase, nameEndsIn } from './bytes'
import { ELEMENTS, TAG_SLOTS } from './layout'

// Properties of a tag; the number of its element, where it has one, in the bits from 8 upwards.
export const FORMATTING: u32 = 1
export const ENDS_FOREIGN: u32 = 2
export const HIDDEN_IN_SVG: u32 = 4
export const HTML_INSIDE: u32 = 8
export const ELEMENT_SHIFT: u32 = 8

export const IMAGE: u32 = 1
export const BASE: u32 = 2
export const TITLE: u32 = 3
export const TEXTAREA: u32 = 4
export const XMP: u32 = 5
export const PLAINTEXT: u32 = 6
export const SCRIPT: u32 = 7
export const STYLE: u32 = 8
export const NOSCRIPT: u32 = 9
export const IFRAME: u32 = 10
export const NOEMBED: u32 = 11
export const NOFRAMES: u32 = 12
export const TEMPLATE: u32 = 13
export const SVG: u32 = 14
export const MATH: u32 = 15
export const FOREIGN_OBJECT: u32 = 16
export const DESC: u32 = 17
export const METADATA: u32 = 18
export const ELEMENT_COUNT: u32 = 19

const SLOT_BYTES: usize = 40
const SLOT_MASK: u32 = 511
const ELEMENT_BYTES: usize = 24

/** Turns letters into lower case, and other characters into whatever. */
const CASE_BITS: u64 = 0x2020202020202020

export function initializeTags(): void {
  addNames(
    FORMATTING,
    'b i u s strike big small tt em strong dfn code samp kbd var cite abbr acronym sub sup font span basefont mark ins ' +
      'del bdo bdi nobr wbr blink q time data ruby rb rt rp',
  )
  addNames(
    ENDS_FOREIGN,
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta ' +
      'nobr ol p pre ruby s small span strong strike sub sup table tt u ul var',
  )
  addNames(HIDDEN_IN_SVG, 'title desc metadata style script')
  addNames(HTML_INSIDE, 'title desc foreignobject')
  addElement(IMAGE, 'img')
  addElement(BASE, 'base')
  addElement(TITLE, 'title')
  addElement(TEXTAREA, 'textarea')
  addElement(XMP, 'xmp')
  addElement(PLAINTEXT, 'plaintext')
  addElement(SCRIPT, 'script')
  addElement(STYLE, 'style')
  addElement(NOSCRIPT, 'noscript')
  addElement(IFRAME, 'iframe')
  addElement(NOEMBED, 'noembed')
  addElement(NOFRAMES, 'noframes')
  addElement(TEMPLATE, 'template')
  addElement(SVG, 'svg')
  addElement(MATH, 'math')
  addElement(FOREIGN_OBJECT, 'foreignobject')
  addElement(DESC, 'desc')
  addElement(METADATA, 'metadata')
  addNames(IMAGE << ELEMENT_SHIFT, 'image')
}

/** Properties of the tag whose name is the `length` bytes (1 to 15) at `at`, in any case; 0 for an unknown one. */
@inline
export function propertiesOf(at: usize, length: usize): u32 {
  const first = load<u64>(at) & lowBytes(min(length, 8))
  const second = length > 8 ? load<u64>(at, 8) & lowBytes(length - 8) : 0
  return load<u32>(slotOf(first, second, <u32>length), 32)
}

/** Whether the name of the element, in any case, stands at `at` and ends there as a tag name does. */
export function isElementName(at: usize, element: u32): bool {
  const entry = ELEMENTS + <usize>element * ELEMENT_BYTES
  const length: usize = load<u32>(entry, 16)
  const name = v128.and(lowerCase(v128.load(at)), firstBytes(length))
  return !v128.any_true(v128.xor(name, v128.load(entry))) && endsName(load<u8>(at + length))
}

@inline
function endsName(byte: u32): bool {
  return byte == 0x3e || byte == 0x2f || isWhiteSpace(byte)
}

/** Length of the name that begins at `at`, or 16 where it is longer than all known ones. */
@inline
export function nameLength(block: v128): usize {
  return ctz(i8x16.bitmask(nameEndsIn(block)) | 0x10000)
}

/** The slot of a name in any case, or the free one where it would stand. */
@inline
function slotOf(first: u64, second: u64, length: u32): usize {
  let index = <u32>(((first | CASE_BITS) ^ rotl(second | CASE_BITS, 29)) * 0x9e3779b97f4a7c15 >> 55)
  while (true) {
    const slot = TAG_SLOTS + <usize>index * SLOT_BYTES
    const known = load<u32>(slot, 36)
    if (known == 0 || (known == length && isName(slot, first, second))) return slot
    index = (index + 1) & SLOT_MASK
  }
}

/** Only a letter may differ from the name, and only in case. */
@inline
function isName(slot: usize, first: u64, second: u64): bool {
  return (
    (first | load<u64>(slot, 16)) == load<u64>(slot) && (second | load<u64>(slot, 24)) == load<u64>(slot, 8)
  )
}

/** Ones in the lowest `count` bytes (1 to 8). */
@inline
function lowBytes(count: usize): u64 {
  return <u64>-1 >> (64 - (<u64>count << 3))
}

function addElement(element: u32, name: string): void {
  addNames(element << ELEMENT_SHIFT, name)
  const entry = ELEMENTS + <usize>element * ELEMENT_BYTES
  store<u64>(entry, packed(name, 0, min(8, name.length)))
  store<u64>(entry, packed(name, 8, name.length), 8)
  store<u32>(entry, name.length, 16)
}

/** Gives a property to each name of a list. */
function addNames(property: u32, names: string): void {
  for (let start = 0; start < names.length; ) {
    let end = start
    while (end < names.length && names.charCodeAt(end) != 0x20) end++
    const first = packed(names, start, min(start + 8, end))
    const second = packed(names, start + 8, end)
    const slot = slotOf(first, second, end - start)
    store<u64>(slot, first)
    store<u64>(slot, second, 8)
    store<u64>(slot, letterBits(first), 16)
    store<u64>(slot, letterBits(second), 24)
    store<u32>(slot, load<u32>(slot, 32) | property, 32)
    store<u32>(slot, end - start, 36)
    start = end + 1
  }
}

/** Characters start to end as a little-endian word. */
function packed(text: string, start: i32, end: i32): u64 {
  let word: u64 = 0
  for (let i = end - 1; i >= start; i--) word = (word << 8) | text.charCodeAt(i)
  return word
}

/** 0x20 in each byte of a name that is a letter; digits and the zeros behind it are below 0x40. */
function letterBits(word: u64): u64 {
  return (word & 0x4040404040404040) >> 1
}
