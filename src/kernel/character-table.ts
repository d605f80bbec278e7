import { FORMAT, foldCase, kindOf, MARK, UNASSIGNED } from '../page/unicode.ts'

/**
 * The table of characters of the kernel, in the layout that assembly/character.ts draws: `blocks[index[c >> 6] * 64 +
 * (c & 63)]` belongs to code point c.
 */
export type CharacterTable = {
  readonly index: Uint16Array
  readonly blocks: Uint32Array
  readonly expansions: Uint32Array
}

const CODE_POINTS = 0x110000
const BLOCK = 64
/** Normalized and folded at once, to find the few characters that change. */
const SPAN = 1024

const HARD_LITERAL = 0x08
const EXPANDS = 0x10
const HARD_PRACTICAL = 0x20
const RANK_SHIFT = 6
const OFFSET_SHIFT = 12

/** A combining character with the highest class, so that nearly every other one is put before it. */
const HIGHEST_CLASS = 0x0345

/**
 * Made of the tables of src/page/unicode.ts and of Node's normalization, which are what the reference tokenizer goes
 * by: a character is left to it ("hard") unless what becomes of it depends on nothing beside it. Takes some 50 ms.
 */
export function characterTable(): CharacterTable {
  const changing = changingCharacters()
  const joining = joiningCharacters(changing)
  const ranks = combiningRanks()
  const expansions: number[] = []
  const special = new Map<number, number>()
  for (const [codePoint, rank] of ranks) special.set(codePoint, rank << RANK_SHIFT)
  const standsAlone = (codePoint: number): boolean => !joining.has(codePoint) && !ranks.has(codePoint)
  for (const codePoint of new Set([...changing, ...joining])) {
    const literal = isHardLiteral(codePoint, joining) ? HARD_LITERAL : 0
    const practical = practicalUse(codePoint, joining, standsAlone, expansions)
    special.set(codePoint, (special.get(codePoint) ?? 0) | literal | practical)
  }
  return { ...inBlocks(special), expansions: Uint32Array.from(expansions) }
}

/** Characters that compatibility decomposition or case folding changes. */
function changingCharacters(): number[] {
  const changes = (text: string): boolean => text.normalize('NFKD') !== text || foldCase(text) !== text
  const found: number[] = []
  for (let start = 0; start < CODE_POINTS; start += SPAN) {
    if (!changes(characters(start, SPAN))) continue
    for (let codePoint = start; codePoint < start + SPAN; codePoint++) {
      if (isReadable(codePoint) && changes(String.fromCodePoint(codePoint))) found.push(codePoint)
    }
  }
  return found
}

/** Characters that canonical composition may join with one before them. */
function joiningCharacters(changing: readonly number[]): Set<number> {
  const joining = new Set<number>()
  for (const codePoint of changing) {
    const character = String.fromCodePoint(codePoint)
    if (character.normalize('NFC') !== character) continue
    for (const part of codePointsOf(character.normalize('NFD')).slice(1)) joining.add(part)
  }
  return joining
}

/**
 * For each character with a canonical combining class other than 0 the rank of that class, from 1; equal for equal
 * classes, and ordered as they are.
 */
function combiningRanks(): Map<number, number> {
  const reordered = (text: string): boolean => text.normalize('NFD') !== text
  const marks: number[] = []
  for (let codePoint = 0; codePoint < CODE_POINTS; codePoint++) {
    if (kindOf(codePoint) !== MARK) continue
    const mark = String.fromCodePoint(codePoint)
    if (mark.normalize('NFD') !== mark) continue
    if (codePoint === HIGHEST_CLASS || reordered(String.fromCodePoint(HIGHEST_CLASS) + mark))
      marks.push(codePoint)
  }
  const ranks = new Map<number, number>()
  let rank = 0
  let previous = ''
  for (const codePoint of codePointsOf(String.fromCodePoint(...marks).normalize('NFD'))) {
    const mark = String.fromCodePoint(codePoint)
    if (previous === '' || reordered(mark + previous)) rank++
    ranks.set(codePoint, rank)
    previous = mark
  }
  return ranks
}

function isHardLiteral(codePoint: number, joining: ReadonlySet<number>): boolean {
  const character = String.fromCodePoint(codePoint)
  return joining.has(codePoint) || character.normalize('NFC') !== character
}

/** Use and offset of a character under the practical tokenizer; adds to the expansions where it has several parts. */
function practicalUse(
  codePoint: number,
  joining: ReadonlySet<number>,
  standsAlone: (codePoint: number) => boolean,
  expansions: number[],
): number {
  const character = String.fromCodePoint(codePoint)
  const normal = character.normalize('NFKC')
  const folded = foldCase(normal)
  const final = folded.normalize('NFKC')
  if (final === character) return joining.has(codePoint) ? HARD_PRACTICAL : 0
  const parts = codePointsOf(normal + folded + final)
  if (kindOf(codePoint) === MARK || !parts.every(standsAlone)) return HARD_PRACTICAL
  const become = codePointsOf(final)
  const [first = 0] = become
  if (become.length === 1 && kindOf(first) === kindOf(codePoint)) return (first - codePoint) << OFFSET_SHIFT
  const place = expansions.length
  expansions.push(become.length, ...become.map((part) => (kindOf(part) << 24) | part))
  return EXPANDS | (place << OFFSET_SHIFT)
}

/** Blocks that are equal are stored once. */
function inBlocks(special: ReadonlyMap<number, number>): { index: Uint16Array; blocks: Uint32Array } {
  const index = new Uint16Array(CODE_POINTS / BLOCK)
  const blocks: number[] = []
  const numbers = new Map<string, number>()
  for (let i = 0; i < index.length; i++) {
    const block = Array.from({ length: BLOCK }, (_, j) => {
      const codePoint = i * BLOCK + j
      return (kindOf(codePoint) | (special.get(codePoint) ?? 0)) >>> 0
    })
    const key = block.join()
    let number = numbers.get(key)
    if (number === undefined) {
      number = blocks.length / BLOCK
      numbers.set(key, number)
      blocks.push(...block)
    }
    index[i] = number
  }
  return { index, blocks: Uint32Array.from(blocks) }
}

/** Unassigned and format characters are gone before anything is normalized. */
function isReadable(codePoint: number): boolean {
  const kind = kindOf(codePoint)
  return kind !== UNASSIGNED && kind !== FORMAT
}

function characters(start: number, count: number): string {
  const readable: number[] = []
  for (let codePoint = start; codePoint < start + count; codePoint++) {
    if (isReadable(codePoint)) readable.push(codePoint)
  }
  return String.fromCodePoint(...readable)
}

function codePointsOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) as number)
}
