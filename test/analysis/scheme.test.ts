import { describe, expect, test } from 'vitest'
import { schemeOf } from '../../src/analysis/scheme.ts'
import { hashSeedOf } from '../../src/hash-seed.ts'

describe('schemeOf', () => {
  test('names everything that signatures and sites depend on', () => {
    expect(schemeOf({ tokenizer: 'practical', siteRule: 'public-suffix' })).toBe(
      'practical/unicode-16.0/public-suffix/k8-m84-s6-b384/xxh64-dg1',
    )
  })

  test('differs wherever the options differ', () => {
    const schemes = (['practical', 'literal'] as const).flatMap((tokenizer) =>
      (['public-suffix', 'dots'] as const).map((siteRule) => schemeOf({ tokenizer, siteRule })),
    )
    expect(new Set(schemes).size).toBe(4)
  })

  test('tells secret seeds apart by their check values, and does not tell them', () => {
    const options = { tokenizer: 'practical', siteRule: 'public-suffix' } as const
    const schemeWith = (secret: string) => schemeOf({ ...options, hashSeed: hashSeedOf(secret) })
    const scheme = schemeWith('correct horse battery')
    expect(scheme).toMatch(/\/k8-m84-s6-b384\/siphash13-dg1\/seed-[0-9a-f]{16}$/)
    expect(schemeWith('correct horse battery')).toBe(scheme)
    expect(schemeWith('correct horse batterz')).not.toBe(scheme)
    const { key } = hashSeedOf('correct horse battery')
    const check = scheme.slice(-16)
    expect(Buffer.from(key.buffer).toString('hex')).not.toContain(check.slice(0, 4))
  })
})
