import { describe, expect, test } from 'vitest'
import { sameSite, siteOf } from '../../src/page/site.ts'

describe('siteOf by dots', () => {
  test.each([
    ['http://example.com/', 'example.com'],
    ['http://www.example.com/', 'example.com'],
    ['http://a.b.example.com/', 'b.example.com'],
    ['http://bbc.co.uk/', 'co.uk'],
    ['http://www.bbc.co.uk/', 'bbc.co.uk'],
    ['http://localhost:3000/', 'localhost'],
    ['http://192.168.10.20:81/', '192.168.10.20'],
    ['http://[2001:db8::1]/', '[2001:db8::1]'],
    ['http://www.4711.example.com/', '4711.example.com'],
  ])('the site of %s is %s', (url, expected) => {
    expect(siteOf(url, 'dots')).toBe(expected)
  })
})

describe('siteOf by public suffix', () => {
  test.each([
    ['http://example.com/', 'example.com'],
    ['http://a.b.example.com/', 'example.com'],
    ['http://www.bbc.co.uk/', 'bbc.co.uk'],
    ['http://user.github.io/x', 'user.github.io'],
    ['http://a.user.github.io/x', 'user.github.io'],
    ['http://x.city.kobe.jp/', 'city.kobe.jp'],
    ['http://a_b.example.com/', 'example.com'],
    ['http://-a-.example.com/', 'example.com'],
    ['http://www.shop.no-such-suffix/', 'shop.no-such-suffix'],
    ['http://www.食狮.公司.cn/', 'xn--85x722f.xn--55qx5d.cn'],
    ['http://www.xn--85x722f.xn--55qx5d.cn/', 'xn--85x722f.xn--55qx5d.cn'],
  ])('the site of %s is %s', (url, expected) => {
    expect(siteOf(url, 'public-suffix')).toBe(expected)
  })

  test.each(['co.uk', 'github.io', 'localhost', '10.1.2.3', '[::1]'])(
    'a host without registrable domain, as %s, is its own site',
    (host) => {
      expect(siteOf(`http://${host}/`, 'public-suffix')).toBe(host)
    },
  )
})

describe.each(['dots', 'public-suffix'] as const)('under both rules (%s)', (rule) => {
  test('scheme, port, case, root dot and spelling of the host do not matter', () => {
    const sites = [
      'http://www.bücher.example/',
      'HTTPS://WWW.BÜCHER.EXAMPLE:444/x',
      'http://www.xn--bcher-kva.example./',
    ]
    expect(new Set(sites.map((url) => siteOf(url, rule)))).toEqual(new Set(['xn--bcher-kva.example']))
  })

  test('no host, no site', () => {
    for (const url of [null, '', 'not a url', 'data:,x', 'file:///a']) expect(siteOf(url, rule)).toBeNull()
  })

  test('two addresses that share their last three numbers are two sites', () => {
    expect(sameSite(siteOf('http://10.1.2.3/', rule), siteOf('http://192.1.2.3/', rule))).toBe(false)
  })
})

test('no site is the same site as nothing, not even as no site', () => {
  expect(sameSite('example.com', 'example.com')).toBe(true)
  expect(sameSite('example.com', 'example.org')).toBe(false)
  expect(sameSite(null, 'example.com')).toBe(false)
  expect(sameSite('example.com', null)).toBe(false)
  expect(sameSite(null, null)).toBe(false)
})
