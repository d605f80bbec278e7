import { fingerprintTerms } from '../signature/fingerprint.ts'
import { keysOf, mix32 } from '../signature/mix.ts'
import type { TokenFingerprints } from '../signature/signature.ts'

/** The different terms of a collection, numbered, so that a page is one integer a token. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>()
  readonly #terms: string[] = []

  /** The terms of a page as their numbers. */
  encode(terms: readonly string[]): Int32Array {
    return Int32Array.from(terms, (term) => {
      const known = this.#numbers.get(term)
      if (known !== undefined) return known
      this.#numbers.set(term, this.#terms.length)
      return this.#terms.push(term) - 1
    })
  }

  decode(numbers: Int32Array): string[] {
    return Array.from(numbers, (number) => this.#terms[number] as string) // only `encode` makes numbers
  }

  /** The fingerprint of every term, by its number. Linear in the vocabulary. */
  fingerprints(): TokenFingerprints {
    return fingerprintTerms(this.#terms)
  }
}

/** The fingerprints of a page's tokens, from those of the vocabulary. */
export const tokensOf = (numbers: Int32Array, { low, high }: TokenFingerprints): TokenFingerprints => ({
  low: Uint32Array.from(numbers, (number) => low[number] as number),
  high: Uint32Array.from(numbers, (number) => high[number] as number),
})

/**
 * The fingerprints of another hash family: the same terms under other 64-bit values, by four rounds of a Feistel
 * network with keys of its own. All that follows, shingles, minvalues and projections, comes out independent
 * of the first family. `family` >= 1.
 */
export const underAnotherFamily = ({ low, high }: TokenFingerprints, family: number): TokenFingerprints => {
  const keys = keysOf(mix32(family), 4)
  const a = Uint32Array.from(low)
  const b = Uint32Array.from(high)
  for (let i = 0; i < a.length; i++) {
    let [x, y] = [a[i] as number, b[i] as number]
    for (const key of keys) [x, y] = [y, x ^ mix32(mix32(y ^ key) + key)]
    a[i] = x
    b[i] = y
  }
  return { low: a, high: b }
}
