import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Signature } from '../../src/signature/signature.ts'
import { bytesPerSet, contentSlot, MemoryTier, recordBytes } from '../../src/store/memory-tier.ts'
import { postingKeysOf } from '../../src/store/posting.ts'
import { mergePostings } from '../../src/store/probe.ts'
import type { ProbeQuery } from '../../src/store/store.ts'
import { bytesOf, contentHashOf, invertingBits, sharingSupershingles, signatureOf } from './sample.ts'

type NaiveSet = {
  readonly number: number
  readonly content: string
  readonly signature: Signature | null
  isGone: boolean
}

type AddedSet = Pick<NaiveSet, 'number' | 'content' | 'signature'>

const addAll = (tier: MemoryTier, sets: readonly AddedSet[]): void => {
  const records = new Uint8Array(recordBytes * sets.length)
  for (const [i, { content, signature }] of sets.entries()) {
    records.set(contentHashOf(content).subarray(0, 8), recordBytes * i)
    if (signature === null) continue
    records.set(signature.supershingles, recordBytes * i + 8)
    records.set(signature.simhash, recordBytes * i + 56)
  }
  const numbers = Float64Array.from(sets, ({ number }) => number)
  tier.add(
    numbers,
    records,
    Uint8Array.from(sets, ({ signature }) => (signature === null ? 0 : 1)),
  )
}
const add = (tier: MemoryTier, number: number, content: string, signature: Signature | null): void =>
  addAll(tier, [{ number, content, signature }])

/** What the merge of posting lists gives that are kept as arrays. */
const naiveProbe = (sets: readonly NaiveSet[], query: ProbeQuery) => {
  const merge = mergePostings(query)
  let step = merge.next([])
  while (!step.done) {
    const { key, after, count } = step.value
    const list = sets.filter(
      ({ number, signature }) =>
        number > after &&
        signature !== null &&
        postingKeysOf(signature).some(
          ({ slot, high, low }) => slot === key.slot && high === key.high && low === key.low,
        ),
    )
    step = merge.next(list.slice(0, count).map(({ number }) => number))
  }
  const { qualified, examined, frontier } = step.value
  return {
    candidates: qualified.filter((set) => !sets.find(({ number }) => number === set)?.isGone),
    examined,
    frontier,
  }
}

const relatedSignature = (content: number): Signature => {
  const base = sharingSupershingles(signatureOf(`own ${content}`), signatureOf(`family ${content % 3}`), [
    content % 6,
    (content >> 2) % 6,
  ])
  return {
    ...base,
    simhash: invertingBits(signatureOf(`family ${content % 4}`), [content, 7 * content]).simhash,
  }
}

const stepArbitrary = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      sets: fc.array(
        fc.record({ content: fc.nat(40), signed: fc.boolean(), gap: fc.integer({ min: 1, max: 5 }) }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('reserve' as const), sets: fc.nat(400) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('gone' as const), number: fc.nat(300) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('evict' as const), count: fc.nat(6) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('probe' as const),
      content: fc.nat(40),
      minSupershingles: fc.option(fc.integer({ min: 1, max: 4 })),
      bands: fc.boolean(),
      after: fc.nat(300),
      limit: fc.integer({ min: 0, max: 12 }),
    }),
  },
)

