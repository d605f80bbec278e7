/** The usual depth: deeper costs more than it saves. */
const maxDepth = 2

/** A part of a record: tokens[start] to tokens[end - 1]. */
type Tokens = Uint32Array | Int32Array

const at = (tokens: Tokens, index: number): number => tokens[index] as number

/** The first index in [from, to) with a token of `token` or more; `to` where there is none. */
const lowerBound = (tokens: Tokens, token: number, from: number, to: number): number => {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(tokens, middle) < token) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * A lower bound of the Hamming distance (the elements that are in one of them only) of two parts of records; whatever
 * exceeds `most` stands for more. The middle token of y splits both in two, and so on.
 *
 * Where x would have to hold that token within a window that `most` allows, and does not, the distance is exceeded. A
 * window cut off by the end of x proves nothing, so its ends are only looked at where they lie within x.
 *
 * Source: Xiao et al. 2008, section 4.
 */
export const hammingLowerBound = (
  x: Tokens,
  xStart: number,
  xEnd: number,
  y: Tokens,
  yStart: number,
  yEnd: number,
  most: number,
  depth = 1,
): number => {
  const xSize = xEnd - xStart
  const ySize = yEnd - yStart
  const difference = Math.abs(xSize - ySize)
  if (difference > most || depth > maxDepth || xSize === 0 || ySize === 0) return difference
  const middle = yStart + ((ySize - 1) >> 1)
  const token = at(y, middle)
  const reach = (most - difference) >> 1
  // Where the token stands in x, relative to where it stands in y.
  const aligned = xStart + (middle - yStart)
  const low = aligned - reach - (xSize < ySize ? difference : 0)
  const high = aligned + reach + (xSize >= ySize ? difference : 0)
  if (low >= xEnd || high < xStart) return most + 1
  if (low >= xStart && at(x, low) > token) return most + 1
  if (high < xEnd && at(x, high) < token) return most + 1
  const split = lowerBound(x, token, Math.max(low, xStart), Math.min(high, xEnd - 1) + 1)
  const isFound = split < xEnd && at(x, split) === token
  const missing = isFound ? 0 : 1
  const rightStart = isFound ? split + 1 : split
  const rightDifference = Math.abs(xEnd - rightStart - (yEnd - middle - 1))
  const sizes = Math.abs(split - xStart - (middle - yStart)) + rightDifference + missing
  if (sizes > most) return sizes
  const leftMost = most - rightDifference - missing
  const left = hammingLowerBound(x, xStart, split, y, yStart, middle, leftMost, depth + 1)
  if (left + rightDifference + missing > most) return left + rightDifference + missing
  const rightMost = most - left - missing
  return left + missing + hammingLowerBound(x, rightStart, xEnd, y, middle + 1, yEnd, rightMost, depth + 1)
}
