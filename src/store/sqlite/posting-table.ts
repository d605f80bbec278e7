import { supershingleCount } from '../../signature/scheme.ts'
import { signatureSlots } from '../posting.ts'

/** Slots of the look-ups that SQLite keeps as postings too. */
export const lookupSlot = {
  contentHash: signatureSlots,
  urlKey: signatureSlots + 1,
  site: signatureSlots + 2,
} as const
export const slotCount = signatureSlots + 3

/** A table of postings: key columns in order, and the condition under which the number of a row `p` still exists. */
export type PostingTable = {
  readonly name: string
  readonly slot: string
  readonly value: string
  readonly number: string
  readonly numberExists: string
  /** The slot that is 0 in the table's slot column. */
  readonly firstSlot: number
  readonly endSlot: number
}

const setExists = 'EXISTS (SELECT 1 FROM document WHERE document.set_no = p.set_no)'

/** All slots, in order and without gaps. */
export const postingTables: readonly PostingTable[] = [
  {
    name: 'supershingle_posting',
    slot: 'position',
    value: 'supershingle',
    number: 'set_no',
    numberExists: setExists,
    firstSlot: 0,
    endSlot: supershingleCount,
  },
  {
    name: 'band_posting',
    slot: 'band',
    value: 'bits',
    number: 'set_no',
    numberExists: setExists,
    firstSlot: supershingleCount,
    endSlot: signatureSlots,
  },
  {
    name: 'lookup_posting',
    slot: 'kind',
    value: 'hash',
    number: 'number',
    numberExists: `CASE p.kind
      WHEN 0 THEN EXISTS (SELECT 1 FROM document WHERE document.set_no = p.number)
      ELSE EXISTS (SELECT 1 FROM document WHERE document.doc_no = p.number)
    END`,
    firstSlot: lookupSlot.contentHash,
    endSlot: slotCount,
  },
]
