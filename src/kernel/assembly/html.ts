/*
 * From HTML to page text and title. Equals src/page/html.ts and src/page/html-syntax.ts, whose comments say why each
 * rule is as it is; positions are bytes instead of UTF-16 units.
 *
 * Behind the page stand PADDING bytes of 0, which are no part of any name, tag or reference: most scans need no check
 * for the end.
 */
import {
  EQUALS,
  equalTo,
  EXCLAMATION_MARK,
  findByte,
  findPair,
  GREATER_THAN,
  HYPHEN,
  isAsciiLetter,
  isWhiteSpace,
  LESS_THAN,
  nameEndsIn,
  NUL,
  QUESTION_MARK,
  QUOTATION_MARK,
  APOSTROPHE,
  SLASH,
  SPACE,
  firstBytes,
  lowerCase,
  skipWhiteSpace,
} from './bytes'
import { imageTermAt, readBase, readImage } from './image'
import { MAX_IMAGE_TERM, NEAREST_END_TAGS } from './layout'
import {
  BASE,
  ELEMENT_COUNT,
  ELEMENT_SHIFT,
  ENDS_FOREIGN,
  FOREIGN_OBJECT,
  FORMATTING,
  HIDDEN_IN_SVG,
  HTML_INSIDE,
  IFRAME,
  IMAGE,
  isElementName,
  MATH,
  nameLength,
  NOEMBED,
  NOFRAMES,
  NOSCRIPT,
  PLAINTEXT,
  propertiesOf,
  SCRIPT,
  STYLE,
  SVG,
  TEMPLATE,
  TEXTAREA,
  TITLE,
  XMP,
} from './tags'
import { addBreak, addBreakUnless, addCharacters, addImage, addText, LITERAL, REFERENCES, textEnd } from './text'

const NONE: usize = 0
/** In NEAREST_END_TAGS: there is no further one. 0 stands for not looked for yet. */
const NO_FURTHER: u32 = 0xffffffff

const MAX_TITLE: u32 = 1000

const SRC: u64 = 0x637273
const HREF: u64 = 0x66657268

let htmlEnd: usize = 0
/** The next entry of the list of positions: see structure.ts. */
let cursor: usize = 0

// Of the tag that was read last.
let properties: u32 = 0
let selfClosing = false
let hasValue = false
let valueStart: usize = 0
let valueEnd: usize = 0

let baseSeen = false
let openTemplates = 0
let level = 0
let nestedForeign = 0
let hidden: u32 = 0
let hiddenHoldsHtml = false
let hiddenLevel = 0

let imageRoom: usize = 0

/** The title within the page text; the end is NONE where there is no title, and the start may be the end. */
export let titleStart: usize = NONE
export let titleEnd: usize = NONE

export function resetTitle(): void {
  titleStart = NONE
  titleEnd = NONE
}

/**
 * Writes the text of the page [at, end), of which the terms of images may take `room` bytes; false where that is too
 * little. `structure` is the list by `writeStructure`.
 */
export function readHtml(at: usize, end: usize, structure: usize, room: usize): bool {
  htmlEnd = end
  imageRoom = room
  resetTitle()
  baseSeen = false
  openTemplates = 0
  level = 0
  nestedForeign = 0
  hidden = 0
  hiddenHoldsHtml = false
  hiddenLevel = 0
  memory.fill(NEAREST_END_TAGS, 0, 4 * ELEMENT_COUNT)
  cursor = structure
  while (true) {
    const lessThan = nextLessThan()
    if (!isSilent()) addText(at, lessThan)
    const next: u32 = load<u8>(lessThan, 1)
    // Start and end tags alternate without any order, so nothing branches on which it is before it must.
    const isEndTag = next == SLASH
    const nameStart = lessThan + 1 + <usize>isEndTag
    if (isAsciiLetter(load<u8>(nameStart))) {
      at = readTag(nameStart)
      if (at == NONE) return true
      addBreakUnless((properties & FORMATTING) != 0)
      if (properties >> ELEMENT_SHIFT != 0 || inForeign()) {
        at = isEndTag ? readEndTag(at) : readStartTag(at)
        if (at == NONE) return false
      }
    } else {
      if (lessThan >= end) return true
      at = readOtherMarkup(lessThan)
    }
    while (<usize>load<u32>(cursor) < at) cursor += 4
  }
}

