import { describe, expect, test } from 'vitest'
import { schemeOf } from '../../src/analysis/scheme.ts'

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
})
