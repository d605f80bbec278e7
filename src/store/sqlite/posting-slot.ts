import type { Features } from '../../signature/features.ts'
import { supershingleCount } from '../../signature/scheme.ts'
import { featureMask } from '../feature-value.ts'
import { contentSlot } from '../memory-tier.ts'
import { signatureSlots } from '../posting.ts'

/** Slots of the look-ups that SQLite keeps as postings too; `posting_kind` in the database names them all. */
export const lookupSlot = {
  contentHash: contentSlot,
  urlKey: contentSlot + 1,
  site: contentSlot + 2,
  id: contentSlot + 3,
} as const
/** Slots that every run has. */
export const plainSlots = contentSlot + 4

/** Slots of the prefix postings of exact set similarity, in runs that are made with them; see feature-value.ts. */
export const featureSlot = { shingles: plainSlots, tokens: plainSlots + 1 } as const satisfies Record<
  Features,
  number
>
export const allSlots = plainSlots + 2

/** The bits of the low half of a value that lists of the slot are told apart by. */
export const lowMask = (slot: number): number => (slot < plainSlots ? -1 : featureMask)

/** Bytes of a value in a posting block: 4 for bands, 8 for everything else. */
export const valueBytes = (slot: number): 4 | 8 =>
  slot >= supershingleCount && slot < signatureSlots ? 4 : 8