/** Takes the next '<' from the list; the end of the page where there is none. */
@inline
function nextLessThan(): usize {
  let next = cursor
  while (true) {
    const at = <usize>load<u32>(next)
    const byte: u32 = load<u8>(at)
    if (byte == LESS_THAN || byte == NUL) {
      cursor = byte == NUL ? next : next + 4
      return at
    }
    next += 4
  }
}

/** Reads what begins with a '<' that no name follows, or takes it for a character; returns where to go on. */
function readOtherMarkup(lessThan: usize): usize {
  const next: u32 = load<u8>(lessThan, 1)
  if (next == SLASH && load<u8>(lessThan, 2) == GREATER_THAN) return lessThan + 3
  if (next == EXCLAMATION_MARK) {
    if (load<u16>(lessThan, 2) == 0x2d2d) {
      addBreak()
      return findCommentEnd(lessThan + 4)
    }
    if (inForeign() && startsCdata(lessThan)) return readCdata(lessThan + 9)
  } else if (next != QUESTION_MARK && (next != SLASH || lessThan + 2 >= htmlEnd)) {
    if (!isSilent()) addCharacters(lessThan, lessThan + 1, LITERAL)
    return lessThan + 1
  }
  addBreak()
  return after(findByte(lessThan + 2, htmlEnd, GREATER_THAN), 1)
}

/** `at + length`, or the end of the page. */
@inline
function after(at: usize, length: usize): usize {
  return min(at + length, htmlEnd)
}

function readStartTag(end: usize): usize {
  if (inForeign() && (properties & ENDS_FOREIGN) != 0) leaveForeign()
  if (inForeign()) return readForeignElement(end)
  return readHtmlElement(properties >> ELEMENT_SHIFT, end)
}

function readHtmlElement(element: u32, end: usize): usize {
  switch (element) {
    case IMAGE:
      return readImageTag(end)
    case BASE:
      readBaseTag()
      return end
    case TITLE:
    case TEXTAREA:
      return readCharacterData(element, end)
    case XMP:
      return readRawText(element, end)
    case PLAINTEXT:
      if (!isSilent()) addCharacters(end, htmlEnd, LITERAL)
      return htmlEnd
    case SCRIPT:
      return findScriptEnd(end)
    case STYLE:
      return orEnd(findEndTag(element, end))
    case NOSCRIPT:
    case IFRAME:
    case NOEMBED:
    case NOFRAMES:
      return max(end, findEndTag(element, end))
    case TEMPLATE:
      if (findEndTag(element, end) != NONE) openTemplates++
      return end
    case SVG:
    case MATH:
      if (!selfClosing) {
        level++
        nestedForeign = 0
      }
      return end
    default:
      return end
  }
}

function readForeignElement(end: usize): usize {
  if (selfClosing) return end
  const element = properties >> ELEMENT_SHIFT
  if (element == SVG || element == MATH) {
    nestedForeign++
  } else if (hidden == 0) {
    if ((properties & HIDDEN_IN_SVG) != 0) {
      if (findEndTag(element, end) == NONE) return end
      hidden = element
      hiddenHoldsHtml = (properties & HTML_INSIDE) != 0
      hiddenLevel = level
    }
    if ((properties & HTML_INSIDE) != 0) level++
  }
  return end
}

