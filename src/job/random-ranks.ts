import { xxh64Text } from '../signature/xxhash.ts'

/**
 * So many different whole numbers from 0 to `population` - 1, or all of them, in random order. The same seed gives the
 * same ones, and a smaller size the beginning of a larger one. O(size).
 *
 * Source: Fisher and Yates, with the places that were exchanged in a map.
 */
export const randomRanks = (population: number, size: number, seed: number): number[] => {
  const exchanged = new Map<number, number>()
  return Array.from({ length: Math.min(size, population) }, (_, i) => {
    const hash = xxh64Text(String(i), BigInt(seed))
    const place = i + Number(hash % BigInt(population - i))
    const drawn = exchanged.get(place) ?? place
    exchanged.set(place, exchanged.get(i) ?? i)
    return drawn
  })
}
