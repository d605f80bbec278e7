import { describe, expect, test } from 'vitest'
import { type Measure, measures, partnerSizes, similarity } from '../../src/join/measure.ts'

const sizes = Array.from({ length: 60 }, (_, i) => i + 1)
const thresholds = Array.from({ length: 50 }, (_, i) => (i + 51) / 100)

/** Whether the similarity reaches t hundredths, in whole numbers. */
const reaches = (measure: Measure, overlap: number, a: number, b: number, hundredths: number): boolean => {
  const [o, x, y, t] = [overlap, a, b, hundredths].map(BigInt) as [bigint, bigint, bigint, bigint]
  if (measure === 'jaccard') return 100n * o >= t * (x + y - o)
  if (measure === 'dice') return 200n * o >= t * (x + y)
  return 10_000n * o * o >= t * t * x * y
}

describe.each(measures.filter((measure) => measure !== 'overlap'))('the measure %s', (measure) => {
  test('reaches a threshold in floating point exactly where it does in whole numbers', () => {
    for (const threshold of thresholds)
      for (const a of sizes)
        for (const b of [a, Math.ceil(a * 0.8), Math.ceil(a / 2)])
          for (let overlap = Math.floor(b / 2); overlap <= b; overlap++)
            if (
              similarity(measure, overlap, a, b) >= threshold !==
              reaches(measure, overlap, a, b, Math.round(100 * threshold))
            )
              expect([threshold, overlap, a, b]).toBeNull()
  })

  test('has partners of all sizes, and of no others, that can reach the threshold', () => {
    for (const threshold of thresholds)
      for (const a of sizes) {
        const can = Array.from({ length: 4 * a + 4 }, (_, i) => i + 1).filter((b) =>
          reaches(measure, Math.min(a, b), a, b, Math.round(100 * threshold)),
        )
        const { least, most } = partnerSizes(measure, threshold, a)
        if (least !== can[0] || most !== can.at(-1)) expect([threshold, a, least, most]).toEqual(can)
      }
  })
})

test('The overlap counts, and an empty set is similar to nothing', () => {
  expect(similarity('overlap', 3, 5, 9)).toBe(3)
  for (const measure of measures) expect(similarity(measure, 0, 0, 5)).toBe(0)
  expect(partnerSizes('overlap', 3, 9).least).toBe(3)
})