describe('MemoryTier', () => {
  test('answers probes and look-ups by content as arrays would, whatever is added, gone and evicted', () => {
    fc.assert(
      fc.property(fc.nat(12), fc.array(stepArbitrary, { maxLength: 150 }), (capacity, steps) => {
        const tier = new MemoryTier(capacity * bytesPerSet)
        expect(tier.capacity).toBe(capacity)
        let sets: NaiveSet[] = []
        let last = 0
        let flushed = 0
        for (const step of steps) {
          if (step.kind === 'add') {
            const added = step.sets.map(({ content, signed, gap }) => {
              last += gap
              const signature = signed ? relatedSignature(content) : null
              return { number: last, content: `content ${content}`, signature, isGone: false }
            })
            addAll(tier, added)
            sets.push(...added)
          } else if (step.kind === 'reserve') {
            tier.reserve(step.sets)
          } else if (step.kind === 'gone') {
            tier.markGone(step.number)
            for (const set of sets) if (set.number === step.number) set.isGone = true
          } else if (step.kind === 'flush') {
            tier.allowEviction(tier.endOrdinal)
            flushed = last
          } else if (step.kind === 'evict') {
            tier.evict(step.count)
            for (
              let i = 0;
              i < step.count && sets.length > capacity && (sets[0]?.number ?? 0) <= flushed;
              i++
            ) {
              expect(tier.coveredAfter).toBeGreaterThanOrEqual(sets[0]?.number ?? 0)
              sets = sets.slice(1)
            }
          } else {
            const { kind: _, content, ...rest } = step
            const query = { ...rest, signature: relatedSignature(content) }
            const page = tier.probe(query)
            expect({ ...page, candidates: page.candidates.map(({ set }) => set) }).toEqual(
              naiveProbe(sets, query),
            )
            for (const { set, signature } of page.candidates)
              expect(signature).toEqual({
                supershingles: Uint8Array.from(
                  sets.find((one) => one.number === set)?.signature?.supershingles ?? [],
                ),
                simhash: Uint8Array.from(sets.find((one) => one.number === set)?.signature?.simhash ?? []),
              })
            expect(tier.setsWithContent(contentHashOf(`content ${content}`))).toEqual(
              sets
                .filter((one) => one.content === `content ${content}` && !one.isGone)
                .map(({ number }) => number),
            )
          }
          expect(tier.size).toBe(sets.length)
        }
      }),
      { seed: 384, numRuns: 400 },
    )
  })

  test('finds each of 30,000 sets by its content and by its signature while tables grow and chunks go', () => {
    const tier = new MemoryTier(20_000 * bytesPerSet)
    const contents = Array.from({ length: 30_000 }, (_, i) => `content ${i}`)
    // Batches of one set, of some, and of more than a chunk holds.
    const batches = [1, 37, 4800]
    for (let from = 0, batch = 0; from < contents.length; batch++) {
      const length = batches[batch % batches.length] ?? 1
      const added = contents
        .slice(from, from + length)
        .map((content, i) => ({ number: from + i + 1, content, signature: signatureOf(content) }))
      addAll(tier, added)
      from += length
      tier.allowEviction(tier.endOrdinal)
      tier.evict(2 * length)
    }
    expect([tier.size, tier.coveredAfter]).toEqual([20_000, 10_000])
    contents.forEach((content, i) => {
      if (i % 7 !== 0) return
      const expected = i < 10_000 ? [] : [i + 1]
      expect(tier.setsWithContent(contentHashOf(content))).toEqual(expected)
      const query = { signature: signatureOf(content), minSupershingles: 6, bands: false, after: 0, limit: 5 }
      expect(tier.probe(query).candidates.map(({ set }) => set)).toEqual(expected)
      const byBands = { ...query, minSupershingles: null, bands: true }
      // Others may share a band by chance.
      expect(tier.probe(byBands).candidates.map(({ set }) => set)).toEqual(expect.arrayContaining(expected))
    })
  })

  test('answers alike whether sets came in small batches or all at once with room reserved', () => {
    // More than are linked together at once; some share a supershingle and some have no signature.
    const random = new Uint8Array(recordBytes * 70_000)
    const words = new Uint32Array(random.buffer)
    let seed = 1
    for (let i = 0; i < words.length; i++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      words[i] = seed
    }
    const signed = Uint8Array.from({ length: 70_000 }, (_, i) => (i % 11 === 0 ? 0 : 1))
    const shared = random.slice(8, 16)
    for (let i = 0; i < 70_000; i++) {
      if (signed[i] === 0) random.fill(0, recordBytes * i + 8, recordBytes * (i + 1))
      else if (i % 13 === 0) random.set(shared, recordBytes * i + 8)
    }
    const numbers = Float64Array.from(signed, (_, i) => i + 1)
    const [inBatches, atOnce] = [new MemoryTier(2 ** 26), new MemoryTier(2 ** 26)]
    for (let from = 0; from < 70_000; from += 700)
      inBatches.add(
        numbers.subarray(from, from + 700),
        random.subarray(recordBytes * from, recordBytes * (from + 700)),
        signed.subarray(from, from + 700),
      )
    atOnce.reserve(70_000)
    atOnce.add(numbers, random, signed)
    for (let i = 1; i < 70_000; i += 977) {
      const record = random.subarray(recordBytes * i, recordBytes * (i + 1))
      const signature = { supershingles: record.slice(8, 56), simhash: record.slice(56) }
      for (const after of [0, i - 1, i]) {
        const query = { signature, minSupershingles: 1, bands: true, after, limit: 100 }
        expect(atOnce.probe(query)).toEqual(inBatches.probe(query))
      }
      expect(atOnce.setsWithContent(record.slice(0, 8))).toEqual([i + 1])
      const query = { signature, minSupershingles: 6, bands: false, after: i, limit: 1 }
      const isFound = signed[i] === 1
      expect(atOnce.probe(query).candidates.map(({ set }) => set)).toEqual(isFound ? [i + 1] : [])
    }
  })

  test('begins a page of a long list where the one before ended, also where the frontier is not in the list', () => {
    const tier = new MemoryTier(2 ** 26)
    const hot = signatureOf('hot')
    const inList: number[] = []
    for (let number = 1; number <= 20_000; number++) {
      const content = `content ${number}`
      // Dense, then sparse, then none, then dense again.
      const isIn = number < 6000 || (number < 12_000 && number % 97 === 0) || number > 17_000
      if (isIn) inList.push(number)
      add(
        tier,
        number,
        content,
        isIn ? sharingSupershingles(signatureOf(content), hot, [3]) : signatureOf(content),
      )
    }
    for (const after of [
      0, 1, 3000, 5999, 6000, 7000, 11_930, 12_500, 16_999, 17_000, 19_998, 20_000, 30_000,
    ]) {
      const page = tier.probe({ signature: hot, minSupershingles: 1, bands: false, after, limit: 50 })
      const rest = inList.filter((number) => number > after)
      expect(page.candidates.map(({ set }) => set)).toEqual(rest.slice(0, 50))
      expect(page.frontier).toBe(rest.length > 50 ? rest[49] : null)
    }
  })

  test('gives the postings of a slot by number, without what is gone and without sets that have none', () => {
    const tier = new MemoryTier(2 ** 20)
    for (let number = 1; number <= 50; number++)
      add(tier, number, `content ${number}`, number % 5 === 0 ? null : signatureOf(`content ${number}`))
    tier.markGone(7)
    tier.markGone(10)
    const present = Array.from({ length: 40 }, (_, i) => i + 6).filter(
      (number) => number !== 7 && number !== 10,
    )
    expect(tier.countPresent(5, 45)).toBe(present.length)
    for (let slot = 0; slot <= contentSlot; slot++) {
      const { highs, lows, numbers } = tier.postings(slot, 5, 45)
      const expected = present
        .filter((number) => slot === contentSlot || number % 5 !== 0)
        .map((number) => {
          const hash = contentHashOf(`content ${number}`)
          const view = new DataView(hash.buffer, hash.byteOffset)
          const key =
            slot === contentSlot
              ? { high: view.getUint32(0), low: view.getUint32(4) }
              : postingKeysOf(signatureOf(`content ${number}`))[slot]
          return [key?.high, key?.low, number]
        })
      expect(Array.from(numbers, (number, i) => [highs[i], lows[i], number])).toEqual(expected)
    }
  })

  test('keeps one entry of a content that comes and goes', () => {
    const tier = new MemoryTier(2 ** 20)
    for (let number = 1; number <= 100; number++) {
      add(tier, number, 'same', signatureOf('same'))
      expect(tier.setsWithContent(contentHashOf('same'))).toEqual([number])
      if (number < 100) tier.markGone(number)
    }
    expect(tier.setsWithContent(bytesOf(16, 'other'))).toEqual([])
  })
})
