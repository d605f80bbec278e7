import { isWhiteSpace } from './text.ts'

/** No tag name that means anything is longer. */
const MAX_NAME = 16

export const SLASH = 0x2f
export const GREATER_THAN = 0x3e
const EQUALS = 0x3d

/** Whether a character may begin the name of a tag: an ASCII letter. */
export function beginsTagName(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a)
}

/** Reads one tag after the other, by the tag name and attribute states of the WHATWG tokenizer. */
export class TagReader {
  /** In lower case; '' for a name that is too long or not ASCII and so means nothing. */
  name = ''
  /** Whether the tag ends in "/>"; the '/' of an unquoted value does not count. */
  selfClosing = false
  /** The used attribute, as it is written; null where the tag lacks it. Of two with one name the first counts. */
  attribute: string | null = null

  readonly #html: string
  readonly #usedAttribute: ReadonlyMap<string, string>
  #valueStart = 0
  #valueEnd = 0

  /** `usedAttribute`: the name of the one attribute to note, by tag name. */
  constructor(html: string, usedAttribute: ReadonlyMap<string, string>) {
    this.#html = html
    this.#usedAttribute = usedAttribute
  }

  /** Reads the tag whose name begins at `nameStart`; returns the position after it, or -1 where the page ends in it. */
  read(nameStart: number): number {
    const html = this.#html
    let at = nameStart
    while (at < html.length && !endsName(html.charCodeAt(at))) at++
    this.name = tagName(html, nameStart, at)
    this.attribute = null
    const used = this.#usedAttribute.get(this.name)
    for (;;) {
      const separatorStart = at
      while (isWhiteSpace(html.charCodeAt(at)) || html.charCodeAt(at) === SLASH) at++
      if (at >= html.length) return -1
      if (html.charCodeAt(at) === GREATER_THAN) {
        this.selfClosing = at > separatorStart && html.charCodeAt(at - 1) === SLASH
        return at + 1
      }
      const attributeStart = at
      at = this.#passAttributeName(at)
      const isUsed =
        used !== undefined && this.attribute === null && html.slice(attributeStart, at).toLowerCase() === used
      at = this.#passValue(at)
      if (at < 0) return -1
      if (isUsed) this.attribute = html.slice(this.#valueStart, this.#valueEnd)
    }
  }

  /** An attribute name may begin with '=', although no other part of it may be one. */
  #passAttributeName(start: number): number {
    const html = this.#html
    let at = start + 1
    while (at < html.length && !endsName(html.charCodeAt(at)) && html.charCodeAt(at) !== EQUALS) at++
    return at
  }

  /** Passes what follows an attribute name; -1 where a quote is not closed. Notes the range of the value. */
  #passValue(nameEnd: number): number {
    const html = this.#html
    let at = this.#skipWhiteSpace(nameEnd)
    this.#valueStart = at
    this.#valueEnd = at
    if (html.charCodeAt(at) !== EQUALS) return at
    at = this.#skipWhiteSpace(at + 1)
    const quote = html[at]
    if (quote === '"' || quote === "'") {
      this.#valueStart = at + 1
      this.#valueEnd = html.indexOf(quote, at + 1)
      return this.#valueEnd < 0 ? -1 : this.#valueEnd + 1
    }
    this.#valueStart = at
    while (at < html.length && !isWhiteSpace(html.charCodeAt(at)) && html.charCodeAt(at) !== GREATER_THAN)
      at++
    this.#valueEnd = at
    return at
  }

  #skipWhiteSpace(start: number): number {
    let at = start
    while (isWhiteSpace(this.#html.charCodeAt(at))) at++
    return at
  }
}

/** Looks up the end tags of elements that hold text only, or nothing that is shown. */
export class EndTagFinder {
  readonly #html: string
  readonly #nearest = new Map<string, number>()

  constructor(html: string) {
    this.#html = html
  }

  /**
   * Position of the first end tag `</name` at or after `from`, or -1. `name` is in lower case. Calls for one name
   * must not go back, so that all of them together read the document once.
   */
  find(name: string, from: number): number {
    const known = this.#nearest.get(name)
    if (known !== undefined && (known < 0 || known >= from)) return known
    let at = this.#html.indexOf('</', from)
    while (at >= 0 && !isTagName(this.#html, at + 2, name)) at = this.#html.indexOf('</', at + 2)
    this.#nearest.set(name, at)
    return at
  }
}

/**
 * Position of the end tag of a script whose content begins at `from`, or -1. Inside `<!-- … -->` a `<script` hides
 * the next `</script` (the escaped and double escaped states of WHATWG script data).
 */
export function findScriptEnd(html: string, from: number): number {
  let state: 'data' | 'escaped' | 'double escaped' = 'data'
  // Of the comment that is open; searched once a comment, so that scripts full of '<' stay linear.
  let commentEnd = -1
  for (let at = html.indexOf('<', from); at >= 0; at = html.indexOf('<', at + 1)) {
    if (commentEnd < at) state = 'data'
    if (isTagName(html, at + 2, 'script') && html.startsWith('/', at + 1)) {
      if (state !== 'double escaped') return at
      state = 'escaped'
    } else if (state === 'data' && html.startsWith('!--', at + 1)) {
      state = 'escaped'
      // The dashes of "<!--" may belong to "-->" as well.
      commentEnd = orEnd(html.indexOf('-->', at + 2), html)
    } else if (state === 'escaped' && isTagName(html, at + 1, 'script')) {
      state = 'double escaped'
    }
  }
  return -1
}

/**
 * Position after the comment whose content begins at `start`: behind "-->" or "--!>", at once for "<!-->" and "<!--->",
 * or the end of the document.
 */
export function findCommentEnd(html: string, start: number): number {
  if (html.startsWith('>', start)) return start + 1
  if (html.startsWith('->', start)) return start + 2
  for (let at = html.indexOf('--', start); at >= 0; at = html.indexOf('--', at + 1)) {
    if (html.startsWith('>', at + 2)) return at + 3
    if (html.startsWith('!>', at + 2)) return at + 4
  }
  return html.length
}

/** What a search found, or the end of the document where it found nothing. */
export function orEnd(found: number, html: string): number {
  return found < 0 ? html.length : found
}

/** Whether `name`, in any case, stands at `at` and ends there as a tag name does. */
function isTagName(html: string, at: number, name: string): boolean {
  const end = at + name.length
  // Lower-casing maps no character outside ASCII to a letter of the names asked for.
  if (html.slice(at, end).toLowerCase() !== name) return false
  return endsName(html.charCodeAt(end))
}

function tagName(html: string, start: number, end: number): string {
  if (end - start > MAX_NAME) return ''
  const name = html.slice(start, end)
  // The Kelvin sign is the one character outside ASCII whose lower case is an ASCII letter.
  return name.includes('\u212A') ? '' : name.toLowerCase()
}

function endsName(unit: number): boolean {
  return unit === GREATER_THAN || unit === SLASH || isWhiteSpace(unit)
}
