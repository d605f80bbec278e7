import { simhashBits } from '../signature/scheme.ts'

export const bandCount = 13

const bandStart = (band: number): number => Math.floor((simhashBits * band) / bandCount)

/**
 * The 13 band values of a simhash. Band i is made of coordinates floor(384 i / 13) up to, not including,
 * floor(384 (i + 1) / 13), as an integer below 2^30 whose last bit is the last coordinate.
 *
 * Up to 12 differing bits leave at least one of 13 bands intact, so looking up pages by one equal band finds
 * all pairs with 372 agreeing bits or more.
 *
 * Source: the partition search of Henzinger 2006, section 3.3. Differs: 13 bands of 29 or 30 bits in place of
 * 12 pieces of 32, which are certain to 11 differing bits only.
 */
export const bandValues = (simhash: Uint8Array): Uint32Array => {
  const values = new Uint32Array(bandCount)
  for (let band = 0; band < bandCount; band++) {
    values[band] = bitsBetween(simhash, bandStart(band), bandStart(band + 1))
  }
  return values
}

const bitsBetween = (bytes: Uint8Array, from: number, to: number): number => {
  let value = 0
  for (let bit = from; bit < to; bit++) {
    value = (value << 1) | (((bytes[bit >>> 3] as number) >>> (7 - (bit & 7))) & 1)
  }
  return value
}

/**
 * The probability that two simhashes that agree in exactly `minAgreeingBits` (0 to 384) bits share a band,
 * where the differing bits lie at random places: 1 from 372 on.
 */
export const bandRecall = (minAgreeingBits: number): number =>
  recallByDistance[simhashBits - minAgreeingBits] ?? 0

/**
 * Ways to place d differing bits such that every band has at least one, over all ways to place them, gives the
 * share that is missed. The ways are the coefficients of the product of (1 + x)^width - 1 over all bands; all
 * terms are positive and at most C(384, 192), about 10^114, so doubles lose nothing that counts.
 */
const computeRecallByDistance = (): number[] => {
  let damagingAll = [1]
  let all = [1]
  for (let band = 0; band < bandCount; band++) {
    const row = binomialRow(bandStart(band + 1) - bandStart(band))
    damagingAll = multiply(damagingAll, [0, ...row.slice(1)])
    all = multiply(all, row)
  }
  return all.map((ways, distance) => 1 - (damagingAll[distance] ?? 0) / ways)
}

const binomialRow = (n: number): number[] => {
  const row = [1]
  for (let i = 0; i < n; i++) row.push(((row[i] as number) * (n - i)) / (i + 1))
  return row
}

const multiply = (p: readonly number[], q: readonly number[]): number[] => {
  const product = new Array<number>(p.length + q.length - 1).fill(0)
  p.forEach((a, i) => {
    q.forEach((b, j) => {
      product[i + j] = (product[i + j] as number) + a * b
    })
  })
  return product
}

const recallByDistance = computeRecallByDistance()
