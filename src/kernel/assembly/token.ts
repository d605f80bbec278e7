/*
 * From page text to token fingerprints. Equals `tokenize` of src/page/token.ts and `fingerprintTerms` of
 * src/signature/fingerprint.ts.
 *
 * No rule of the tokenizer reaches across a blank: neither terms nor URLs nor images do, a blank is no part of any
 * composition, and it interrupts rows of marks. So each chunk between blanks is read on its own, in one of three ways:
 *
 * - chunks of ASCII without URL: by masks over 64 bytes, most of them at once;
 * - other chunks of ASCII, and chunks beyond it: character by character;
 * - chunks in which normalization is more than a look-up, and URLs beyond ASCII: by the reference tokenizer.
 */
import { allBytes, APOSTROPHE, COLON, equalTo, FULL_STOP, GREATER_THAN, isAsciiAlphanumeric, isAsciiLetter, LESS_THAN, lowerCase, QUOTATION_MARK, SLASH, SPACE, codePointAt, sequenceLength, wordIn, writeCodePoint } from './bytes'
import { expands, expansionOf, FORMAT, isHard, kindIn, MARK, moveOf, propertiesOfCharacter, rankIn, UNASSIGNED, UNSPACED, WORD } from './character'
import { fingerprintOf } from './fingerprint'
import { MAX_TERM, PADDING, TERM } from './layout'
import { IMAGE_MARK } from './text'

/**
 * Fingerprints of the chunk by the reference tokenizer, written to `low` and `high`; their number, or -1 where it is
 * greater than `room`.
 */
declare function tokenizeChunk(at: usize, length: usize, low: usize, high: usize, room: i32): i32

const MAX_MARKS: u32 = 30
const MAX_SCHEME: usize = 32

/** "www." and "://" as they lie in memory. */
const WWW: u32 = 0x2e777777
const SCHEME_END: u32 = 0x2f2f3a
const THREE_BYTES: u32 = 0xffffff

export let tokenCount: i32 = 0
let lowTokens: usize = 0
let highTokens: usize = 0
/** Tokens that there is room for before the end of the chunk that is being read. */
let tokenLimit: i32 = 0
let isFull = false
/** Tokens that the page may have. */
let mostTokens: i32 = 0
export let isTooMany = false

let textAt: usize = 0
let practical = false

/**
 * Copies [at, end) to `to` with ASCII letters in lower case, and blanks behind it: a last chunk ends like all others.
 */
export function writeFolded(at: usize, end: usize, to: usize, fold: bool): void {
  const toEnd = to + (end - at)
  if (fold) {
    for (let from = at; from < end; from += 16) v128.store(to + (from - at), lowerCase(v128.load(from)))
  } else {
    memory.copy(to, at, end - at)
  }
  memory.fill(toEnd, <u8>SPACE, PADDING)
}

/**
 * Writes the fingerprints of the text at `text`, of which [at, end) is the copy by `writeFolded`. `low` and `high` have
 * `room` places; false where that is too little, or where `isTooMany` says that there are certainly more than `most`.
 */
export function tokenize(text: usize, at: usize, end: usize, byPractical: bool, low: usize, high: usize, room: i32, most: i32): bool {
  textAt = text - at
  practical = byPractical
  lowTokens = low
  highTokens = high
  tokenCount = 0
  isFull = false
  isTooMany = false
  mostTokens = most
  while (at < end) {
    at = readAsciiChunks(at, end)
    // What stops the masks is often followed by more of its kind.
    while (at < end && !isFull) {
      const chunkEnd = findBlank(at)
      // Every token of the text behind the chunk takes two bytes, with what separates it.
      tokenLimit = room - 1 - <i32>((end - min(chunkEnd, end)) >> 1)
      readChunk(at, chunkEnd)
      at = chunkEnd + 1
      if (load<u8>(at) < 0x80) break
    }
    if (isFull) return false
  }
  return true
}

/**
 * Reads chunks while they are plain ASCII: letters, digits and separators. Of 64 bytes those up to the last blank are
 * taken at once:
 *
 *     text      The quick, brown fox jum|ps      blanks    …1……1……1…1
 *     words     111.11111..11111.111.111|        odd       0 everywhere: neither beyond ASCII nor part of a URL
 *     taken     <------------------>             next      jumps …
 *
 * Returns the start of the first chunk that is not plain; 64 bytes without a blank are not either.
 */
