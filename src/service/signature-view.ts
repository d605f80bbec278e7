import type { Signature } from '../signature/signature.ts'

const bytesOfSupershingle = 8

/** A signature as clients see it: lower-case hexadecimal, 16 digits a supershingle and 96 the simhash. */
export const viewOfSignature = (
  signature: Signature | null,
): { supershingles: string[] | null; simhash: string | null } => {
  if (signature === null) return { supershingles: null, simhash: null }
  const digits = Buffer.from(signature.supershingles).toString('hex')
  const supershingles: string[] = []
  for (let from = 0; from < digits.length; from += 2 * bytesOfSupershingle)
    supershingles.push(digits.slice(from, from + 2 * bytesOfSupershingle))
  return { supershingles, simhash: Buffer.from(signature.simhash).toString('hex') }
}
