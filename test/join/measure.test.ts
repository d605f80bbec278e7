import { expect, test } from 'vitest'
import { isMeasure, measures, similarity } from '../../src/join/measure.ts'

test.each([
  ['jaccard', 4 / 6],
  ['cosine', 4 / 5],
  ['dice', 8 / 10],
  ['overlap', 4],
] as const)('The %s of two sets of five with four in common is %f', (measure, value) => {
  expect(similarity(measure, 4, 5, 5)).toBe(value)
})

test('An empty set is similar to nothing, not to another one either', () => {
  for (const measure of measures) {
    expect(similarity(measure, 0, 0, 5)).toBe(0)
    expect(similarity(measure, 0, 0, 0)).toBe(0)
  }
})

test('Only the four measures are measures', () => {
  expect(measures.every(isMeasure)).toBe(true)
  expect(['shingling', '__proto__', ''].some(isMeasure)).toBe(false)
})
