type Tokens = Uint32Array | Int32Array

/**
 * `overlap` and the common tokens of x[i .. xEnd) and y[j .. yEnd), both in increasing order; some number below `least`
 * as soon as what is left cannot reach it.
 */
export const mergeOverlap = (
  x: Tokens,
  i: number,
  xEnd: number,
  y: Tokens,
  j: number,
  yEnd: number,
  overlap: number,
  least: number,
): number => {
  let common = overlap
  let xSpare = xEnd - i + overlap - least
  let ySpare = yEnd - j + overlap - least
  if (xSpare < 0 || ySpare < 0) return -1
  let at = i
  let other = j
  while (at < xEnd && other < yEnd) {
    const a = x[at] as number
    const b = y[other] as number
    if (a === b) {
      common++
      at++
      other++
    } else if (a < b) {
      if (--xSpare < 0) return -1
      at++
    } else {
      if (--ySpare < 0) return -1
      other++
    }
  }
  return common
}
