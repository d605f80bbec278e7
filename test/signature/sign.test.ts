import { describe, expect, test } from 'vitest'
import { fingerprintTerms, hashTokens } from '../../src/signature/fingerprint.ts'
import { minvalues } from '../../src/signature/minvalue.ts'
import { hashVersion, k } from '../../src/signature/scheme.ts'
import { shingles } from '../../src/signature/shingle.ts'
import { sign } from '../../src/signature/sign.ts'
import { expandTerms, type GoldenSignature, goldenSignatures } from '../golden/signatures.ts'
import { hex, resultOf } from './oracle.ts'

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const fingerprintHex = (
  { low, high }: { readonly low: Uint32Array; readonly high: Uint32Array },
  i: number,
): string => hex(BigInt(high[i] ?? 0), 8) + hex(BigInt(low[i] ?? 0), 8)

const actualResultOf = (terms: readonly string[]): GoldenSignature => {
  const tokens = fingerprintTerms(terms)
  const signature = sign(tokens)
  const isEmpty = signature === null
  const shinglesOfPage = shingles(tokens, k)
  return {
    contentHash: hexOf(hashTokens(tokens)),
    firstFingerprint: isEmpty ? null : fingerprintHex(tokens, 0),
    firstShingle: isEmpty ? null : fingerprintHex(shinglesOfPage, 0),
    firstMinvalue: isEmpty ? null : hex(BigInt(minvalues(shinglesOfPage)[0] ?? 0), 8),
    supershingles: isEmpty ? null : (hexOf(signature.supershingles).match(/.{16}/g) ?? []),
    simhash: isEmpty ? null : hexOf(signature.simhash),
  }
}

/*
 * The golden values may change only together with the name of the hash version. To add a case, write its terms
 * into the file and take the values from the message of the failing test against the oracle.
 */
describe('the golden signatures', () => {
  test('belong to the hash version of the program', () => {
    expect(goldenSignatures.hashVersion).toBe(hashVersion)
  })

  describe.each(goldenSignatures.cases)('$name', ({ terms, expect: expected }) => {
    const expanded = expandTerms(terms)

    test('are what the definition gives', () => {
      expect(expected).toEqual(resultOf(expanded))
    })

    test('are what the program gives', () => {
      expect(actualResultOf(expanded)).toEqual(expected)
    })
  })
})

describe('sign', () => {
  test('gives null for a page without tokens', () => {
    expect(sign(fingerprintTerms([]))).toBeNull()
  })

  test('gives 48 bytes twice for any other', () => {
    const signature = sign(fingerprintTerms(['a']))
    expect(signature?.supershingles).toHaveLength(48)
    expect(signature?.simhash).toHaveLength(48)
  })
})
