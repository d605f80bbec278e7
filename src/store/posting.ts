import { bandCount, bandValues } from '../detect/band.ts'
import { supershingleCount } from '../signature/scheme.ts'
import type { Signature } from '../signature/signature.ts'
import { halvesAt } from './codec.ts'

/** Posting lists of a signature: slots 0 to 5 are its supershingles by position, slots 6 to 18 its bands. */
export const signatureSlots = supershingleCount + bandCount

/**
 * Names one posting list: of all numbers with the value `high * 2^32 + low` in the slot. A store may add slots
 * of its own from `signatureSlots` on.
 */
export type PostingKey = { readonly slot: number; readonly high: number; readonly low: number }

/** The posting lists in which a set with this signature stands, one of each slot, by slot. */
export const postingKeysOf = ({ supershingles, simhash }: Signature): PostingKey[] => {
  const keys: PostingKey[] = []
  for (let position = 0; position < supershingleCount; position++) {
    const [high, low] = halvesAt(supershingles, 8 * position)
    keys.push({ slot: position, high, low })
  }
  for (const [band, bits] of bandValues(simhash).entries())
    keys.push({ slot: supershingleCount + band, high: 0, low: bits })
  return keys
}
