import { expect, test } from 'vitest'
import { hammingLowerBound } from '../../src/join/suffix-filter.ts'
import { seededRandom } from '../fixture/pages.ts'

test('The bound is never above the distance where that is within what is allowed, and above it only else', () => {
  const random = seededRandom(5)
  const randomSet = (): Uint32Array =>
    Uint32Array.from(
      new Set(Array.from({ length: Math.floor(random() * 15) }, () => Math.floor(random() * 24))),
    ).sort()
  let pruned = 0
  for (let run = 0; run < 100_000; run++) {
    const [x, y] = [randomSet(), randomSet()]
    const [xStart, yStart] = [Math.floor(random() * (x.length + 1)), Math.floor(random() * (y.length + 1))]
    const [a, b] = [x.subarray(xStart), y.subarray(yStart)]
    const common = a.filter((token) => b.includes(token)).length
    const distance = a.length + b.length - 2 * common
    // The least overlap that is asked for leaves an even rest, as a join does.
    const most = a.length + b.length - 2 * Math.floor(random() * (Math.min(a.length, b.length) + 1))
    const bound = hammingLowerBound(x, xStart, x.length, y, yStart, y.length, most)
    if (bound > most) pruned++
    if (distance <= most ? bound > distance : false) expect({ x, y, xStart, yStart, most, bound }).toBeNull()
  }
  expect(pruned).toBeGreaterThan(10_000)
})
