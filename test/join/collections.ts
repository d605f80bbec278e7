import { randomWords, type seededRandom } from '../fixture/pages.ts'

type Random = ReturnType<typeof seededRandom>

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

/** So many random bags of up to 12 tokens, some of them edited copies of others, some empty. */
export const randomBags = (random: Random, count: number): string[][] => {
  const vocabulary = 3 + Math.floor(random() * 25)
  const bags: string[][] = []
  for (let i = 0; i < count; i++) {
    const copied = bags.length > 0 && random() < 0.5 ? [...pick(random, bags)] : null
    if (copied === null) bags.push(randomWords(random, Math.floor(random() * 13), vocabulary))
    else {
      if (copied.length > 0 && random() < 0.7) copied.splice(Math.floor(random() * copied.length), 1)
      if (random() < 0.5) copied.push(...randomWords(random, 1, vocabulary))
      bags.push(copied)
    }
  }
  return bags
}

/** Thresholds whose products with small sizes are whole numbers that floating point misses, and others. */
export const thresholds = [
  '0.5',
  '0.55',
  '0.56',
  '0.6',
  '0.65',
  '0.68',
  '0.7',
  '0.75',
  '0.8',
  '0.9',
  '0.95',
  '1',
]
export const overlaps = ['1', '2', '3', '5', '8']
