import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractPlainText, PageTextWriter } from '../../src/page/text.ts'

describe('PageTextWriter', () => {
  test('white space with a break in it is one break, other white space one blank, none stands at an end', () => {
    const writer = new PageTextWriter()
    writer.append(' \n a \t b ')
    writer.break()
    writer.append(' c')
    writer.break()
    writer.break()
    writer.append('d\r\n')
    writer.append('\fe ')
    expect(writer.text()).toBe('a b\nc\nd e')
  })

  test('pieces without white space between them stay one word', () => {
    const writer = new PageTextWriter()
    writer.append('a')
    writer.append('')
    writer.append('b')
    expect(writer.text()).toBe('ab')
  })

  test('an image stands between breaks behind U+FFFC', () => {
    const writer = new PageTextWriter()
    writer.append('a')
    writer.image('x.gif')
    writer.image('y.gif')
    writer.append('b')
    expect(writer.text()).toBe('a\n\uFFFCx.gif\n\uFFFCy.gif\nb')
  })

  test('NUL leaves nothing and U+FFFC of the page a blank', () => {
    const writer = new PageTextWriter()
    writer.append('\0a\0b \0 c\uFFFCd\uFFFC')
    expect(writer.text()).toBe('ab c d')
  })
})

describe('extractPlainText', () => {
  test('every kind of line end is a break', () => {
    expect(extractPlainText('\na  b\r\nc\rd\n\n\n e\t')).toBe('a b\nc\nd\ne')
  })

  test('markup and references stay characters', () => {
    expect(extractPlainText('a <b>c</b> &amp;')).toBe('a <b>c</b> &amp;')
  })

  test('halves of surrogate pairs become U+FFFD, pairs stay', () => {
    expect(extractPlainText('\uD83D\uDE00 \uD83D \uDE00\uD83D')).toBe('😀 \uFFFD \uFFFD\uFFFD')
  })

  test('text already in this form does not change', () => {
    const unit = fc.constantFrom('a', '😀', ' ', '\n', '\r', '\t', '\0', '\uFFFC', '\uD83D')
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const once = extractPlainText(units.join(''))
        expect(extractPlainText(once)).toBe(once)
      }),
      { seed: 20260102 },
    )
  })
})
