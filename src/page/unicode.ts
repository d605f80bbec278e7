import { characterKinds, fullFoldings, simpleFoldings } from './unicode-table.ts'

/** The version of the Unicode data behind every term; terms of two versions are not comparable. */
export { unicodeVersion } from './unicode-table.ts'

/** What a character does in a text: see `kindOf`. */
export type CharacterKind = number

/** Neither letter nor digit: ends a term. */
export const SEPARATOR: CharacterKind = 0
/** Letter or number (L, N): part of a term. */
export const WORD: CharacterKind = 1
/** Letter or letter number of a script written without spaces (Han, Kana, Thai, Lao, Khmer, Burmese). */
export const UNSPACED: CharacterKind = 2
/** Combining mark (M): continues a term and starts none. */
export const MARK: CharacterKind = 3
/** Format character (Cf): invisible, no part of any term and no border either. */
export const FORMAT: CharacterKind = 4
/** Not assigned in this Unicode version, or half a surrogate pair. */
export const UNASSIGNED: CharacterKind = 5

const KIND_BITS = 0x07
const FOLDS_BIT = 0x08

// One byte a code point: a look-up is one load, and only the pages of memory that texts touch become resident.
const kinds = new Uint8Array(0x110000)
const foldings = new Map<number, string>()

fillKinds()
fillFoldings()

/** The kind of a code point (0 to 0x10FFFF), by the tables of `unicodeVersion` and not by those of Node. */
export function kindOf(codePoint: number): CharacterKind {
  // The cast holds for every code point that codePointAt can return.
  return (kinds[codePoint] as number) & KIND_BITS
}

/** Full case folding (statuses C and F of CaseFolding.txt, locale-independent), character by character. */
export function foldCase(text: string): string {
  let folded = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) as number
    const next = at + (codePoint > 0xffff ? 2 : 1)
    if (((kinds[codePoint] as number) & FOLDS_BIT) !== 0) {
      folded += text.slice(copied, at) + foldings.get(codePoint)
      copied = next
    }
    at = next
  }
  return copied === 0 ? text : folded + text.slice(copied)
}

function fillKinds(): void {
  const kindOfLetter: Record<string, CharacterKind> = {
    S: SEPARATOR,
    W: WORD,
    U: UNSPACED,
    M: MARK,
    F: FORMAT,
    N: UNASSIGNED,
  }
  let at = 0
  for (const [, length = '', letter = ''] of characterKinds.matchAll(/([0-9a-z]+)([A-Z])/g)) {
    const end = at + Number.parseInt(length, 36)
    kinds.fill(kindOfLetter[letter] ?? SEPARATOR, at, end)
    at = end
  }
}

function fillFoldings(): void {
  for (const run of base36Lists(simpleFoldings)) {
    const [first = 0, count = 0, step = 0, offset = 0] = run
    for (let i = 0; i < count; i++) addFolding(first + i * step, [first + i * step + offset])
  }
  for (const [from = 0, ...to] of base36Lists(fullFoldings)) addFolding(from, to)
}

function addFolding(from: number, to: readonly number[]): void {
  foldings.set(from, String.fromCodePoint(...to))
  kinds[from] = (kinds[from] as number) | FOLDS_BIT
}

function base36Lists(text: string): number[][] {
  return text.split(' ').map((list) => list.split(',').map((digits) => Number.parseInt(digits, 36)))
}
