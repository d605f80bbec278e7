import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { xxh64Bytes, xxh64Text } from '../../src/signature/xxhash.ts'
import { xxh64 } from './oracle.ts'

describe('xxh64Bytes', () => {
  test('gives the published value of the empty input', () => {
    expect(xxh64Bytes(new Uint8Array())).toBe(0xef46db3751d8e999n)
  })

  test('equals the specification for any bytes and any seed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 150 }),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        (bytes, seed) => {
          expect(xxh64Bytes(bytes, seed)).toBe(xxh64(bytes, seed))
        },
      ),
      { seed: 1, numRuns: 300 },
    )
  })
})

describe('xxh64Text', () => {
  test('is the hash of the UTF-8 form for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(xxh64Text(text, 7n)).toBe(xxh64Bytes(new TextEncoder().encode(text), 7n))
      }),
      { seed: 2, numRuns: 300 },
    )
  })

  test.each([65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 1_000_000])(
    'is the hash of the UTF-8 form for a text of %i code units, wherever it is cut',
    (length) => {
      // Pairs start at odd places, so that an even cut would halve one.
      const text = `x${'\u{1f600}é漢'.repeat(length)}`.slice(0, length)
      expect(xxh64Text(text)).toBe(xxh64Bytes(new TextEncoder().encode(text)))
      const pairs = `x${'\u{1f600}'.repeat(length)}`.slice(0, length)
      expect(xxh64Text(pairs)).toBe(xxh64Bytes(new TextEncoder().encode(pairs)))
    },
  )
})