function readAsciiChunks(at: usize, end: usize): usize {
  let low = lowTokens + (<usize>tokenCount << 2)
  let high = highTokens + (<usize>tokenCount << 2)
  while (at < end) {
    const a = v128.load(at)
    const b = v128.load(at, 16)
    const c = v128.load(at, 32)
    const d = v128.load(at, 48)
    const blanks = mask64(blankIn(a), blankIn(b), blankIn(c), blankIn(d))
    const odd = mask64(oddIn(a, at), oddIn(b, at + 16), oddIn(c, at + 32), oddIn(d, at + 48))
    // The bits below the last blank, or below the last blank before the first odd byte.
    const before = blanks & (odd - 1 & ~odd)
    const taken: usize = before == 0 ? 0 : 64 - <usize>clz(before)
    let words = mask64(wordIn(a), wordIn(b), wordIn(c), wordIn(d)) & lowBits(taken)
    while (words != 0) {
      const start = <usize>ctz(words)
      const length = <usize>ctz(~(words >> start))
      const hash = fingerprintOf(at + start, length)
      store<u32>(low, <u32>hash)
      store<u32>(high, <u32>(hash >> 32))
      low += 4
      high += 4
      // Adding the lowest bit of a run carries through it.
      words &= words + (<u64>1 << start)
    }
    at += taken
    if (taken == 0 || odd != 0) break
  }
  tokenCount = <i32>((low - lowTokens) >> 2)
  return at
}

/** Ones in the lowest `count` bits (0 to 64). */
@inline
function lowBits(count: usize): u64 {
  return count == 0 ? 0 : <u64>-1 >> (64 - <u64>count)
}

@inline
function mask64(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a) | (<u32>i8x16.bitmask(b) << 16)) |
    (<u64>(<u32>i8x16.bitmask(c) | (<u32>i8x16.bitmask(d) << 16)) << 32)
  )
}

/** ASCII white space, of which a page text holds mostly blanks and breaks. */
@inline
function blankIn(block: v128): v128 {
  return v128.or(equalTo(block, SPACE), i8x16.le_u(i8x16.sub(block, allBytes(0x09)), allBytes(4)))
}

/** Bytes beyond ASCII, ":/", and "ww." in either case. */
@inline
function oddIn(block: v128, at: usize): v128 {
  const next = v128.load(at, 1)
  const scheme = v128.and(equalTo(block, COLON), equalTo(next, SLASH))
  const w = v128.or(block, allBytes(0x20))
  const before = v128.or(v128.load(at - 1), allBytes(0x20))
  const www = v128.and(v128.and(equalTo(before, 0x77), equalTo(w, 0x77)), equalTo(next, FULL_STOP))
  return v128.or(i8x16.lt_s(block, allBytes(0)), v128.or(scheme, www))
}

function findBlank(at: usize): usize {
  while (true) {
    const found = i8x16.bitmask(blankIn(v128.load(at)))
    if (found != 0) return at + ctz(found)
    at += 16
  }
}

function readChunk(at: usize, end: usize): void {
  const before = tokenCount
  if (isAscii(at, end)) {
    readAsciiChunk(at, end)
  } else if ((load<u32>(at) & THREE_BYTES) == IMAGE_MARK && isAscii(at + 3, end)) {
    if (at + 3 < end) addTerm(textAt + at + 3, end - at - 3)
  } else if (!readPlainChunk(at, end)) {
    tokenCount = before
    if (isFull && tokenLimit < mostTokens) return
    isFull = false
    const room = min(tokenLimit, mostTokens) - before
    const written = room < 0 ? -1 : tokenizeChunk(
      textAt + at,
      end - at,
      lowTokens + (<usize>before << 2),
      highTokens + (<usize>before << 2),
      room,
    )
    if (written < 0) {
      isFull = true
      isTooMany = tokenLimit >= mostTokens
    }
    else tokenCount = before + written
  }
}

function isAscii(at: usize, end: usize): bool {
  for (; at + 16 <= end; at += 16) {
    if (i8x16.bitmask(v128.load(at)) != 0) return false
  }
  for (; at < end; at++) {
    if (load<u8>(at) >= 0x80) return false
  }
  return true
}

/** Words and URLs of a chunk of ASCII. */
function readAsciiChunk(at: usize, end: usize): void {
  while (at < end) {
    if (!isAsciiAlphanumeric(load<u8>(at))) {
      at++
      continue
    }
    let wordEnd = at + 1
    while (wordEnd < end && isAsciiAlphanumeric(load<u8>(wordEnd))) wordEnd++
    if (beginsUrl(at, wordEnd)) {
      at = readUrl(at, end)
    } else {
      addTerm(at, wordEnd - at)
      at = wordEnd
    }
  }
}

/** Whether the word is "www" before '.', or a scheme before "://". */
function beginsUrl(at: usize, wordEnd: usize): bool {
  const next = load<u32>(wordEnd)
  if ((next & THREE_BYTES) == SCHEME_END && wordEnd - at <= MAX_SCHEME && isAsciiLetter(load<u8>(at))) return true
  return wordEnd - at == 3 && (load<u32>(at) | 0x202020) == WWW
}

