import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'
import { describe, expect, test } from 'vitest'
import { namedReferences } from '../../src/kernel/references.ts'
import { expectSame, newKernel } from './outcome.ts'

describe('namedReferences', () => {
  const references = namedReferences()

  test('gives all 2,231 names of HTML once, with the characters that the decoder gives', () => {
    expect(new Set(references.map(({ name }) => name)).size).toBe(references.length)
    expect(references).toHaveLength(2231)
    for (const { name, characters } of references) expect(decodeHTML(`&${name}`)).toBe(characters)
  })

  test('the kernel reads each of them in a text and in an address', () => {
    const kernel = newKernel()
    for (const { name } of references) {
      const characters = `&${name}x &${name}= &${name} <img src="http://h.example/a?&${name}x&${name}=">`
      expect(decodeHTMLAttribute(`&${name}`)).not.toBe('')
      expectSame(kernel, { characters, kind: 'html', url: null, tokenizer: 'literal' })
    }
  })
})
