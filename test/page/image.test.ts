import { describe, expect, test } from 'vitest'
import { imageContext, imageTerm, withBase } from '../../src/page/image.ts'

const page = imageContext('http://www.example.com/dir/page.html')
const unknownPage = imageContext(null)

describe('an image on the host of the page', () => {
  test.each([
    ['x.gif', 'x.gif'],
    ['/img/deep/x.gif', 'x.gif'],
    ['../x.gif?id=7#f', 'x.gif'],
    ['http://www.example.com/a/x.gif', 'x.gif'],
    ['HTTPS://WWW.EXAMPLE.COM.:8080/a/x.gif', 'x.gif'],
    ['//www.example.com/a/x.gif', 'x.gif'],
    [' \n x.gif\t', 'x.gif'],
    ['a b.gif', 'a%20b.gif'],
    ['ü.gif', '%C3%BC.gif'],
  ])('%j is its file name', (src, expected) => {
    expect(imageTerm(src, page)).toBe(expected)
  })

  test('without a file name is no term', () => {
    for (const src of ['/', 'img/', '..', 'http://www.example.com?x=1'])
      expect(imageTerm(src, page)).toBeNull()
  })
})

describe('an image elsewhere', () => {
  test.each([
    ['http://cdn.example.net/a.gif#f', 'http://cdn.example.net/a.gif'],
    ['//cdn.example.net/a.gif?b=c', 'http://cdn.example.net/a.gif?b=c'],
    ['http://example.com/a.gif', 'http://example.com/a.gif'],
    ['http://CDN.example.net/a b.gif', 'http://cdn.example.net/a%20b.gif'],
    ['data:image/gif;base64,R0lG OD\nlh', 'data:image/gif;base64,R0lG%20ODlh'],
    ['blob:http://www.example.com/0-1', 'blob:http://www.example.com/0-1'],
  ])('%j is one whole absolute URL without fragment', (src, expected) => {
    expect(imageTerm(src, page)).toBe(expected)
  })
})

test('an empty or blank address, and one that is no URL, is no term', () => {
  for (const src of ['', ' \t\n', 'http://[::1/x.gif', 'http://a b/x.gif'])
    expect(imageTerm(src, page)).toBeNull()
})

describe('terms of more than 1,024 characters', () => {
  const long = 'R0lGODlh'.repeat(1000)

  test('keep their head and are told apart by length and hash', () => {
    expect(imageTerm(`data:image/gif;base64,${long}`, page)).toMatch(
      /^data:image\/gif;base64,8022-[0-9a-f]{8}$/,
    )
    const variants = [long, `${long}A`, `A${long.slice(1)}`, `${long.slice(1)}A`]
    const terms = variants.map((data) => imageTerm(`data:image/gif;base64,${data}`, page))
    expect(new Set(terms).size).toBe(variants.length)
  })

  test('stay short and without white space whatever they hold', () => {
    for (const src of [`data:${'x y '.repeat(5000)}`, `http://cdn.example.net/${long}`, `/${long}.gif`]) {
      expect(imageTerm(src, page)).toMatch(/^\S{1,400}$/)
    }
  })

  test('begin at 1,025 characters', () => {
    const prefix = 'http://cdn.example.net/'
    const whole = prefix + 'a'.repeat(1024 - prefix.length)
    expect(imageTerm(whole, page)).toBe(whole)
    expect(imageTerm(`${whole}a`, page)).toBe(`${whole.slice(0, 100)},1025-3ea46aaa`)
  })
})

describe('base', () => {
  test('resolves relative addresses and does not become the host of the page', () => {
    const context = withBase(page, 'http://cdn.example.net/m/')
    expect(imageTerm('i/x.gif', context)).toBe('http://cdn.example.net/m/i/x.gif')
    expect(imageTerm('http://www.example.com/i/x.gif', context)).toBe('x.gif')
  })

  test('may be relative itself', () => {
    expect(imageTerm('x.gif', withBase(page, '/other/'))).toBe('x.gif')
    expect(imageTerm('x.gif', withBase(page, '//cdn.example.net/'))).toBe('http://cdn.example.net/x.gif')
  })

  test('is passed over where it is no URL or longer than 512 characters', () => {
    expect(imageTerm('x.gif', withBase(page, 'http://[/'))).toBe('x.gif')
    expect(imageTerm('x.gif', withBase(page, `http://cdn.example.net/${'a'.repeat(512)}/`))).toBe('x.gif')
  })
})

describe('a page without a usable URL', () => {
  test.each([null, '', 'not a url', 'file:///dir/page.html', 'data:text/html,x'])('such as %j', (pageUrl) => {
    const context = imageContext(pageUrl)
    expect(imageTerm('/a/x.gif?y', context)).toBe('x.gif')
    expect(imageTerm('http://www.example.com/a/x.gif', context)).toBe('http://www.example.com/a/x.gif')
    expect(imageTerm('//www.example.com/a/x.gif', context)).toBe('http://www.example.com/a/x.gif')
  })

  test('has file names for relative addresses under a base, too', () => {
    expect(imageTerm('x.gif', withBase(unknownPage, 'http://cdn.example.net/'))).toBe('x.gif')
  })
})

test('a page URL of any length is as good as a short one', () => {
  const context = imageContext(`http://www.example.com/${'a/'.repeat(4000)}?x`)
  expect(imageTerm('x.gif', context)).toBe('x.gif')
  expect(imageTerm('//www.example.com/y.gif', context)).toBe('y.gif')
})