function readEndTag(end: usize): usize {
  const element = properties >> ELEMENT_SHIFT
  if (element == TEMPLATE) closeTemplate(end)
  else if (element == SVG || element == MATH) closeForeign()
  else if (element != 0 && element == hidden && endsHidden(end)) closeHidden()
  else if (element == FOREIGN_OBJECT && hidden == 0 && !inForeign() && level > 0) level--
  else if (inForeign() && (properties & ENDS_FOREIGN) != 0) leaveForeign()
  return end
}

function closeTemplate(end: usize): void {
  if (openTemplates == 0) return
  if (inForeign()) leaveForeign()
  openTemplates = findEndTag(TEMPLATE, end) == NONE ? 0 : openTemplates - 1
}

function closeForeign(): void {
  if (inForeign()) {
    if (nestedForeign > 0) nestedForeign--
    else leaveForeign()
  } else if (hidden != 0 && level == hiddenContentLevel()) {
    closeHidden()
    leaveForeign()
  }
}

function endsHidden(end: usize): bool {
  return level == hiddenContentLevel() || findEndTag(hidden, end) == NONE
}

function closeHidden(): void {
  level = hiddenLevel
  hidden = 0
}

function hiddenContentLevel(): i32 {
  return hiddenHoldsHtml ? hiddenLevel + 1 : hiddenLevel
}

function leaveForeign(): void {
  addBreak()
  level--
  nestedForeign = 0
  if (hiddenLevel > level) hidden = 0
}

@inline
function inForeign(): bool {
  return (level & 1) == 1
}

/** Inside something that is not shown. */
@inline
function isSilent(): bool {
  return openTemplates > 0 || hidden != 0
}

function readCharacterData(element: u32, start: usize): usize {
  const end = findEndTag(element, start)
  if (end == NONE) return start
  if (isSilent()) return end
  const before = textEnd
  addCharacters(start, end, REFERENCES)
  // The tag is a break, so the page text has gained a line of its own, which begins behind the break.
  if (element == TITLE && titleEnd == NONE) noteTitle(before, textEnd)
  return end
}

function noteTitle(before: usize, end: usize): void {
  const first: u32 = load<u8>(before)
  titleStart = before < end && first == 0x0a ? before + 1 : before
  titleEnd = cutTitle(titleStart, end)
}

/** The end of the first MAX_TITLE UTF-16 units, without half a pair and without U+FFFD at a cut. */
function cutTitle(start: usize, end: usize): usize {
  let units: u32 = 0
  let last = start
  for (let at = start; at < end; ) {
    const byte: u32 = load<u8>(at)
    const unitsHere: u32 = byte >= 0xf0 ? 2 : 1
    if (units + unitsHere > MAX_TITLE) {
      const isReplacement = units == MAX_TITLE && (load<u32>(last) & 0xffffff) == 0xbdbfef
      return isReplacement ? last : at
    }
    units += unitsHere
    last = at
    at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
  }
  return end
}

function readRawText(element: u32, start: usize): usize {
  const end = findEndTag(element, start)
  if (end == NONE) return start
  if (!isSilent()) addCharacters(start, end, LITERAL)
  return end
}

/** "<![CDATA[" */
function startsCdata(lessThan: usize): bool {
  return load<u64>(lessThan) == 0x41544144435b213c && load<u8>(lessThan, 8) == 0x5b
}

function readCdata(start: usize): usize {
  let end = start
  while (true) {
    end = findPair(end, htmlEnd, 0x5d, 0x5d)
    if (end >= htmlEnd || load<u8>(end, 2) == GREATER_THAN) break
    end++
  }
  if (!isSilent()) addCharacters(start, end, LITERAL)
  return after(end, 3)
}

function readImageTag(end: usize): usize {
  if (!hasValue || isSilent()) return end
  if (imageRoom < MAX_IMAGE_TERM) return NONE
  const length = readImage(valueStart, valueEnd, textEnd + 8)
  if (length != 0) {
    imageRoom -= length
    addImage(imageTermAt, length)
  }
  return end
}

