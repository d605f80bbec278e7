import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PageMemory, type SharedRange } from '../../src/engine/page-memory.ts'

describe('the memory that threads share', () => {
  test('holds what was put until it is given back, whatever else comes and goes', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 300_000 }), { maxLength: 4 })
    const step = fc.record({ sizes, giveBack: fc.nat({ max: 10 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const memory = new PageMemory()
        const bytes = new Uint8Array(memory.buffer)
        const held: { range: SharedRange; content: Buffer }[] = []
        steps.forEach((one, number) => {
          const parts = one.sizes.map((size, i) => Buffer.alloc(size, (number * 7 + i * 31) % 251))
          const content = Buffer.concat(parts)
          const range = memory.put(parts)
          if (range !== null) held.push({ range, content })
          for (const { range, content } of held)
            expect(Buffer.compare(bytes.subarray(range.start, range.start + range.length), content)).toBe(0)
          const [released] = held.splice(one.giveBack, 1)
          if (released !== undefined) memory.giveBack(released.range)
        })
        for (const { range } of held) memory.giveBack(range)
        expect(memory.put([Buffer.alloc(memory.buffer.byteLength)])).toEqual({
          start: 0,
          length: memory.buffer.byteLength,
        })
      }),
      { seed: 5, numRuns: 30 },
    )
  })

  test('has no room for more than it is', () => {
    const memory = new PageMemory()
    expect(memory.put([Buffer.alloc(memory.buffer.byteLength + 1)])).toBeNull()
    expect(memory.put([Buffer.alloc(memory.buffer.byteLength)])).not.toBeNull()
    expect(memory.put([Buffer.alloc(1)])).toBeNull()
  })
})
