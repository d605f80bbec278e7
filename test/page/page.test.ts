import { expect, test } from 'vitest'
import { readPage } from '../../src/page/page.ts'

const html = '<title>Größe &amp; Maß</title><p>a<img src=/i/x.gif>'
const url = 'http://www.example.com/'

test('HTML comes out the same from characters and from bytes in any encoding', () => {
  const expected = { text: 'Größe & Maß\na\n\uFFFCx.gif', title: 'Größe & Maß' }
  expect(readPage({ kind: 'html', characters: html }, url)).toEqual(expected)
  const latin1 = Buffer.from(html, 'latin1')
  expect(readPage({ kind: 'html', bytes: latin1, contentType: 'text/html; charset=latin1' }, url)).toEqual(
    expected,
  )
  expect(readPage({ kind: 'html', bytes: Buffer.from(html), contentType: null }, url)).toEqual(expected)
})

test('plain text keeps its angle brackets and has no title', () => {
  const expected = { text: '<title>a</title>\nb', title: null }
  expect(readPage({ kind: 'text', characters: '<title>a</title>\r\n b ' }, null)).toEqual(expected)
  const bytes = Buffer.from('<title>a</title>\nb')
  expect(readPage({ kind: 'text', bytes, contentType: 'text/plain' }, null)).toEqual(expected)
})

test('half a surrogate pair becomes U+FFFD in both kinds', () => {
  expect(readPage({ kind: 'html', characters: '\uD83D<b>\uDE00' }, null).text).toBe('\uFFFD\uFFFD')
  expect(readPage({ kind: 'text', characters: 'a\uDE00' }, null).text).toBe('a\uFFFD')
})
