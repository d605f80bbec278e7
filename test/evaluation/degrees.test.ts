import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DegreeTally, degreeDistribution } from '../../src/evaluation/degrees.ts'
import { fitLine, fitMaximumLikelihood } from '../../src/evaluation/power-law.ts'
import { seededRandom } from '../fixture/pages.ts'

/** Degrees from 1 to 100,000 drawn with probability degree^-exponent, by inversion of the cumulative sum. */
const drawnDegrees = (exponent: number, nodes: number, seed: number): Map<number, number> => {
  const random = seededRandom(seed)
  const cumulative: number[] = []
  let sum = 0
  for (let degree = 1; degree <= 100_000; degree++) {
    sum += degree ** -exponent
    cumulative.push(sum)
  }
  const counts = new Map<number, number>()
  for (let i = 0; i < nodes; i++) {
    const target = random() * sum
    let [low, high] = [0, cumulative.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? 0) < target) low = middle + 1
      else high = middle
    }
    counts.set(low + 1, (counts.get(low + 1) ?? 0) + 1)
  }
  return counts
}

describe('the exponent of a power law', () => {
  test.each([1.8, 2.3, 3.1])('%f is recovered from drawn degrees within four standard errors', (exponent) => {
    const fit = fitMaximumLikelihood(drawnDegrees(exponent, 20_000, 17))
    expect(fit?.nodes).toBe(20_000)
    expect(fit?.standardError).toBeLessThan(0.05)
    expect(Math.abs((fit?.exponent ?? 0) - exponent)).toBeLessThan(4 * (fit?.standardError ?? 0))
  })

  test('maximizes the likelihood: neither a little more nor a little less is more likely', () => {
    const counts = new Map([
      [1, 60],
      [2, 20],
      [3, 11],
      [7, 4],
      [30, 1],
    ])
    // zeta by a hundred thousand terms and the integral of the rest
    const zeta = (a: number): number => {
      let sum = 0
      for (let n = 1; n <= 1e5; n++) sum += n ** -a
      return sum + 1e5 ** (1 - a) / (a - 1)
    }
    const logLikelihood = (a: number): number =>
      [...counts].reduce(
        (sum, [degree, nodes]) => sum - nodes * (a * Math.log(degree) + Math.log(zeta(a))),
        0,
      )
    const exponent = fitMaximumLikelihood(counts)?.exponent ?? 0
    const best = logLikelihood(exponent)
    expect(logLikelihood(exponent - 0.01)).toBeLessThan(best)
    expect(logLikelihood(exponent + 0.01)).toBeLessThan(best)
  })

  test('by least squares is the slope of points that lie on a line in log-log', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 4, noNaN: true }), (exponent) => {
        const counts = new Map([1, 2, 4, 8, 16].map((degree) => [degree, 1e6 * degree ** -exponent]))
        expect(fitLine(counts)).toEqual({
          exponent: expect.closeTo(exponent, 9),
          r2: expect.closeTo(1, 9),
          points: 5,
        })
      }),
      { seed: 7 },
    )
  })

  test('is not made up where there is nothing to fit', () => {
    expect(fitLine(new Map([[3, 4]]))).toBeNull()
    expect(fitLine(new Map())).toBeNull()
    expect(fitMaximumLikelihood(new Map([[1, 4]]))).toBeNull()
    expect(fitMaximumLikelihood(new Map())).toBeNull()
  })
})

describe('the degree distribution', () => {
  test('of a triangle with a tail and a pair apart', () => {
    const tally = new DegreeTally<string>()
    for (const [a, b] of ['ab', 'ac', 'bc', 'cd', 'xy']) tally.add(a ?? '', b ?? '')
    expect(degreeDistribution(tally.counts())).toMatchObject({
      nodes: 6,
      pairs: 5,
      averageDegree: 10 / 6,
      largestDegree: 3,
      degrees: [
        { degree: 1, nodes: 3 },
        { degree: 2, nodes: 2 },
        { degree: 3, nodes: 1 },
      ],
    })
  })

  test('of no pairs is empty', () => {
    expect(degreeDistribution(new Map())).toMatchObject({
      nodes: 0,
      pairs: 0,
      averageDegree: null,
      largestDegree: 0,
      powerLaw: { leastSquares: null, maximumLikelihood: null },
    })
  })
})
