/*
 * What tokenization needs to know of a character: a table made by ../character-table.ts.
 *
 *     CHARACTER_INDEX    one u16 for 64 code points: the number of their block
 *     CHARACTER_BLOCKS   64 u32 a block, one for each code point:
 *
 *         31 ……………………… 12   11 …… 6   5 4   3   2 1 0
 *         offset              rank     use  L   kind
 *
 *     EXPANSIONS         lists of u32: the length, then characters of the form  kind << 24 | code point
 */
import { CHARACTER_BLOCKS, CHARACTER_INDEX, EXPANSIONS } from './layout'

// Kinds: src/page/unicode.ts.
export const WORD: u32 = 1
export const UNSPACED: u32 = 2
export const MARK: u32 = 3
export const FORMAT: u32 = 4
export const UNASSIGNED: u32 = 5

const KIND: u32 = 0x07

/** L: normalization to NFC may change the character, or join it with one before it. */
const HARD_LITERAL: u32 = 0x08

// Use of the offset under `practical`.
const USE: u32 = 0x30
/** The character becomes the code point that is so far from it (mostly itself). */
const MOVES: u32 = 0x00
/** It becomes the list at this place of EXPANSIONS. */
const EXPANDS: u32 = 0x10
/** As L, for NFKC and folding. */
const HARD_PRACTICAL: u32 = 0x20

const RANK_SHIFT: u32 = 6
const RANK: u32 = 0x3f
const OFFSET_SHIFT: u32 = 12

@inline
export function propertiesOfCharacter(codePoint: u32): u32 {
  const block: usize = load<u16>(CHARACTER_INDEX + ((codePoint >> 6) << 1))
  return load<u32>(CHARACTER_BLOCKS + (block << 8) + ((codePoint & 63) << 2))
}

@inline
export function kindIn(properties: u32): u32 {
  return properties & KIND
}

/** Whether only the reference tokenizer can treat the character. */
@inline
export function isHard(properties: u32, practical: bool): bool {
  return practical ? (properties & USE) == HARD_PRACTICAL : (properties & HARD_LITERAL) != 0
}

/** Orders the canonical combining classes: 0 for class 0. */
@inline
export function rankIn(properties: u32): u32 {
  return (properties >> RANK_SHIFT) & RANK
}

@inline
export function expands(properties: u32): bool {
  return (properties & USE) == EXPANDS
}

/** Where the list of a character that expands begins. */
@inline
export function expansionOf(properties: u32): usize {
  return EXPANSIONS + (<usize>(properties >> OFFSET_SHIFT) << 2)
}

/** How far from itself the folded character is. */
@inline
export function moveOf(properties: u32): i32 {
  return <i32>properties >> <i32>OFFSET_SHIFT
}