function readBaseTag(): void {
  if (!hasValue || baseSeen || isSilent()) return
  baseSeen = true
  readBase(valueStart, valueEnd)
}

/**
 * Reads the tag whose name begins at `at`; returns the position after it, or NONE where the page ends in it. Of the
 * attributes only `src` of an image and `href` of a base are kept.
 */
@inline
function readTag(at: usize): usize {
  const block = v128.load(at)
  const length = nameLength(block)
  if (length < 16) {
    properties = propertiesOf(at, length)
    at += length
  } else {
    properties = 0
    at = findNameEnd(at + 16)
  }
  hasValue = false
  selfClosing = false
  if (load<u8>(at) == GREATER_THAN) return at + 1
  const element = properties >> ELEMENT_SHIFT
  if (element == IMAGE) return readAttributes(at, SRC)
  if (element == BASE) return readAttributes(at, HREF)
  return passAttributes(at)
}

/**
 * Passes the attributes from `at`, where no value begins, by the list alone. What comes before the first '=' or '>' can
 * only be names and separators, and an '=' directly behind a name begins its value, so names need not be told apart.
 * An '=' at another place and a value without quotes are left to `readAttributes`.
 */
function passAttributes(at: usize): usize {
  let next = cursor
  while (true) {
    const found = <usize>load<u32>(next)
    const byte: u32 = load<u8>(found)
    next += 4
    if (byte == GREATER_THAN) {
      selfClosing = load<u8>(found - 1) == SLASH && found > at
      cursor = next
      return found + 1
    }
    if (byte == NUL) return NONE
    if (byte != EQUALS) continue
    const before: u32 = load<u8>(found - 1)
    const quote: u32 = load<u8>(found, 1)
    const isQuoted = quote == QUOTATION_MARK || quote == APOSTROPHE
    if (!isQuoted || found == at || before == SLASH || isWhiteSpace(before)) return readAttributes(at, 0)
    let closing = found + 1
    while (true) {
      next += 4
      closing = load<u32>(next)
      const mark: u32 = load<u8>(closing)
      if (mark == quote) break
      if (mark == NUL) return NONE
    }
    next += 4
    at = closing + 1
  }
}

/** Reads the attributes from `at`, one by one; `used` is the name of the one to keep. */
function readAttributes(at: usize, used: u64): usize {
  while (true) {
    const separatorStart = at
    at = skipSeparators(at)
    if (at >= htmlEnd) return NONE
    if (load<u8>(at) == GREATER_THAN) {
      selfClosing = at > separatorStart && load<u8>(at - 1) == SLASH
      return at + 1
    }
    const attributeStart = at
    at = passAttributeName(at)
    const isUsed = used != 0 && !hasValue && isNamed(used, attributeStart, at)
    at = passValue(at, isUsed)
    if (at == NONE) return NONE
  }
}

function findNameEnd(at: usize): usize {
  for (; at < htmlEnd; at += 16) {
    const found = i8x16.bitmask(nameEndsIn(v128.load(at)))
    if (found != 0) return at + ctz(found)
  }
  return htmlEnd
}

@inline
function skipSeparators(at: usize): usize {
  while (true) {
    const byte: u32 = load<u8>(at)
    if (byte != SPACE && byte != SLASH && !isWhiteSpace(byte)) return at
    at++
  }
}

@inline
function passAttributeName(at: usize): usize {
  at++
  for (; at < htmlEnd; at += 16) {
    const block = v128.load(at)
    const found = i8x16.bitmask(v128.or(nameEndsIn(block), equalTo(block, EQUALS)))
    if (found != 0) return at + ctz(found)
  }
  return htmlEnd
}

/** Whether [start, end) is the name, a little-endian word, in any case. */
function isNamed(name: u64, start: usize, end: usize): bool {
  const length = end - start
  if (length > 8 || load<u8>(end - 1) == 0) return false
  const block = v128.and(lowerCase(v128.load(start)), firstBytes(length))
  return i64x2.extract_lane(block, 0) == name
}

