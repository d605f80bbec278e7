import { imageMark } from './text.ts'
import {
  type CharacterKind,
  FORMAT,
  foldCase,
  kindOf,
  MARK,
  SEPARATOR,
  UNASSIGNED,
  UNSPACED,
  WORD,
} from './unicode.ts'

/**
 * Marks in a row that a character keeps: normalization takes time quadratic in this number. The bound is that of the
 * Stream-Safe Text Format (UAX #15); no writing system comes near it.
 */
const MAX_MARKS = 30

/** The most terms that a page may have: a text of 16 MiB has some three million. */
export const MAX_TERMS = 4 * 2 ** 20

/** No scheme of a URL is longer; a longer word before "://" is an ordinary word. */
const MAX_SCHEME = 32

type Tokenizer = 'literal' | 'practical'

/** Characters that are folded at once. */
const PIECE = 64 * 1024

/** The conjoining vowels and final consonants, U+1160 to U+11FF. */
const HANGUL_VOWEL = 0x1160
const HANGUL_END = 0x11ff

const SLASH = 0x2f
const FULL_STOP = 0x2e
const DIGIT_NINE = 0x39

/** Quotes and angle brackets, which end a URL. */
const URL_DELIMITERS = codePoints('"\'<>«»‘’‚‛“”„‟‹›')

const OTHER_SPACES = codePoints(
  '\u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000',
)

/**
 * The terms of a page text (see text.ts), in order, repetitions kept.
 *
 * A term is a maximal sequence of letters and digits with their marks (Henzinger 2006, section 2), and
 * - `literal`: in NFC, case kept;
 * - `practical`: in NFKC with full case folding, and each character of a script written without spaces (Han, Kana,
 *   Thai, Lao, Khmer, Burmese) is a term with its marks.
 *
 * Format characters (soft hyphen, zero-width space …) are removed first and characters that Unicode `unicodeVersion`
 * does not assign separate, so the terms do not depend on the Unicode version of Node. An image is one term as it
 * stands. A URL (`scheme://…` or `www.…` at the start of a word, up to white space, a quote or an angle bracket) is cut
 * at '/' and '.' only, and each piece, without what is not alphanumeric at its ends, is a term. Under `practical` it
 * also ends before a character of a script without spaces, and before a symbol or punctuation mark outside ASCII.
 *
 * Terms of a text without URLs and images, joined by blanks, give the same terms again, and so does the text in NFD
 * (unless characters carry some 30 marks). Linear in the length.
 *
 * Where there are more than `most` terms, it stops when it has more: how many more, and which, means nothing.
 */
export function tokenize(pageText: string, tokenizer: Tokenizer, most = Number.POSITIVE_INFINITY): string[] {
  const text = isAscii(pageText) ? pageText : withoutInvisible(pageText).normalize('NFC')
  const terms: string[] = []
  let image = nextImage(text, 0)
  let url = nextUrl(text, 0, tokenizer)
  for (let at = 0; at < text.length && terms.length <= most; ) {
    if (image < at) image = nextImage(text, at)
    if (url < at) url = nextUrl(text, at, tokenizer)
    const plainEnd = Math.min(image, url)
    addWords(terms, text.slice(at, plainEnd), tokenizer, most)
    if (plainEnd === text.length) break
    if (image < url) {
      at = wordEnd(text, image)
      if (at > image + 1) terms.push(text.slice(image + 1, at))
    } else {
      at = urlEnd(text, url, tokenizer)
      addUrl(terms, text.slice(url, at), tokenizer, most)
    }
  }
  return terms
}

/** Format characters removed, unassigned ones made blanks, marks beyond MAX_MARKS in a row dropped. */
function withoutInvisible(text: string): string {
  let kept = ''
  let copied = 0
  let marks = 0
  for (let at = 0; at < text.length; ) {
    if (text.charCodeAt(at) < 0x80) {
      marks = 0
      at++
      continue
    }
    const codePoint = text.codePointAt(at) as number
    const next = at + (codePoint > 0xffff ? 2 : 1)
    const kind = kindOf(codePoint)
    // A format character does not interrupt a row of marks: once it is gone they stand side by side.
    if (kind === MARK) marks++
    else if (kind !== FORMAT) marks = 0
    if (kind === FORMAT || kind === UNASSIGNED || marks > MAX_MARKS) {
      kept += text.slice(copied, at) + (kind === UNASSIGNED ? ' ' : '')
      copied = next
    }
    at = next
  }
  return copied === 0 ? text : kept + text.slice(copied)
}

function addWords(terms: string[], plain: string, tokenizer: Tokenizer, most: number): void {
  const oneByOne = tokenizer === 'practical'
  /** What earlier pieces hold of the term that is open. */
  let open = ''
  let alone = false
  for (const text of pieces(plain, tokenizer)) {
    let start = open === '' ? -1 : 0
    for (let at = 0; at < text.length; ) {
      const codePoint = text.codePointAt(at) as number
      const kind = kindOf(codePoint)
      const standsAlone = oneByOne && kind === UNSPACED
      // Marks belong to what is before them; a mark after a separator is no part of any term.
      if (kind !== MARK) {
        const inTerm = isWord(kind)
        if (start >= 0 && (!inTerm || standsAlone || alone)) {
          terms.push(open + text.slice(start, at))
          open = ''
          start = -1
        }
        if (inTerm && start < 0) start = at
        alone = standsAlone
      }
      at += codePoint > 0xffff ? 2 : 1
    }
    if (start >= 0) open += text.slice(start)
    if (terms.length > most) return
  }
  if (open !== '') terms.push(open)
}

