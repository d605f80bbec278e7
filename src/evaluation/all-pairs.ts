import { populationCount } from '../detect/similarity.ts'
import { supershingleCount } from '../signature/scheme.ts'
import type { Signature } from '../signature/signature.ts'

const wordsOfSimhash = 12

/**
 * Compares every signature with every later one and calls `visit` with their positions, B- and C-similarity:
 * n (n - 1) / 2 comparisons, about 15 million a second, so it is for thousands of pages and not for millions.
 * The values are those of `bSimilarity` and `cSimilarity`; here they lie side by side in typed arrays.
 */
export const compareAll = (
  signatures: readonly Signature[],
  visit: (i: number, j: number, bSimilarity: number, cSimilarity: number) => void,
): void => {
  const n = signatures.length
  const simhashes = new Int32Array(n * wordsOfSimhash)
  const supershingles = new BigUint64Array(n * supershingleCount)
  signatures.forEach((signature, i) => {
    const bits = viewOf(signature.simhash)
    for (let word = 0; word < wordsOfSimhash; word++)
      simhashes[i * wordsOfSimhash + word] = bits.getInt32(4 * word)
    const values = viewOf(signature.supershingles)
    for (let position = 0; position < supershingleCount; position++)
      supershingles[i * supershingleCount + position] = values.getBigUint64(8 * position)
  })
  const numbers = numberValues(supershingles)
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      let agreeing = 0
      for (let position = 0; position < supershingleCount; position++)
        if (numbers[i * supershingleCount + position] === numbers[j * supershingleCount + position])
          agreeing++
      let differing = 0
      for (let word = 0; word < wordsOfSimhash; word++)
        differing += populationCount(
          (simhashes[i * wordsOfSimhash + word] as number) ^ (simhashes[j * wordsOfSimhash + word] as number),
        )
      visit(i, j, agreeing, 32 * wordsOfSimhash - differing)
    }
  }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** A small number for each different value: equal exactly where the values are, and quicker to compare. */
const numberValues = (values: BigUint64Array): Int32Array => {
  const numbers = new Map<bigint, number>()
  return Int32Array.from({ length: values.length }, (_, i) => {
    const value = values[i] as bigint
    const number = numbers.get(value) ?? numbers.size
    numbers.set(value, number)
    return number
  })
}
