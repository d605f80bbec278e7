import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitPage } from '../../src/http/page-string.ts'

const padding = 'long enough to be worth it '.repeat(100)

/** JSON with white space put in at random wherever it may stand. */
const spaced = (json: string, spaces: readonly string[]): string => {
  let number = 0
  let inString = false
  let result = ''
  for (let i = 0; i < json.length; i++) {
    const character = json[i] ?? ''
    if (character === '"' && !inString) inString = true
    else if (inString && character === '\\') {
      result += character
      i++
      result += json[i] ?? ''
      continue
    } else if (character === '"') inString = false
    const space = inString || !'{}[]:,'.includes(character) ? '' : (spaces[number++ % spaces.length] ?? '')
    result += space + character + space
  }
  return result
}

describe('cutting the page out of a JSON document', () => {
  test('gives the same document, whatever else is in it and wherever the page stands', () => {
    const page = fc.tuple(fc.constantFrom('html', 'text'), fc.string({ unit: 'binary', maxLength: 60 }))
    const others = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
    const spaces = fc.array(fc.constantFrom('', ' ', '\n', '\t \r'), { minLength: 1, maxLength: 5 })
    let cut = 0
    fc.assert(
      fc.property(page, others, others, spaces, ([name, content], before, after, white) => {
        const document = { ...before, [name]: content + padding, ...after }
        const bytes = Buffer.from(spaced(JSON.stringify(document), white))
        const expected: Record<string, unknown> = JSON.parse(bytes.toString())
        const split = splitPage(bytes)
        if (split === null) {
          const pages = ['html', 'text'].filter((member) => typeof expected[member] === 'string')
          expect(pages.length === 1 && pages[0] === name).toBe(false)
          return
        }
        cut++
        const inside = JSON.parse(`"${split.page.toString()}"`)
        const rest: Record<string, unknown> = JSON.parse(split.rest.toString())
        const [member] = ['html', 'text'].filter((one) => rest[one] === '')
        expect({ ...rest, [member ?? '']: inside }).toEqual(expected)
      }),
      { seed: 8, numRuns: 2000 },
    )
    expect(cut).toBeGreaterThan(1500)
  })

  test.each([
    ['a short one', '{"html": "short"}'],
    ['none', JSON.stringify({ id: padding })],
    ['two', JSON.stringify({ html: padding, text: 'b' })],
    ['the same twice', `{"html": ${JSON.stringify(padding)}, "html": "b"}`],
    ['one that is no string', JSON.stringify({ html: [padding] })],
    ['one that is not closed', `{"html": "${padding}`],
    ['one that ends with a backslash', `{"html": "${padding}\\`],
    ['an array', JSON.stringify([{ html: padding }])],
    ['more behind the object', `${JSON.stringify({ html: padding })} {}`],
    ['a page further inside only', JSON.stringify({ metadata: { html: padding } })],
    ['a missing colon', `{"html" "${padding}"}`],
    ['no member behind a comma', `{"html": "${padding}",}`],
    ['nothing', ' '.repeat(5000)],
  ])('leaves %s to be parsed as a whole', (_name, json) => {
    expect(splitPage(Buffer.from(json))).toBeNull()
  })

  test('a member name with an escape is not taken for a page, and the page beside it is', () => {
    const split = splitPage(Buffer.from(`{"h\\u0074ml": "a", "text": ${JSON.stringify(padding)}}`))
    expect(split?.page.toString()).toBe(padding)
    expect(JSON.parse(split?.rest.toString() ?? '')).toEqual({ html: 'a', text: '' })
  })
})