function addUrl(terms: string[], url: string, tokenizer: Tokenizer, most: number): void {
  let open = ''
  const close = (end: string) => {
    const piece = trimmed(open + end)
    if (piece !== '') terms.push(piece)
    open = ''
  }
  for (const text of pieces(url, tokenizer)) {
    let start = 0
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      // Normalization can bring white space about, as from U+FDFA, a letter that is compatible with four words.
      if (unit !== SLASH && unit !== FULL_STOP && !isSpace(unit)) continue
      close(text.slice(start, at))
      start = at + 1
    }
    open += text.slice(start)
    if (terms.length > most) return
  }
  close('')
}

/**
 * The text as the tokenizer folds it, in pieces: folded at once, a text of U+FDFA would become eighteen times as long
 * before the first term is known. It is cut where normalization does not reach across.
 */
function* pieces(text: string, tokenizer: Tokenizer): Generator<string> {
  if (tokenizer === 'literal') {
    yield text
    return
  }
  let start = 0
  while (text.length - start > PIECE) {
    const end = safeCut(text, start + PIECE)
    yield folded(text.slice(start, end))
    start = end
  }
  yield folded(text.slice(start))
}

/** The first place from `at` on before which nothing joins what follows: neither a mark nor a later part of a Hangul syllable. */
function safeCut(text: string, at: number): number {
  let place = at
  while (place < text.length) {
    const codePoint = text.codePointAt(place) as number
    const isPairHalf = codePoint >= 0xdc00 && codePoint <= 0xdfff
    const first = String.fromCodePoint(codePoint).normalize('NFKD').codePointAt(0) as number
    if (!isPairHalf && kindOf(first) !== MARK && !(first >= HANGUL_VOWEL && first <= HANGUL_END)) return place
    place++
  }
  return place
}

/** The part of a text from its first letter or digit to its last one with its marks. */
function trimmed(text: string): string {
  const end = text.length
  let first = 0
  while (first < end && !isWord(kindAt(text, first))) first++
  let last = end
  while (last > first && !isTermPart(kindAt(text, previous(text, last)))) last = previous(text, last)
  return text.slice(first, last)
}

/** NFKC with full case folding; folding can undo the normal form, so it is made again. */
function folded(text: string): string {
  return isAscii(text) ? text.toLowerCase() : foldCase(text.normalize('NFKC')).normalize('NFKC')
}

function nextImage(text: string, from: number): number {
  const at = text.indexOf(imageMark, from)
  return at < 0 ? text.length : at
}

/** Start of the first URL at or after `from`, or the length of the text. */
function nextUrl(text: string, from: number, tokenizer: Tokenizer): number {
  const sign = /:\/\/|www\./gi
  sign.lastIndex = from
  for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
    const start = found[0] === '://' ? schemeStart(text, found.index, from) : found.index
    if (start >= 0 && startsWord(text, start, tokenizer)) return start
  }
  return text.length
}

/** Start of the scheme (ASCII letters and digits, a letter first) that ends at `end`, or -1. */
function schemeStart(text: string, end: number, from: number): number {
  const least = Math.max(from, end - MAX_SCHEME - 1)
  let start = end
  while (start > least && isAsciiAlphanumeric(text.charCodeAt(start - 1))) start--
  const first = text.charCodeAt(start)
  return end - start <= MAX_SCHEME && isAsciiAlphanumeric(first) && first > DIGIT_NINE ? start : -1
}

/** Whether no term can reach from before `at` over `at`. */
function startsWord(text: string, at: number, tokenizer: Tokenizer): boolean {
  let before = previous(text, at)
  // At most MAX_MARKS steps.
  while (before >= 0 && kindAt(text, before) === MARK) before = previous(text, before)
  const kind = before < 0 ? SEPARATOR : kindAt(text, before)
  return kind === SEPARATOR || (kind === UNSPACED && tokenizer === 'practical')
}

function urlEnd(text: string, start: number, tokenizer: Tokenizer): number {
  let at = start
  while (at < text.length) {
    const codePoint = text.codePointAt(at) as number
    if (isSpace(codePoint) || URL_DELIMITERS.has(codePoint)) break
    if (codePoint > 0x7f && tokenizer === 'practical') {
      const kind = kindOf(codePoint)
      if (kind !== WORD && kind !== MARK) break
    }
    at += codePoint > 0xffff ? 2 : 1
  }
  return at
}

function wordEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && !isSpace(text.charCodeAt(at))) at++
  return at
}

/** Start of the character that ends before `at`, or -1 at the start of the text. */
function previous(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 2 : at - 1
}

function kindAt(text: string, at: number): CharacterKind {
  return kindOf(text.codePointAt(at) as number)
}

function isWord(kind: CharacterKind): boolean {
  return kind === WORD || kind === UNSPACED
}

function isTermPart(kind: CharacterKind): boolean {
  return isWord(kind) || kind === MARK
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return false
  }
  return true
}

function isAsciiAlphanumeric(unit: number): boolean {
  return unit <= 0x7f && kindOf(unit) === WORD
}

/** The Unicode property White_Space. */
function isSpace(codePoint: number): boolean {
  if (codePoint < 0x80) return codePoint === 0x20 || (codePoint >= 0x09 && codePoint <= 0x0d)
  return OTHER_SPACES.has(codePoint)
}

function codePoints(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.codePointAt(0) as number))
}
