import { createStringEndFinder } from '../kernel/string-end.ts'

/** A JSON object and, apart from it, the inside of the one string in it that is a page. */
export type SplitDocument = {
  /** The object with an empty string in the place of the page. */
  readonly rest: Buffer
  /** The page as it stands there: without its quotes, still escaped. */
  readonly page: Buffer
}

const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c

const findEnd = createStringEndFinder()

const pageMembers = [Buffer.from('"html"'), Buffer.from('"text"')]

/** Shorter bodies are parsed as a whole: there is nothing to win. */
const leastBytes = 2048

/**
 * Cuts the page (the member `html` or `text` of the outermost object) out of a JSON document, so that its
 * bytes need not become a string on their way to the kernel, which checks them. Null where the document has
 * no such member, has several, is short, or is not plainly an object: then it is parsed as a whole, which also
 * finds what is wrong with it.
 */
export const splitPage = (bytes: Buffer): SplitDocument | null => {
  if (bytes.length < leastBytes) return null
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== openBrace) return null
  let page: { start: number; end: number } | null = null
  do {
    const keyStart = skipSpace(bytes, at + 1)
    if (bytes[keyStart] !== quote) return null
    const keyEnd = stringEnd(bytes, keyStart)
    at = skipSpace(bytes, keyEnd)
    if (bytes[at] !== colon) return null
    const valueStart = skipSpace(bytes, at + 1)
    const valueEnd =
      bytes[valueStart] === quote ? stringEnd(bytes, valueStart) : otherValueEnd(bytes, valueStart)
    if (bytes[valueStart] === quote && isPageMember(bytes.subarray(keyStart, keyEnd))) {
      if (page !== null) return null
      page = { start: valueStart + 1, end: valueEnd - 1 }
    }
    at = skipSpace(bytes, valueEnd)
  } while (bytes[at] === comma)
  if (page === null || bytes[at] !== closeBrace || skipSpace(bytes, at + 1) < bytes.length) return null
  return {
    rest: Buffer.concat([bytes.subarray(0, page.start), bytes.subarray(page.end)]),
    page: bytes.subarray(page.start, page.end),
  }
}

const isPageMember = (key: Buffer): boolean => pageMembers.some((member) => member.equals(key))

const skipSpace = (bytes: Buffer, start: number): number => {
  let at = start
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

/** Behind the closing quote of the string that begins at `start`; beyond the end where it is not closed. */
const stringEnd = (bytes: Buffer, start: number): number => findEnd(bytes, start + 1) + 1

/** Behind an object, array, number or word: where the next comma or closing brace of its own level is. */
const otherValueEnd = (bytes: Buffer, start: number): number => {
  let depth = 0
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === quote) {
      at = stringEnd(bytes, at)
      continue
    }
    if (depth === 0 && (byte === comma || byte === closeBrace)) return at
    if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) depth--
    at++
  }
  return at
}
