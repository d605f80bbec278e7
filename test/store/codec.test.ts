import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { halvesAt, halvesOf, signedOfHalves } from '../../src/store/codec.ts'

describe('64-bit values', () => {
  test('go to signed integers and back without a bit lost', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const [high, low] = halvesOf(value)
        const signed = signedOfHalves(high, low)
        expect(BigInt.asUintN(64, signed)).toBe(value)
        expect(signed >= -(2n ** 63n) && signed < 2n ** 63n).toBe(true)
        expect(halvesOf(signed)).toEqual([high, low])
      }),
      { seed: 63 },
    )
  })

  test('from 2^63 on are negative', () => {
    expect(signedOfHalves(0x7fff_ffff, 0xffff_ffff)).toBe(2n ** 63n - 1n)
    expect(signedOfHalves(0x8000_0000, 0)).toBe(-(2n ** 63n))
    expect(signedOfHalves(0xffff_ffff, 0xffff_ffff)).toBe(-1n)
    expect(signedOfHalves(0, 1)).toBe(1n)
  })

  test('are read big-endian, also from the middle of a larger buffer', () => {
    const bytes = Uint8Array.from([9, 9, 0xff, 1, 2, 3, 0x80, 5, 6, 7, 9]).subarray(1)
    expect(halvesAt(bytes, 1)).toEqual([0xff01_0203, 0x8005_0607])
  })
})
