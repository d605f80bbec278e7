import { labelToName } from '@exodus/bytes/encoding.js'
import { beginsTagName, GREATER_THAN, SLASH } from './html-syntax.ts'
import { isWhiteSpace } from './text.ts'

const EXCLAMATION_MARK = 0x21
const QUESTION_MARK = 0x3f
const EQUALS_SIGN = 0x3d

/**
 * The encoding that a `<meta>` in `bytes` declares, or null (WHATWG HTML, "prescan a byte stream to determine its
 * encoding"). What is cut off at the end declares nothing. Linear in the number of bytes.
 */
export function encodingOfMeta(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  let at = text.indexOf('<')
  while (at >= 0) {
    const next = text.charCodeAt(at + 1)
    if (text.startsWith('!--', at + 1)) {
      // The two hyphens of the start can be those of the end.
      at = text.indexOf('-->', at + 2)
      if (at < 0) return null
    } else if (isMeta(text, at)) {
      const meta = readMeta(text, at + 5)
      if (meta === null) return null
      if (meta.encoding !== null) return meta.encoding
      at = meta.end
    } else if (beginsTagName(next) || (next === SLASH && beginsTagName(text.charCodeAt(at + 2)))) {
      at = attributesEnd(text, nameEnd(text, at + 1))
      if (at < 0) return null
    } else if (next === EXCLAMATION_MARK || next === SLASH || next === QUESTION_MARK) {
      at = text.indexOf('>', at + 1)
      if (at < 0) return null
    }
    at = text.indexOf('<', at + 1)
  }
  return null
}

function isMeta(text: string, at: number): boolean {
  const after = text.charCodeAt(at + 5)
  return (isWhiteSpace(after) || after === SLASH) && text.slice(at + 1, at + 5).toLowerCase() === 'meta'
}

/** What the attributes from `at` on declare, and where they end; null where the text ends before them. */
function readMeta(text: string, at: number): { encoding: string | null; end: number } | null {
  const known = new Set<string>()
  let isContentType = false
  let needsContentType = false
  /** Undefined: nothing was declared; null: an encoding that is none. */
  let encoding: string | null | undefined
  let attribute = readAttribute(text, at)
  for (; attribute !== null && attribute.name !== null; attribute = readAttribute(text, attribute.end)) {
    const { name, value } = attribute
    if (known.has(name)) continue
    known.add(name)
    if (name === 'http-equiv') isContentType = value.toLowerCase() === 'content-type'
    else if (name === 'charset') {
      encoding = labelToName(value)
      needsContentType = false
    } else if (name === 'content' && encoding === undefined) {
      encoding = encodingOfContent(value) ?? undefined
      needsContentType = true
    }
  }
  if (attribute === null) return null
  const isDeclared = isContentType || !needsContentType
  return { encoding: isDeclared ? usable(encoding ?? null) : null, end: attribute.end }
}

/** Bytes in which a `<meta>` can be read are not UTF-16, whatever it says. */
function usable(encoding: string | null): string | null {
  if (encoding === 'UTF-16LE' || encoding === 'UTF-16BE') return 'UTF-8'
  return encoding === 'x-user-defined' ? 'windows-1252' : encoding
}

/** The encoding that a content attribute names behind "charset=" (WHATWG HTML). */
function encodingOfContent(content: string): string | null {
  const lower = content.toLowerCase()
  for (let at = lower.indexOf('charset'); at >= 0; at = lower.indexOf('charset', at + 1)) {
    const sign = skipSpaces(content, at + 'charset'.length)
    if (content[sign] !== '=') continue
    const start = skipSpaces(content, sign + 1)
    const quote = content.charAt(start)
    if (isQuote(quote)) {
      const end = content.indexOf(quote, start + 1)
      return end < 0 ? null : labelToName(content.slice(start + 1, end))
    }
    return labelToName(/^[^\t\n\f\r ;]*/.exec(content.slice(start))?.[0] ?? '')
  }
  return null
}

type Attribute = {
  /** In lower case; null where the tag ends. */
  readonly name: string | null
  readonly value: string
  readonly end: number
}

/** The attribute at `at` or behind the blanks there; null where the text ends before it does. */
function readAttribute(text: string, at: number): Attribute | null {
  let place = at
  while (isWhiteSpace(text.charCodeAt(place)) || text.charCodeAt(place) === SLASH) place++
  if (text.charCodeAt(place) === GREATER_THAN) return { name: null, value: '', end: place }
  const start = place
  const isInName = (unit: number) =>
    !isWhiteSpace(unit) &&
    unit !== SLASH &&
    unit !== GREATER_THAN &&
    (unit !== EQUALS_SIGN || place === start)
  while (place < text.length && isInName(text.charCodeAt(place))) place++
  const name = text.slice(start, place).toLowerCase()
  const sign = skipSpaces(text, place)
  if (text.charCodeAt(sign) !== EQUALS_SIGN) return sign < text.length ? { name, value: '', end: sign } : null
  const from = skipSpaces(text, sign + 1)
  const quote = text.charAt(from)
  if (isQuote(quote)) {
    const end = text.indexOf(quote, from + 1)
    return end < 0 ? null : { name, value: text.slice(from + 1, end), end: end + 1 }
  }
  const end = nameEnd(text, from)
  return end < text.length ? { name, value: text.slice(from, end), end } : null
}

/** Place of the bracket that ends a tag whose attributes begin at `at`, or -1. */
function attributesEnd(text: string, at: number): number {
  for (
    let attribute = readAttribute(text, at);
    attribute !== null;
    attribute = readAttribute(text, attribute.end)
  )
    if (attribute.name === null) return attribute.end
  return -1
}

/** The next white space or closing bracket, or the end. */
function nameEnd(text: string, at: number): number {
  let end = at
  while (end < text.length && !isWhiteSpace(text.charCodeAt(end)) && text.charCodeAt(end) !== GREATER_THAN)
    end++
  return end
}

function skipSpaces(text: string, at: number): number {
  let place = at
  while (isWhiteSpace(text.charCodeAt(place))) place++
  return place
}

function isQuote(character: string): boolean {
  return character === '"' || character === "'"
}