/** Passes what follows an attribute name; NONE where a quote is not closed. Notes the value if it is used. */
@inline
function passValue(at: usize, isUsed: bool): usize {
  if (isWhiteSpace(load<u8>(at))) at = skipWhiteSpace(at)
  let start = at
  let end = at
  if (load<u8>(at) == EQUALS) {
    at++
    if (isWhiteSpace(load<u8>(at))) at = skipWhiteSpace(at)
    const quote: u32 = load<u8>(at)
    if (quote == QUOTATION_MARK || quote == APOSTROPHE) {
      start = at + 1
      end = findByte(start, htmlEnd, quote)
      if (end >= htmlEnd) return NONE
      at = end + 1
    } else {
      start = at
      at = findUnquotedEnd(at)
      end = at
    }
  }
  if (isUsed) {
    hasValue = true
    valueStart = start
    valueEnd = end
  }
  return at
}

function findUnquotedEnd(at: usize): usize {
  while (at < htmlEnd && load<u8>(at) != GREATER_THAN && !isWhiteSpace(load<u8>(at))) at++
  return at
}

/** Position of the first end tag of the element at or after `from`, or NONE; calls for one element never go back. */
function findEndTag(element: u32, from: usize): usize {
  const known = NEAREST_END_TAGS + 4 * element
  const nearest = load<u32>(known)
  if (nearest == NO_FURTHER) return NONE
  if (nearest >= <u32>from) return nearest
  for (let at = findPair(from, htmlEnd, LESS_THAN, SLASH); at < htmlEnd; at = findPair(at + 2, htmlEnd, LESS_THAN, SLASH)) {
    if (isElementName(at + 2, element)) {
      store<u32>(known, at)
      return at
    }
  }
  store<u32>(known, NO_FURTHER)
  return NONE
}

function orEnd(found: usize): usize {
  return found == NONE ? htmlEnd : found
}

/** Position of the end tag of a script whose content begins at `from`, or the end of the page. */
function findScriptEnd(from: usize): usize {
  let escaped = false
  let doubleEscaped = false
  let commentEnd: usize = 0
  for (let at = findByte(from, htmlEnd, LESS_THAN); at < htmlEnd; at = findByte(at + 1, htmlEnd, LESS_THAN)) {
    if (commentEnd < at) {
      escaped = false
      doubleEscaped = false
    }
    if (load<u8>(at, 1) == SLASH && isElementName(at + 2, SCRIPT)) {
      if (!doubleEscaped) return at
      doubleEscaped = false
      escaped = true
    } else if (!escaped && !doubleEscaped && (load<u32>(at) == 0x2d2d213c)) {
      escaped = true
      commentEnd = findDashesAndGreater(at + 2)
    } else if (escaped && isElementName(at + 1, SCRIPT)) {
      escaped = false
      doubleEscaped = true
    }
  }
  return htmlEnd
}

/** Position of the first "-->" at or after `at`, or the end of the page. */
function findDashesAndGreater(at: usize): usize {
  while (true) {
    at = findPair(at, htmlEnd, HYPHEN, HYPHEN)
    if (at >= htmlEnd || load<u8>(at, 2) == GREATER_THAN) return at
    at++
  }
}

function findCommentEnd(start: usize): usize {
  if (load<u8>(start) == GREATER_THAN) return start + 1
  if (load<u16>(start) == 0x3e2d) return start + 2
  for (let at = findPair(start, htmlEnd, HYPHEN, HYPHEN); at < htmlEnd; at = findPair(at + 1, htmlEnd, HYPHEN, HYPHEN)) {
    const next: u32 = load<u8>(at, 2)
    if (next == GREATER_THAN) return at + 3
    if (next == EXCLAMATION_MARK && load<u8>(at, 3) == GREATER_THAN) return at + 4
  }
  return htmlEnd
}
