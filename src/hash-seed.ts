import { scryptSync } from 'node:crypto'
import type { HashSeed } from './analysis/analyze.ts'
import { DittographError } from './errors.ts'

const leastCharacters = 16
const keyBytes = 16
const checkBytes = 8

/**
 * The key of the hash functions and its check value from the setting HASH_SEED. By scrypt (some 50 ms), so that whoever
 * reads the check value in a database cannot try many secrets. Throws `invalid_configuration`, never with the secret.
 */
export const hashSeedOf = (secret: string): HashSeed => {
  if (secret.length < leastCharacters)
    throw new DittographError(
      'invalid_configuration',
      `HASH_SEED must have ${leastCharacters} or more characters`,
    )
  const derived = scryptSync(secret, 'dittograph hash seed 1', keyBytes + checkBytes)
  const key = Uint32Array.from({ length: keyBytes / 4 }, (_, i) => derived.readUInt32LE(4 * i))
  return { key, check: derived.toString('hex', keyBytes) }
}