/** Adds the pieces of the URL that begins at `at`; returns its end. */
function readUrl(at: usize, end: usize): usize {
  let start = at
  while (true) {
    const byte: u32 = at < end ? load<u8>(at) : SPACE
    const isEnd = byte == SPACE || byte == QUOTATION_MARK || byte == APOSTROPHE || byte == LESS_THAN || byte == GREATER_THAN
    if (isEnd || byte == SLASH || byte == FULL_STOP) {
      addTrimmed(start, at)
      start = at + 1
    }
    if (isEnd) return at
    at++
  }
}

/** The part of [start, end) from its first letter or digit to its last one. */
function addTrimmed(start: usize, end: usize): void {
  while (start < end && !isAsciiAlphanumeric(load<u8>(start))) start++
  while (end > start && !isAsciiAlphanumeric(load<u8>(end - 1))) end--
  if (start < end) addTerm(start, end - start)
}

/**
 * Terms of a chunk in which each character is folded by itself. False where it holds a character for which that is
 * not so, marks that are not in canonical order, a URL, or a very long term; the tokens added up to there do not count.
 *
 * The term that is open is [TERM, to). It is hashed from there only where it differs from what the chunk holds from
 * `start` on ("intact"): to read at once what was just written bit by bit would take long.
 */
function readPlainChunk(at: usize, end: usize): bool {
  let recent: u32 = 0
  let rank: u32 = 0
  let marks: u32 = 0
  let alone = false
  let to = TERM
  let start = at
  let intact = true
  while (at < end) {
    if (to - TERM > MAX_TERM || isFull) return false
    const length = sequenceLength(load<u8>(at))
    const codePoint = codePointAt(at, length)
    const properties = propertiesOfCharacter(codePoint)
    const kind = kindIn(properties)
    at += length
    // Removed before anything else, as if it were not there.
    if (kind == FORMAT) {
      intact = false
      continue
    }
    if (isHard(properties, practical)) return false
    recent = (recent << 8) | (codePoint < 0x80 ? codePoint : 0)
    if (isUrlSign(recent)) return false
    if (kind == MARK) {
      const nextRank = rankIn(properties)
      if (++marks > MAX_MARKS || (nextRank != 0 && nextRank < rank)) return false
      rank = nextRank
      if (to != TERM) to = copySequence(at - length, length, to)
      continue
    }
    rank = 0
    marks = 0
    if (practical && expands(properties)) {
      const list = expansionOf(properties)
      const listEnd = list + 4 + (<usize>load<u32>(list) << 2)
      for (let item = list + 4; item < listEnd; item += 4) {
        const character = load<u32>(item)
        const itemKind = character >> 24
        if (itemKind != MARK) {
          if (to != TERM && (itemKind != WORD || alone)) to = closeTerm(start, to, intact)
          alone = itemKind == UNSPACED
        }
        intact = false
        if (itemKind == WORD || itemKind == UNSPACED || (itemKind == MARK && to != TERM)) {
          to = writeCodePoint(to, character & 0xffffff)
        }
      }
      continue
    }
    const standsAlone = practical && kind == UNSPACED
    const inTerm = kind == WORD || kind == UNSPACED
    if (to != TERM && (!inTerm || standsAlone || alone)) to = closeTerm(start, to, intact)
    if (inTerm) {
      if (to == TERM) {
        start = at - length
        intact = true
      }
      const move = practical ? moveOf(properties) : 0
      if (move == 0) {
        to = copySequence(at - length, length, to)
      } else {
        to = writeCodePoint(to, codePoint + move)
        intact = false
      }
    }
    alone = standsAlone
  }
  if (to != TERM) closeTerm(start, to, intact)
  return !isFull
}

/** Whether the last ASCII characters are "://" or "www." */
@inline
function isUrlSign(recent: u32): bool {
  return (recent & THREE_BYTES) == 0x3a2f2f || (recent | 0x20202000) == 0x7777772e
}

@inline
function copySequence(at: usize, length: usize, to: usize): usize {
  store<u32>(to, load<u32>(at))
  return to + length
}

function closeTerm(start: usize, to: usize, intact: bool): usize {
  addTerm(intact ? start : TERM, to - TERM)
  return TERM
}

function addTerm(at: usize, length: usize): void {
  if (tokenCount >= tokenLimit) {
    isFull = true
    return
  }
  const hash = fingerprintOf(at, length)
  const offset = <usize>tokenCount << 2
  store<u32>(lowTokens + offset, <u32>hash)
  store<u32>(highTokens + offset, <u32>(hash >> 32))
  tokenCount++
}
