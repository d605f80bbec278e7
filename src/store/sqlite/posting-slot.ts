import { supershingleCount } from '../../signature/scheme.ts'
import { contentSlot } from '../memory-tier.ts'
import { signatureSlots } from '../posting.ts'

/** Slots of the look-ups that SQLite keeps as postings too; `posting_kind` in the database names them all. */
export const lookupSlot = {
  contentHash: contentSlot,
  urlKey: contentSlot + 1,
  site: contentSlot + 2,
  id: contentSlot + 3,
} as const
export const slotCount = contentSlot + 4

/** Bytes of a value in a posting block: 4 for bands, 8 for everything else. */
export const valueBytes = (slot: number): 4 | 8 =>
  slot >= supershingleCount && slot < signatureSlots ? 4 : 8
