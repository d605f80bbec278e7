/*
 * Writing the page text. Equals PageTextWriter of src/page/text.ts, in UTF-8.
 */
import {
  allBytes,
  AMPERSAND,
  CARRIAGE_RETURN,
  equalTo,
  isWhiteSpace,
  LINE_FEED,
  NUL,
  SPACE,
  skipWhiteSpace,
  writeCodePoint,
} from './bytes'
import { readReference, referenceEnd, referenceFirst, referenceSecond } from './references'

// What stands before the next character, as bits: a break wins over a blank.
const NO_GAP: u32 = 0
const BLANK: u32 = 1
const BREAK: u32 = 2

const OBJECT_REPLACEMENT: u32 = 0xfffc

/** U+FFFC as it lies in memory; the fourth byte is another one's. */
export const IMAGE_MARK: u32 = 0xbcbfef
const THREE_BYTES: u32 = 0xffffff

/** How characters of the page are read. */
export const REFERENCES: u32 = 0
export const LITERAL: u32 = 1
export const LINES: u32 = 2 // literally, with a break at each line end

export let textStart: usize = 0
export let textEnd: usize = 0
let gap: u32 = NO_GAP

export function beginText(at: usize): void {
  textStart = at
  textEnd = at
  gap = NO_GAP
}

/** Separates what was added before from what will be added. */
@inline
export function addBreak(): void {
  gap = BREAK
}

/** The same without a branch. */
@inline
export function addBreakUnless(formatting: bool): void {
  gap |= formatting ? NO_GAP : BREAK
}

/** Adds the image whose term stands at `from`. */
export function addImage(from: usize, length: usize): void {
  addBreak()
  let to = writeGap(textEnd)
  store<u32>(to, IMAGE_MARK)
  to += 3
  memory.copy(to, from, length)
  textEnd = to + length
  addBreak()
}

/** Adds the characters of [at, end) with references, which are often none, or white space. What follows must be none. */
@inline
export function addText(at: usize, end: usize): void {
  at = addWhiteSpace(at)
  if (at < end) addWords(at, end, REFERENCES)
}

/** Adds the characters of [at, end). What follows must be no white space. */
export function addCharacters(at: usize, end: usize, mode: u32): void {
  at = mode == LINES ? addLineEnds(at, end) : addWhiteSpace(at)
  if (at < end) addWords(at, end, mode)
}

/** The same where no white space is at the start. */
function addWords(at: usize, end: usize, mode: u32): void {
  while (true) {
    at = addOne(at, end, mode)
    if (at >= end) return
    at = mode == LINES ? addLineEnds(at, end) : addWhiteSpace(at)
    if (at >= end) return
  }
}

/** Adds a reference, or characters up to one of those that need a closer look; returns where to go on. */
@inline
function addOne(at: usize, end: usize, mode: u32): usize {
  const byte: u32 = load<u8>(at)
  if (byte == AMPERSAND) {
    if (mode == REFERENCES && readReference(at, false)) {
      addReferenced(referenceFirst)
      if (referenceSecond != 0) addReferenced(referenceSecond)
      return referenceEnd
    }
  } else if (byte == NUL) {
    return at + 1
  } else if (isObjectReplacement(at)) {
    gap |= BLANK
    return at + 3
  }
  return copyRun(at, end)
}

@inline
function isObjectReplacement(at: usize): bool {
  return (load<u32>(at) & THREE_BYTES) == IMAGE_MARK
}

/** Passes white space, of which there may be none. */
@inline
function addWhiteSpace(at: usize): usize {
  const next = skipWhiteSpace(at)
  gap |= <u32>(next != at)
  return next
}

function addLineEnds(at: usize, end: usize): usize {
  for (; at < end && isWhiteSpace(load<u8>(at)); at++) {
    const byte: u32 = load<u8>(at)
    gap |= byte == LINE_FEED || byte == CARRIAGE_RETURN ? BREAK : BLANK
  }
  return at
}

function addReferenced(codePoint: u32): void {
  if (codePoint == OBJECT_REPLACEMENT || (codePoint <= SPACE && isWhiteSpace(codePoint))) {
    gap |= BLANK
  } else if (codePoint != NUL) {
    textEnd = writeCodePoint(writeGap(textEnd), codePoint)
  }
}

/**
 * Copies the character at `at` and what follows it up to `end` or a byte that needs a closer look: '&', a control
 * character, the first of two that are blank or control, or what may begin U+FFFC. A blank alone is copied with the
 * rest; one at the end of the run may turn out to stand before a break, and is taken back.
 */
function copyRun(at: usize, end: usize): usize {
  let to = writeGap(textEnd)
  store<u8>(to, load<u8>(at))
  at++
  to++
  while (true) {
    const block = v128.load(at)
    v128.store(to, block)
    const found = i8x16.bitmask(specialIn(block, v128.load(at, 1)))
    if (found == 0 && at + 16 <= end) {
      at += 16
      to += 16
      continue
    }
    const plain = min(<usize>ctz(found | 0x10000), end - at)
    at += plain
    to += plain
    break
  }
  const endsInBlank = <u32>(load<u8>(to - 1) == SPACE)
  gap |= endsInBlank
  textEnd = to - endsInBlank
  return at
}

@inline
function specialIn(block: v128, next: v128): v128 {
  const blank = allBytes(SPACE)
  const reference = equalTo(block, AMPERSAND)
  const twoBlanks = i8x16.le_u(i8x16.max_u(block, next), blank)
  const control = i8x16.le_u(block, allBytes(0x1f))
  const mark = v128.and(equalTo(block, 0xef), equalTo(next, 0xbf))
  return v128.or(v128.or(reference, mark), v128.or(twoBlanks, control))
}

/** Writes the gap, if there is one, before the next character; returns where that goes. Without a branch. */
@inline
function writeGap(to: usize): usize {
  store<u8>(to, (gap & BREAK) != 0 ? 0x0a : SPACE)
  const isWritten = <u32>(gap != NO_GAP) & <u32>(to != textStart)
  gap = NO_GAP
  return to + isWritten
}
