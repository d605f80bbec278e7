/** A threshold as the fraction that its decimal text says: p / q in lowest terms. */
export type Threshold = {
  readonly p: bigint
  readonly q: bigint
  /** The nearest double. */
  readonly value: number
}

const decimal = /^(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b))

/**
 * The exact value of a decimal text; a number stands for its shortest text, which is the one that was written where it
 * had at most 15 digits. Throws RangeError where it is no positive decimal number.
 */
export const thresholdOf = (written: string | number): Threshold => {
  const text = String(written)
  const [, whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? []
  if (whole + fraction === '') throw new RangeError(`A threshold is a positive decimal number, not "${text}"`)
  const scale = Number(exponent) - fraction.length
  const p = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, scale))
  const q = 10n ** BigInt(Math.max(0, -scale))
  if (p === 0n) throw new RangeError(`A threshold is a positive decimal number, not "${text}"`)
  const divisor = gcd(p, q)
  return { p: p / divisor, q: q / divisor, value: Number(text) }
}
