/*
 * The calls of the kernel. kernel.ts says what they are for.
 */
import { initializeBytes } from './bytes'
import { beginImages, initializeImages } from './image'
import { readHtml, resetTitle } from './html'
import { unescapeJson } from './json'
import * as layout from './layout'
import { initializeMinvalues } from './minvalue'
import { clear, pad, release, reserve } from './page'
import { initializeSimhash } from './simhash'
import { writeContentHash, writeSignature } from './sign'
import { initializeTags } from './tags'
import { addCharacters, beginText, LINES, textEnd, textStart } from './text'
import { isTooMany, tokenCount, tokenize, writeFolded } from './token'
import { writeStructure } from './structure'
import { isValidUtf8 } from './utf8'

export { addReference } from './references'
export { setHashKey } from './fingerprint'
export { setImageContext } from './image'
export { textEnd, textStart } from './text'
export { titleEnd, titleStart } from './html'
export { stringEnd } from './json'
export { tokenCount } from './token'

export const RESULT = layout.RESULT
export const REFERENCE_NAMES = layout.REFERENCE_NAMES
export const CHARACTER_INDEX = layout.CHARACTER_INDEX
export const CHARACTER_BLOCKS = layout.CHARACTER_BLOCKS
export const EXPANSIONS = layout.EXPANSIONS
export const HOST = layout.HOST
export const MAX_HOST = layout.MAX_HOST

const OK: i32 = 0
const INVALID_UTF8: i32 = 1
const INVALID_JSON: i32 = 2
const TOO_MANY_TOKENS: i32 = 3

export let lowTokens: usize = 0
export let highTokens: usize = 0

export function initialize(): void {
  initializeBytes()
  initializeTags()
  initializeImages()
  initializeMinvalues()
  initializeSimhash()
}

/** Where a text of `length` bytes is to be put for one of the calls below. */
export function place(length: usize): usize {
  clear()
  return reserve(length)
}

/** Reads the page that was placed: page text, title and tokens, of which there may be at most `mostTokens`. */
export function readPage(at: usize, length: usize, isJson: bool, isHtml: bool, practical: bool, mostTokens: i32): i32 {
  let end = at + length
  pad(end)
  if (isJson) {
    const unescaped = reserve(length)
    end = unescapeJson(at, end, unescaped)
    if (end == 0) return INVALID_JSON
    pad(end)
    at = unescaped
  }
  if (!isValidUtf8(at, end)) return INVALID_UTF8
  resetTitle()
  if (isHtml) writeHtmlText(at, end)
  else writeLines(at, end)
  return writeTokens(textStart, textEnd, practical, mostTokens) ? OK : TOO_MANY_TOKENS
}

/** Reads the page text that was placed: its tokens. */
export function readText(at: usize, length: usize, practical: bool): void {
  beginText(at)
  pad(at + length)
  writeTokens(at, at + length, practical, i32.MAX_VALUE - 1)
}

/** Room for tokens that are placed instead of read. */
export function placeTokens(count: i32): void {
  clear()
  reserveTokens(count)
}

export function sign(count: i32): void {
  writeContentHash(lowTokens, highTokens, count)
  if (count > 0) writeSignature(lowTokens, highTokens, count)
}

/** No text grows by more than a fifth ("&nGt;", 5 bytes, is two characters of 3 bytes each), images apart. */
function writeHtmlText(at: usize, end: usize): void {
  const length = end - at
  const structure = reserve(4 * length)
  writeStructure(at, end, structure)
  for (let imageRoom = (length >> 1) + 0x4000; ; imageRoom *= 4) {
    const text = reserve(length + (length >> 2) + imageRoom)
    beginImages()
    beginText(text)
    if (readHtml(at, end, structure, imageRoom)) break
    release(text)
  }
  release(textEnd)
  reserve(0)
}

function writeLines(at: usize, end: usize): void {
  beginText(reserve(end - at))
  addCharacters(at, end, LINES)
  release(textEnd)
  reserve(0)
}

/** False where there are more than `most`. */
function writeTokens(at: usize, end: usize, practical: bool, most: i32): bool {
  pad(end)
  const length = end - at
  const folded = reserve(length)
  writeFolded(at, end, folded, practical)
  // Only characters that normalization turns into several terms need more: up to two a byte.
  let extra: i32 = 64
  while (true) {
    const room = <i32>(length >> 1) + extra
    const tokens = reserveTokens(room)
    if (tokenize(at, folded, folded + length, practical, lowTokens, highTokens, room, most)) return tokenCount <= most
    if (isTooMany) return false
    release(tokens)
    extra = max(4 * extra, 2 * <i32>length)
  }
}

function reserveTokens(room: i32): usize {
  lowTokens = reserve(<usize>room << 2)
  highTokens = reserve(<usize>room << 2)
  return lowTokens
}
