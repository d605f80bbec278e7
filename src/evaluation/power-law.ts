/** Nodes by degree: how many nodes (> 0) have each degree (>= 1). */
export type DegreeCounts = ReadonlyMap<number, number>

export type LineFit = {
  /** The a of a number of nodes proportional to degree^-a. */
  readonly exponent: number
  /** Share of the variance of log nodes that the line explains. */
  readonly r2: number
  /** Points of the plot, one for each degree that occurs. */
  readonly points: number
}

export type LikelihoodFit = {
  readonly exponent: number
  readonly standardError: number
  readonly nodes: number
}

/**
 * The slope of a straight line through the points (log degree, log nodes), by ordinary least squares, as
 * the paper's figures show it; null for fewer than two degrees. Every degree weighs the same, so that the few nodes of
 * high degree pull the line up: the exponent comes out too small.
 *
 * Source: Henzinger 2006, Figures 1 and 3.
 */
export const fitLine = (counts: DegreeCounts): LineFit | null => {
  const points = [...counts].map(([degree, nodes]) => ({ x: Math.log(degree), y: Math.log(nodes) }))
  if (points.length < 2) return null
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const meanX = mean(points.map(({ x }) => x))
  const meanY = mean(points.map(({ y }) => y))
  let xx = 0
  let xy = 0
  let yy = 0
  for (const { x, y } of points) {
    xx += (x - meanX) ** 2
    xy += (x - meanX) * (y - meanY)
    yy += (y - meanY) ** 2
  }
  // All numbers of nodes equal: a level line explains them fully.
  return {
    exponent: xy === 0 ? 0 : -xy / xx,
    r2: yy === 0 ? 1 : (xy * xy) / (xx * yy),
    points: points.length,
  }
}

/**
 * The exponent a > 1 under which degrees drawn with probability degree^-a / zeta(a), from degree 1 on, are most
 * likely to be those seen; null where all nodes have degree 1 or there are none, which leaves it without bound.
 * The standard error takes nodes as independent, which members of one cluster are not.
 *
 * Source: Clauset, Shalizi and Newman 2009, discrete case, least degree 1.
 */
export const fitMaximumLikelihood = (counts: DegreeCounts): LikelihoodFit | null => {
  let nodes = 0
  let sumOfLogs = 0
  for (const [degree, count] of counts) {
    nodes += count
    sumOfLogs += count * Math.log(degree)
  }
  if (sumOfLogs === 0) return null
  const meanLog = sumOfLogs / nodes
  // The derivative of the log-likelihood of one node, -log zeta(a)' - mean log degree, falls as a grows.
  const slope = (a: number): number => -logZetaDerivative(a) - meanLog
  let low = 1 + 1e-6
  let high = 2
  while (slope(high) > 0) high *= 2
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2
    if (slope(middle) > 0) low = middle
    else high = middle
  }
  const exponent = (low + high) / 2
  const h = 1e-4 * (exponent - 1)
  const curvature = (logZetaDerivative(exponent + h) - logZetaDerivative(exponent - h)) / (2 * h)
  return { exponent, standardError: 1 / Math.sqrt(nodes * curvature), nodes }
}

/** Terms summed one by one, before the Euler-Maclaurin formula stands in for the rest. */
const explicitTerms = 20

/** zeta'(a) / zeta(a), to about 12 digits. */
const logZetaDerivative = (a: number): number => {
  let zeta = 0
  let derivative = 0
  for (let n = 1; n < explicitTerms; n++) {
    const term = n ** -a
    zeta += term
    derivative -= term * Math.log(n)
  }
  // Integral from N, half of the first term left out, and the first correction.
  const [N, log] = [explicitTerms, Math.log(explicitTerms)]
  const last = N ** -a
  zeta += (last * N) / (a - 1) + last / 2 + (a * last) / (12 * N)
  derivative -=
    last * N * (log / (a - 1) + 1 / (a - 1) ** 2) + (last * log) / 2 + (last * (a * log - 1)) / (12 * N)
  return derivative / zeta
}
