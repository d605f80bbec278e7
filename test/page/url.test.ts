import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostOf, normalizeUrl } from '../../src/page/url.ts'

describe('normalizeUrl', () => {
  test.each([
    ['HTTP://WWW.Example.COM/A?b=C', 'http://www.example.com/A?b=C'],
    ['http://example.com', 'http://example.com/'],
    ['http://example.com:80/', 'http://example.com/'],
    ['https://example.com:443/', 'https://example.com/'],
    ['http://example.com:8080/', 'http://example.com:8080/'],
    ['http://example.com/a#b', 'http://example.com/a'],
    ['http://example.com/a?#', 'http://example.com/a?'],
    ['http://user:secret@example.com/', 'http://example.com/'],
    ['http://example.com./a', 'http://example.com/a'],
    ['http://example.com.:8080/a', 'http://example.com:8080/a'],
    ['http://example.com/a/./b/../c', 'http://example.com/a/c'],
    ['http://bücher.example/ü', 'http://xn--bcher-kva.example/%C3%BC'],
    ['  http://example.com/a \n', 'http://example.com/a'],
    ['http://[::FFFF]/', 'http://[::ffff]/'],
    ['Other://Example.COM/a#b', 'other://example.com/a'],
    ['urn:isbn:0451450523#x', 'urn:isbn:0451450523'],
  ])('%j becomes %j', (url, expected) => {
    expect(normalizeUrl(url)).toBe(expected)
  })

  test.each(['', 'example.com', '/a/b', '//example.com/', 'http://', 'http://a b/', 'http://[::1/'])(
    '%j is not an absolute URL',
    (url) => {
      expect(normalizeUrl(url)).toBeNull()
    },
  )

  test('normalizing again changes nothing', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
        const once = normalizeUrl(url)
        expect(once).not.toBeNull()
        expect(normalizeUrl(once ?? '')).toBe(once)
      }),
      { seed: 20260101 },
    )
  })
})

describe('hostOf', () => {
  test.each([
    ['http://WWW.Example.com.:8080/x', 'www.example.com'],
    ['http://10.1.2.3/', '10.1.2.3'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://[::1]:3000/', '[::1]'],
    ['http://münchen.example/', 'xn--mnchen-3ya.example'],
    ['other://Example.COM/', 'example.com'],
    ['data:text/plain,x', null],
    ['mailto:a@example.com', null],
    ['file:///a/b', null],
    ['http://./', null],
    ['not a url', null],
    [null, null],
  ])('the host of %j is %j', (url, expected) => {
    expect(hostOf(url)).toBe(expected)
  })
})
