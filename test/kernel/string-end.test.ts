import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStringEndFinder, findStringEnd } from '../../src/kernel/string-end.ts'

/** By the grammar of JSON strings. */
const expectedEnd = (text: string, start: number): number => {
  const inside = /(?:[^"\\]|\\[\s\S])*/y
  inside.lastIndex = start
  return inside.test(text) && text[inside.lastIndex] === '"' ? inside.lastIndex : text.length
}

describe.each([
  ['in WebAssembly', createStringEndFinder()],
  ['in JavaScript', findStringEnd],
])('the end of a JSON string, sought %s', (_name, find) => {
  test('is where the grammar has it', () => {
    const part = fc.constantFrom('a', 'bcdefghijklmnop', '\\\\', '\\"', '\\n', '"', '\\', 'x'.repeat(300))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.nat(20), (parts, start) => {
        const text = parts.join('')
        if (start <= text.length) expect(find(Buffer.from(text), start)).toBe(expectedEnd(text, start))
      }),
      { seed: 11, numRuns: 3000 },
    )
  })

  test('is found in a string longer than what is looked at together, an escape across the border too', () => {
    for (const length of [65_534, 65_535, 65_536, 65_537, 131_071, 131_072, 200_000])
      for (const escaped of ['\\"', '\\\\', '']) {
        const text = `${'x'.repeat(length - 1)}${escaped}yz"`
        expect(find(Buffer.from(`${text} , "more"`), 0)).toBe(text.length - 1)
        const open = 'x'.repeat(length) + escaped
        expect(find(Buffer.from(open), 0)).toBe(open.length)
      }
  })

  test('is not a quotation mark behind the bytes, left by longer ones before', () => {
    find(Buffer.from('"'.repeat(1000)), 0)
    expect(find(Buffer.from('x'.repeat(300)), 0)).toBe(300)
    expect(find(Buffer.from(`${'x'.repeat(299)}\\`), 0)).toBe(300)
  })
})
