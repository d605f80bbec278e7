import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bandValues } from '../../src/detect/band.ts'
import type { Signature } from '../../src/signature/signature.ts'
import type {
  Candidate,
  DocumentRecord,
  ListQuery,
  Member,
  PutOperation,
  PutResult,
  ScanPage,
  SetNumber,
  Store,
  WriteResult,
} from '../../src/store/store.ts'
import { walkFeatures, wordFeatures, wordsOf } from './feature-sample.ts'
import { NaiveStore } from './naive-store.ts'
import {
  bytesOf,
  contentHashOf,
  invertingBits,
  put,
  sharingSupershingles,
  signatureOf,
  utf8,
} from './sample.ts'

/** A store of a test: empty at first, and gone with all its data at the end. */
export type StoreHarness = {
  readonly store: Store
  /** Whether it has the index of `wordIndex`. */
  readonly hasFeatureIndex: boolean
  /** Closes the store and opens it again over the same data. */
  readonly reopen: () => Promise<Store>
  readonly destroy: () => Promise<void>
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const putResult = (result: WriteResult | undefined): PutResult => {
  if (result?.kind !== 'put') throw new Error(`Not the result of a put: ${JSON.stringify(result)}`)
  return result
}

const writeOne = async (store: Store, operation: PutOperation): Promise<PutResult> =>
  putResult((await store.write([operation]))[0])

const recordOf = async (store: Store, id: string): Promise<DocumentRecord> => {
  const record = await store.get(id)
  if (record === null) throw new Error(`There is no document ${id}`)
  return record
}

type Walk = { readonly minSupershingles: number | null; readonly bands: boolean; readonly limit: number }

/** All pages of a probe, each checked against the bounds that the query set. */
export const walkProbe = async (store: Store, signature: Signature, walk: Walk) => {
  const candidates: Candidate[] = []
  let examined = 0
  let after: SetNumber | null = 0
  while (after !== null) {
    const page = await store.probe({ signature, ...walk, after })
    expect(page.examined).toBeLessThanOrEqual(walk.limit)
    expect(page.candidates.length).toBeLessThanOrEqual(page.examined)
    for (const candidate of page.candidates) {
      expect(candidate.set).toBeGreaterThan(candidates.at(-1)?.set ?? after)
      candidates.push(candidate)
    }
    if (page.frontier !== null) expect(page.frontier).toBeGreaterThan(after)
    examined += page.examined
    after = page.frontier
  }
  return { candidates, examined }
}

const probedSets = async (store: Store, signature: Signature, walk: Partial<Walk>): Promise<SetNumber[]> => {
  const { candidates } = await walkProbe(store, signature, {
    minSupershingles: null,
    bands: false,
    limit: 100,
    ...walk,
  })
  return candidates.map(({ set }) => set)
}

export const walkList = async (
  store: Store,
  query: Omit<ListQuery, 'after'>,
): Promise<readonly DocumentRecord[]> => {
  const records: DocumentRecord[] = []
  while (true) {
    const page = await store.list({ ...query, after: records.at(-1)?.number ?? 0 })
    expect(page.length).toBeLessThanOrEqual(query.limit)
    records.push(...page)
    if (page.length < query.limit) return records
  }
}

export const walkMembers = async (
  store: Store,
  sets: readonly SetNumber[],
  limit: number,
): Promise<readonly Member[]> => {
  const members: Member[] = []
  while (true) {
    const last = members.at(-1)
    const left = last === undefined ? sets : sets.slice(sets.indexOf(last.set))
    const page = await store.members(left, last?.number ?? 0, limit)
    members.push(...page)
    if (page.length < limit) return members
  }
}

/** The promises of `Store`, as tests of whatever `open` gives: it is called once for each. */
export const storeContract = (name: string, open: () => Promise<StoreHarness>): void => {
  const promise = (sentence: string, body: (store: Store, harness: StoreHarness) => Promise<void>): void => {
    test(sentence, async () => {
      const harness = await open()
      try {
        await body(harness.store, harness)
      } finally {
        await harness.destroy()
      }
    })
  }

  describe(`${name}: documents`, () => {
    promise('A document is given back with all that was posted', async (store) => {
      const posted = put('a', 'some tokens', {
        url: 'http://Example.org/a',
        urlKey: 'http://example.org/a',
        site: 'example.org',
        title: 'A title',
        fetchedAt: '2026-01-02T03:04:05Z',
        metadata: '{"depth":3}',
        now: 1_700_000_000_123,
      })
      const result = await writeOne(store, posted)
      expect(result).toMatchObject({ status: 'created', identicalTo: null })
      const record = await recordOf(store, 'a')
      expect(record).toMatchObject({
        id: 'a',
        set: result.set,
        url: 'http://Example.org/a',
        site: 'example.org',
        title: 'A title',
        tokenCount: posted.tokenCount,
        identicalTo: null,
        createdAt: 1_700_000_000_123,
        updatedAt: 1_700_000_000_123,
        fetchedAt: '2026-01-02T03:04:05Z',
        metadata: '{"depth":3}',
      })
      expect(hex(record.contentHash)).toBe(hex(posted.contentHash))
      expect(hex(record.signature?.supershingles ?? new Uint8Array())).toBe(
        hex(signatureOf('some tokens').supershingles),
      )
      expect(hex(record.signature?.simhash ?? new Uint8Array())).toBe(hex(signatureOf('some tokens').simhash))
      expect(Number.isSafeInteger(record.number) && record.number > 0).toBe(true)
      expect(Number.isSafeInteger(record.set) && record.set > 0).toBe(true)
      expect((await store.texts(['a'])).get('a')).toEqual({
        set: result.set,
        text: utf8('text of some tokens'),
      })
    })

    promise('An unknown id gives null, and is absent among the texts', async (store) => {
      await store.write([put('a', 'x')])
      expect(await store.get('b')).toBeNull()
      expect([...(await store.texts(['b', 'a'])).keys()]).toEqual(['a'])
    })

    promise('Ids are told apart to the last code point', async (store) => {
      const ids = [
        '__proto__',
        'a',
        'A',
        'a ',
        'a/../b',
        'http://example.org/?q=%20',
        '\u00e9',
        'e\u0301',
        '😀'.repeat(256),
        '1',
        '01',
      ]
      await store.write(ids.map((id) => put(id, `content of ${id}`)))
      expect((await store.counts()).documents).toBe(ids.length)
      for (const id of ids) {
        const record = await recordOf(store, id)
        expect(record.id).toBe(id)
        expect(hex(record.contentHash)).toBe(hex(contentHashOf(`content of ${id}`)))
      }
    })

    promise(
      'The same content, URL and site again is unchanged: it keeps its number and takes over the rest',
      async (store) => {
        await store.write([put('a', 'x', { title: 'old', now: 1000 })])
        const before = await recordOf(store, 'a')
        const result = await writeOne(
          store,
          put('a', 'x', { title: 'new', metadata: '{}', text: utf8('other'), now: 2000 }),
        )
        expect(result.status).toBe('unchanged')
        const { number, set } = before
        expect(await recordOf(store, 'a')).toMatchObject({ number, set, title: 'new', metadata: '{}' })
        expect((await store.texts(['a'])).get('a')?.text).toEqual(utf8('other'))
      },
    )

    promise('updatedAt moves when anything differs, createdAt stays with the id', async (store) => {
      const times = async () => {
        const { createdAt, updatedAt } = await recordOf(store, 'a')
        return [createdAt, updatedAt]
      }
      await store.write([put('a', 'x', { now: 1000 })])
      await store.write([put('a', 'x', { now: 2000 })])
      expect(await times()).toEqual([1000, 1000])
      await store.write([put('a', 'x', { now: 3000, fetchedAt: '2026-01-01T00:00:00Z' })])
      expect(await times()).toEqual([1000, 3000])
      await store.write([put('a', 'y', { now: 4000 })])
      expect(await times()).toEqual([1000, 4000])
      await store.write([{ kind: 'delete', id: 'a' }, put('a', 'y', { now: 5000 })])
      expect(await times()).toEqual([5000, 5000])
    })

    promise('A text is dropped when the document comes without one, and kept again later', async (store) => {
      const text = async () => {
        const kept = (await store.texts(['a'])).get('a')?.text ?? null
        return kept === null ? null : Buffer.from(kept).toString()
      }
      await store.write([put('a', 'x', { text: null })])
      expect(await text()).toBeNull()
      await store.write([put('a', 'x', { text: utf8('') })])
      expect(await text()).toBe('')
      await store.write([put('a', 'y', { text: utf8('of y') })])
      expect(await text()).toBe('of y')
      await store.write([put('a', 'y', { text: null })])
      expect(await text()).toBeNull()
    })

    promise('Other content, URL or site replaces a document under a new, greater number', async (store) => {
      const versions = [
        put('a', 'x'),
        put('a', 'y'),
        put('a', 'y', { url: 'u', urlKey: 'u' }),
        put('a', 'y', { site: 's' }),
      ]
      let last = 0
      for (const [i, version] of versions.entries()) {
        expect((await writeOne(store, version)).status).toBe(i === 0 ? 'created' : 'replaced')
        const { number } = await recordOf(store, 'a')
        expect(number).toBeGreaterThan(last)
        last = number
      }
      expect((await store.counts()).documents).toBe(1)
    })

    promise('What was replaced is not found under its old content, URL or site', async (store) => {
      await store.write([put('a', 'x', { url: 'u1', urlKey: 'u1', site: 's1' })])
      await store.write([put('a', 'y', { url: 'u2', urlKey: 'u2', site: 's2' })])
      expect(await store.findSet(contentHashOf('x'))).toBeNull()
      expect(await probedSets(store, signatureOf('x'), { minSupershingles: 1, bands: true })).toEqual([])
      expect(await store.list({ url: 'u1', after: 0, limit: 10 })).toEqual([])
      expect(await store.list({ site: 's1', after: 0, limit: 10 })).toEqual([])
      expect((await store.list({ url: 'u2', site: 's2', after: 0, limit: 10 })).map(({ id }) => id)).toEqual([
        'a',
      ])
      const { set } = await recordOf(store, 'a')
      expect(await store.findSet(contentHashOf('y'))).toBe(set)
      expect(await probedSets(store, signatureOf('y'), { minSupershingles: 6 })).toEqual([set])
    })

    promise('What was deleted is found by nothing', async (store) => {
      await store.write([put('a', 'x', { url: 'u', urlKey: 'u', site: 's' })])
      const { set } = await recordOf(store, 'a')
      expect(await store.write([{ kind: 'delete', id: 'a' }])).toEqual([{ kind: 'delete', deleted: true }])
      expect(await store.get('a')).toBeNull()
      expect((await store.texts(['a'])).size).toBe(0)
      expect(await store.findSet(contentHashOf('x'))).toBeNull()
      expect(await store.members([set], 0, 10)).toEqual([])
      expect(await probedSets(store, signatureOf('x'), { minSupershingles: 1, bands: true })).toEqual([])
      for (const query of [{}, { url: 'u' }, { site: 's' }])
        expect(await store.list({ ...query, after: 0, limit: 10 })).toEqual([])
      expect(await store.counts()).toEqual({ documents: 0, sets: 0, postings: 0 })
    })

    promise('Deleting an unknown id says so and changes nothing', async (store) => {
      await store.write([put('a', 'x')])
      expect(await store.write([{ kind: 'delete', id: 'b' }])).toEqual([{ kind: 'delete', deleted: false }])
      expect((await store.counts()).documents).toBe(1)
    })

    promise('A number is never given twice, also where what had it is gone', async (store, harness) => {
      const seen = new Set<number>()
      let current = store
      for (let round = 0; round < 6; round++) {
        const { set, sequence } = await writeOne(current, put('a', `content ${round % 2}`))
        for (const number of [set, sequence]) {
          expect(seen.has(number)).toBe(false)
          seen.add(number)
        }
        await current.write([{ kind: 'delete', id: 'a' }])
        if (round === 3) current = await harness.reopen()
      }
    })
  })

  describe(`${name}: writing`, () => {
    promise('Operations are applied in order: of one id the last one wins', async (store) => {
      const results = await store.write([
        put('a', 'x'),
        put('a', 'y'),
        put('a', 'y'),
        { kind: 'delete', id: 'a' },
        put('a', 'z'),
        put('b', 'z'),
        { kind: 'delete', id: 'c' },
      ])
      expect(results.map((one) => (one.kind === 'put' ? one.status : one.deleted))).toEqual([
        'created',
        'replaced',
        'unchanged',
        true,
        'created',
        'created',
        false,
      ])
      expect(putResult(results[5])).toMatchObject({ identicalTo: 'a', set: putResult(results[4]).set })
      expect(await store.counts()).toMatchObject({ documents: 2, sets: 1 })
      expect(await store.findSet(contentHashOf('y'))).toBeNull()
    })

    promise('Writing nothing gives nothing', async (store) => {
      expect(await store.write([])).toEqual([])
    })

    promise('Of a write with an operation that cannot be stored nothing is stored', async (store) => {
      await store.write([put('a', 'x', { title: 'old' })])
      const impossible = put(null as unknown as string, 'z')
      await expect(
        store.write([put('b', 'y'), put('a', 'x', { title: 'new' }), put('a', 'w'), impossible]),
      ).rejects.toThrow()
      expect(await store.get('b')).toBeNull()
      expect((await recordOf(store, 'a')).title).toBe('old')
      expect(await store.findSet(contentHashOf('w'))).toBeNull()
      expect(await store.findSet(contentHashOf('y'))).toBeNull()
      expect(await probedSets(store, signatureOf('y'), { minSupershingles: 1 })).toEqual([])
      expect(await store.counts()).toMatchObject({ documents: 1, sets: 1 })
      expect((await writeOne(store, put('b', 'y'))).status).toBe('created')
    })

    promise(
      'The sequence of a put parts what was stored before from what was stored later',
      async (store) => {
        const [, , third] = await store.write([put('a', 'x'), put('b', 'y'), put('a', 'x'), put('c', 'z')])
        const { sequence } = putResult(third)
        await store.write([put('d', 'x')])
        const before = (await walkList(store, { limit: 10 })).filter(({ number }) => number < sequence)
        expect(before.map(({ id }) => id)).toEqual(['a', 'b'])
        const created = await writeOne(store, put('e', 'new'))
        const earlier = (await walkList(store, { limit: 10 })).filter(
          ({ number }) => number < created.sequence,
        )
        expect(earlier.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
      },
    )

    promise('Concurrent writes of one id leave exactly one version of it', async (store) => {
      const contents = Array.from({ length: 20 }, (_, i) => `version ${i}`)
      await Promise.all(contents.map((content) => store.write([put('a', content)])))
      expect(await store.counts()).toMatchObject({ documents: 1, sets: 1 })
      const sets = await Promise.all(contents.map((content) => store.findSet(contentHashOf(content))))
      expect(sets.filter((set) => set !== null)).toEqual([(await recordOf(store, 'a')).set])
    })

    promise('What was written is there when the store is opened again', async (store, harness) => {
      const operations = Array.from({ length: 50 }, (_, i) =>
        put(`id ${i}`, `content ${i % 20}`, { site: 's' }),
      )
      await store.write(operations)
      await store.write([{ kind: 'delete', id: 'id 0' }, put('id 1', 'other', { site: 's' })])
      const before = { all: await walkList(store, { limit: 7 }), counts: await store.counts() }
      const reopened = await harness.reopen()
      expect({ all: await walkList(reopened, { limit: 7 }), counts: await reopened.counts() }).toEqual(before)
      expect(await walkList(reopened, { site: 's', limit: 7 })).toEqual(before.all)
      const { set } = await recordOf(reopened, 'id 25')
      expect(await reopened.findSet(contentHashOf('content 5'))).toBe(set)
      expect(await probedSets(reopened, signatureOf('content 5'), { minSupershingles: 2 })).toEqual([set])
      expect((await writeOne(reopened, put('again', 'content 5'))).identicalTo).toBe('id 5')
    })

    promise('A closed store refuses everything, and is closed only once', async (store) => {
      await store.write([put('a', 'x')])
      await store.close()
      await store.close()
      await expect(store.write([put('b', 'y')])).rejects.toThrow()
      await expect(store.get('a')).rejects.toThrow()
      await expect(store.check()).rejects.toThrow()
    })

    promise('A write that closing overtakes either happened or is rejected', async (store, harness) => {
      const writes = Array.from({ length: 10 }, (_, i) => store.write([put(`id ${i}`, `content ${i}`)]))
      const settled = Promise.allSettled(writes)
      await store.close()
      const happened = (await settled).map(({ status }) => status === 'fulfilled')
      const reopened = await harness.reopen()
      const stored = await Promise.all(happened.map((_, i) => reopened.get(`id ${i}`)))
      expect(stored.map((record) => record !== null)).toEqual(happened)
    })

    promise('A store that can read and write says so', async (store) => {
      await expect(store.check()).resolves.toBeUndefined()
    })
  })

  describe(`${name}: identity sets`, () => {
    promise('A known content joins its set and adds no postings', async (store) => {
      const first = await writeOne(store, put('b', 'x'))
      const { postings } = await store.counts()
      expect(postings).toBe(19)
      for (const id of ['a', 'c'])
        expect(await writeOne(store, put(id, 'x'))).toMatchObject({ set: first.set, identicalTo: 'b' })
      expect(await store.counts()).toEqual({ documents: 3, sets: 1, postings })
      expect((await recordOf(store, 'b')).identicalTo).toBeNull()
      expect((await recordOf(store, 'a')).identicalTo).toBe('b')
      expect(await probedSets(store, signatureOf('x'), { minSupershingles: 1, bands: true })).toEqual([
        first.set,
      ])
      expect((await store.members([first.set], 0, 10)).map(({ id }) => id)).toEqual(['b', 'a', 'c'])
    })

    promise('When the first member goes, the next one takes its place', async (store) => {
      await store.write([put('a', 'x'), put('b', 'x'), put('c', 'x')])
      await store.write([{ kind: 'delete', id: 'a' }])
      expect((await recordOf(store, 'c')).identicalTo).toBe('b')
      expect((await recordOf(store, 'b')).identicalTo).toBeNull()
      await store.write([put('b', 'y')])
      expect((await recordOf(store, 'c')).identicalTo).toBeNull()
      // It comes back as the latest.
      expect((await writeOne(store, put('b', 'x'))).identicalTo).toBe('c')
    })

    promise('A member whose URL changes stays in its set, as the latest one', async (store) => {
      await store.write([put('a', 'x', { url: 'u', urlKey: 'u' }), put('b', 'x')])
      const { set } = await recordOf(store, 'a')
      expect(await writeOne(store, put('a', 'x', { url: 'v', urlKey: 'v' }))).toMatchObject({
        status: 'replaced',
        set,
        identicalTo: 'b',
      })
      expect((await store.members([set], 0, 10)).map(({ id, url }) => [id, url])).toEqual([
        ['b', null],
        ['a', 'v'],
      ])
    })

    promise('The only member keeps its set when its URL changes', async (store) => {
      const { set } = await writeOne(store, put('a', 'x'))
      expect((await writeOne(store, put('a', 'x', { url: 'v', urlKey: 'v' }))).set).toBe(set)
      expect(await probedSets(store, signatureOf('x'), { minSupershingles: 6 })).toEqual([set])
    })

    promise('Contents whose hashes differ in the last byte only are two sets', async (store) => {
      const hash = Uint8Array.from(contentHashOf('x'))
      hash[15] = (hash[15] ?? 0) ^ 1
      const a = await writeOne(store, put('a', 'x'))
      const b = await writeOne(store, put('b', 'y', { contentHash: hash }))
      expect(b.set).not.toBe(a.set)
      expect(await store.findSet(hash)).toBe(b.set)
    })

    promise('Members are paged by set and number, `after` counting for the first set only', async (store) => {
      await store.write(['a', 'b', 'c', 'd', 'e'].map((id, i) => put(id, i % 2 === 0 ? 'x' : 'y')))
      const [x, y] = [(await recordOf(store, 'a')).set, (await recordOf(store, 'b')).set]
      expect(x).toBeLessThan(y)
      const { number } = await recordOf(store, 'c')
      expect((await store.members([x, y], number, 10)).map(({ id }) => id)).toEqual(['e', 'b', 'd'])
      expect((await store.members([x, y], number, 2)).map(({ id }) => id)).toEqual(['e', 'b'])
      expect(await store.members([y + 1000], 0, 10)).toEqual([])
      expect(await store.members([], 0, 10)).toEqual([])
      for (const limit of [1, 2, 3, 7])
        expect((await walkMembers(store, [x, y], limit)).map(({ id }) => id)).toEqual([
          'a',
          'c',
          'e',
          'b',
          'd',
        ])
    })

    promise('Members come with URL and site', async (store) => {
      const { set } = await writeOne(store, put('a', 'x', { url: 'u', urlKey: 'k', site: 's' }))
      const { number } = await recordOf(store, 'a')
      expect(await store.members([set], 0, 1)).toEqual([{ set, number, id: 'a', url: 'u', site: 's' }])
    })

    promise(
      'Pages without tokens are one set that has no postings and is never a candidate',
      async (store) => {
        const zeros = { supershingles: new Uint8Array(48), simhash: new Uint8Array(48) }
        await store.write([put('a', ''), put('b', '')])
        expect(await store.counts()).toEqual({ documents: 2, sets: 1, postings: 0 })
        expect((await recordOf(store, 'b')).identicalTo).toBe('a')
        expect((await recordOf(store, 'a')).signature).toBeNull()
        expect(await probedSets(store, zeros, { minSupershingles: 1, bands: true })).toEqual([])
      },
    )
  })

  describe(`${name}: probing`, () => {
    promise('Sets with enough equal supershingles are candidates, whatever the value', async (store) => {
      const extremes = Buffer.from(
        'ffffffffffffffff8000000000000000' + '7fffffffffffffff0000000000000000',
        'hex',
      )
      const base: Signature = {
        supershingles: Buffer.concat([extremes, bytesOf(16, 'rest')]),
        simhash: bytesOf(48, 'base'),
      }
      const sets: number[] = []
      for (let shared = 0; shared <= 6; shared++) {
        const positions = Array.from({ length: shared }, (_, i) => i)
        const signature = sharingSupershingles(signatureOf(`shares ${shared}`), base, positions)
        sets.push((await writeOne(store, put(`shares ${shared}`, `shares ${shared}`, { signature }))).set)
      }
      for (let least = 1; least <= 6; least++) {
        expect(await probedSets(store, base, { minSupershingles: least })).toEqual(sets.slice(least))
        const { examined } = await walkProbe(store, base, { minSupershingles: least, bands: false, limit: 2 })
        expect(examined).toBe(6)
      }
    })

    promise('An equal supershingle at another position does not count', async (store) => {
      const base = signatureOf('base')
      const supershingles = Buffer.concat([base.supershingles.subarray(8), base.supershingles.subarray(0, 8)])
      await store.write([put('a', 'rotated', { signature: { ...signatureOf('rotated'), supershingles } })])
      expect(await probedSets(store, base, { minSupershingles: 1 })).toEqual([])
    })

    promise('Sets within 12 differing bits are always candidates of the bands', async (store) => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.nat(383), { minLength: 0, maxLength: 12 }),
          fc.string(),
          async (bits, content) => {
            const signature = invertingBits(signatureOf(content), bits)
            const { set } = await writeOne(store, put('a', `${content} ${bits}`, { signature }))
            expect(await probedSets(store, signatureOf(content), { bands: true })).toContain(set)
          },
        ),
        { seed: 372, numRuns: 60 },
      )
    })

    promise('A set with a difference in each band is no candidate of the bands', async (store) => {
      const base = signatureOf('base')
      const bits = Array.from({ length: 13 }, (_, band) => Math.floor((384 * band) / 13) + 7)
      const signature = invertingBits(base, bits)
      const bands = bandValues(base.simhash)
      expect(bandValues(signature.simhash).every((value, band) => value !== bands[band])).toBe(true)
      await store.write([put('a', 'x', { signature })])
      expect(await probedSets(store, base, { bands: true })).toEqual([])
    })

    promise('What is asked for decides: supershingles, bands, both or nothing', async (store) => {
      const base = signatureOf('base')
      const byShingles = sharingSupershingles(signatureOf('b'), base, [1, 4])
      const byBands = { ...signatureOf('c'), simhash: invertingBits(base, [0]).simhash }
      const b = await writeOne(store, put('b', 'b', { signature: byShingles }))
      const c = await writeOne(store, put('c', 'c', { signature: byBands }))
      expect(await probedSets(store, base, { minSupershingles: 2 })).toEqual([b.set])
      expect(await probedSets(store, base, { bands: true })).toEqual([c.set])
      expect(await probedSets(store, base, { minSupershingles: 2, bands: true })).toEqual([b.set, c.set])
      expect(await probedSets(store, base, { minSupershingles: 3, bands: true })).toEqual([c.set])
      expect(await walkProbe(store, base, { minSupershingles: null, bands: false, limit: 5 })).toEqual({
        candidates: [],
        examined: 0,
      })
    })

    promise('A candidate comes with its signature', async (store) => {
      const { set } = await writeOne(store, put('a', 'x'))
      const signature = signatureOf('x')
      const page = await store.probe({ signature, minSupershingles: 1, bands: true, after: 0, limit: 10 })
      const [candidate] = page.candidates
      expect(page).toMatchObject({ examined: 1, frontier: null })
      expect(candidate?.set).toBe(set)
      expect(hex(candidate?.signature.supershingles ?? new Uint8Array())).toBe(hex(signature.supershingles))
      expect(hex(candidate?.signature.simhash ?? new Uint8Array())).toBe(hex(signature.simhash))
    })

    promise('A walk in pages of any size lists each set once and looks at each once', async (store) => {
      const base = signatureOf('base')
      const operations = Array.from({ length: 60 }, (_, i) =>
        put(`id ${i}`, `content ${i}`, {
          signature: sharingSupershingles(signatureOf(`content ${i}`), base, [i % 6, (i * 7) % 6]),
        }),
      )
      const sets = (await store.write(operations)).map((result) => putResult(result).set)
      for (const limit of [1, 2, 7, 59, 60, 61]) {
        const { candidates, examined } = await walkProbe(store, base, {
          minSupershingles: 1,
          bands: true,
          limit,
        })
        expect(candidates.map(({ set }) => set)).toEqual(sets)
        expect(examined).toBe(60)
      }
    })

    promise('A walk goes on undisturbed by what is stored and deleted meanwhile', async (store) => {
      const base = signatureOf('base')
      const near = (i: number) => put(`id ${i}`, `content ${i}`, { signature: base })
      const sets = (await store.write(Array.from({ length: 10 }, (_, i) => near(i)))).map(
        (result) => putResult(result).set,
      )
      const query = { signature: base, minSupershingles: 1, bands: true }
      const first = await store.probe({ ...query, after: 0, limit: 4 })
      await store.write([{ kind: 'delete', id: 'id 1' }, { kind: 'delete', id: 'id 3' }, near(10)])
      const { candidates } = await store.probe({ ...query, after: first.frontier ?? 0, limit: 100 })
      expect(first.candidates.map(({ set }) => set)).toEqual(sets.slice(0, 4))
      expect(candidates.map(({ set }) => set)).toEqual([
        ...sets.slice(4),
        (await recordOf(store, 'id 10')).set,
      ])
    })
  })

  describe(`${name}: scanning`, () => {
    const scan = async (store: Store, minTokens: number, maxTokens: number, limit: number) => {
      const sets: ScanPage['sets'][number][] = []
      let after: SetNumber | null = 0
      while (after !== null) {
        const page: ScanPage = await store.scan({ minTokens, maxTokens, after, limit })
        expect(page.sets.length).toBeLessThanOrEqual(limit)
        if (page.frontier !== null) expect(page.frontier).toBeGreaterThan(after)
        sets.push(...page.sets)
        after = page.frontier
      }
      return sets
    }

    promise('All sets with so many tokens come once, in order, with signature and text', async (store) => {
      // The number of tokens is the length of the content.
      const contents = ['a', 'bb', 'cc', 'ddd', 'eeee']
      for (const content of contents) await store.write([put(content, content)])
      await store.write([put('again', 'bb'), put('none', '')])
      for (const limit of [1, 2, 3, 100]) {
        const found = await scan(store, 2, 3, limit)
        expect(found.map(({ text }) => text && Buffer.from(text).toString())).toEqual(
          ['bb', 'cc', 'ddd'].map((content) => `text of ${content}`),
        )
        expect(found.map(({ set }) => set)).toEqual(found.map(({ set }) => set).toSorted((a, b) => a - b))
        expect(found.map(({ signature }) => hex(signature.simhash))).toEqual(
          ['bb', 'cc', 'ddd'].map((content) => hex(signatureOf(content).simhash)),
        )
      }
      expect(await scan(store, 6, 10, 3)).toEqual([])
    })

    promise('The text is that of any member that has one', async (store) => {
      await store.write([put('a', 'x', { text: null }), put('b', 'y', { text: null })])
      await store.write([put('c', 'x', { text: utf8('of c') })])
      expect((await scan(store, 1, 1, 9)).map(({ text }) => text && Buffer.from(text).toString())).toEqual([
        'of c',
        null,
      ])
    })

    promise('What is gone or was replaced does not come', async (store) => {
      await store.write([put('a', 'x'), put('b', 'yy')])
      await store.write([put('a', 'zzz'), { kind: 'delete', id: 'b' }])
      const found = await scan(store, 1, 9, 9)
      expect(found.map(({ text }) => text && Buffer.from(text).toString())).toEqual(['text of zzz'])
    })
  })

  describe(`${name}: lists`, () => {
    const sample = Array.from({ length: 23 }, (_, i) =>
      put(`id ${i}`, `content ${i % 9}`, {
        url: `http://${i % 4}.example/`,
        urlKey: `key ${i % 4}`,
        site: i % 3 === 0 ? null : `site ${i % 3}`,
      }),
    )
    const idsWhere = (condition: (i: number) => boolean): string[] =>
      sample.map(({ id }) => id).filter((_, i) => condition(i))

    promise(
      'Documents are listed by number, page for page, by URL key, by site and by both',
      async (store) => {
        await store.write(sample)
        const ids = async (query: Omit<ListQuery, 'after' | 'limit'>, limit: number) =>
          (await walkList(store, { ...query, limit })).map(({ id }) => id)
        for (const limit of [1, 2, 5, 22, 23, 24, 1000]) {
          expect(await ids({}, limit)).toEqual(idsWhere(() => true))
          expect(await ids({ url: 'key 2' }, limit)).toEqual(idsWhere((i) => i % 4 === 2))
          expect(await ids({ site: 'site 1' }, limit)).toEqual(idsWhere((i) => i % 3 === 1))
          expect(await ids({ url: 'key 2', site: 'site 1' }, limit)).toEqual(
            idsWhere((i) => i % 4 === 2 && i % 3 === 1),
          )
        }
        expect(await ids({ url: 'http://2.example/' }, 10)).toEqual([])
        expect(await ids({ site: 'unknown' }, 10)).toEqual([])
      },
    )

    promise('A walk neither skips nor repeats what is not changed meanwhile', async (store) => {
      await store.write(sample)
      const first = await store.list({ site: 'site 1', after: 0, limit: 3 })
      await store.write([
        { kind: 'delete', id: 'id 1' },
        put('id 4', 'changed', { site: 'site 1' }),
        put('id 10', 'changed too', { site: 'elsewhere' }),
        put('new', 'new', { site: 'site 1' }),
      ])
      const rest = await store.list({ site: 'site 1', after: first.at(-1)?.number ?? 0, limit: 100 })
      expect(first.map(({ id }) => id)).toEqual(['id 1', 'id 4', 'id 7'])
      expect(rest.map(({ id }) => id)).toEqual(['id 13', 'id 16', 'id 19', 'id 22', 'id 4', 'new'])
    })
  })

  describe(`${name}: against the naive store`, () => {
    promise('Whatever is written, both give the same answers', async (_, harness) => {
      await harness.destroy()
      await fc.assert(
        fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 40 }), async (steps) => {
          const fresh = await open()
          try {
            await compareWithNaiveStore(fresh, steps)
          } finally {
            await fresh.destroy()
          }
        }),
        { seed: 20_061_106, numRuns: 60 },
      )
    })
  })
}

const contentArbitrary = fc.nat(9)
const operationArbitrary = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      id: fc.nat(7),
      content: contentArbitrary,
      url: fc.option(fc.nat(2)),
      site: fc.option(fc.nat(1)),
      title: fc.nat(1),
      text: fc.option(fc.nat(1)),
      now: fc.nat(1000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id: fc.nat(7) }) },
)
const limitArbitrary = fc.integer({ min: 1, max: 5 })
const stepArbitrary = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      operations: fc.array(operationArbitrary, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('probe' as const),
      content: contentArbitrary,
      minSupershingles: fc.option(fc.integer({ min: 1, max: 6 })),
      bands: fc.boolean(),
      limit: limitArbitrary,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('list' as const),
      url: fc.option(fc.nat(2)),
      site: fc.option(fc.nat(1)),
      limit: limitArbitrary,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
)
type Step = typeof stepArbitrary extends fc.Arbitrary<infer S> ? S : never
type Operation = typeof operationArbitrary extends fc.Arbitrary<infer O> ? O : never

/** Contents that share supershingles and bands in many combinations; content 0 has no tokens. */
const relatedSignature = (content: number): Signature | null => {
  if (content === 0) return null
  const supershingles = Buffer.concat(
    [0, 1, 2, 3, 4, 5].map((position) => bytesOf(8, position, Math.floor(content / (1 + position)))),
  )
  const family = { supershingles, simhash: bytesOf(48, 'family', content % 3) }
  const apart = Array.from({ length: 13 }, (_, band) => Math.floor((384 * band) / 13) + content)
  return invertingBits(family, apart.slice(0, 5 + content))
}

const toOperation = (operation: Operation) => {
  const id = `id ${operation.id}`
  if (operation.kind === 'delete') return { kind: operation.kind, id }
  const { content, url, site, title, text, now } = operation
  return put(id, content === 0 ? '' : `content ${content}`, {
    signature: relatedSignature(content),
    url: url === null ? null : `url ${url}`,
    urlKey: url === null ? null : `key ${url}`,
    site: site === null ? null : `site ${site}`,
    title: `title ${title}`,
    text: text === null ? null : utf8(`text ${text} of ${wordsOf(content)}`),
    now,
  })
}

/** All that a client can see, without the numbers themselves but with their order. */
const view = async (store: Store, limit: number) => {
  const records = await walkList(store, { limit })
  const sets = [...new Set(records.map(({ set }) => set))].sort((a, b) => a - b)
  const texts = await store.texts(records.map(({ id }) => id))
  return {
    counts: await store.counts(),
    documents: records.map(({ number: _, set, contentHash, signature, ...rest }) => ({
      ...rest,
      set: sets.indexOf(set),
      contentHash: hex(contentHash),
      signature: signature && hex(signature.supershingles) + hex(signature.simhash),
      text: texts.get(rest.id)?.text,
    })),
    members: (await walkMembers(store, sets, limit)).map(({ id, url, site }) => ({ id, url, site })),
  }
}

const firstMember = async (store: Store, set: SetNumber): Promise<string | undefined> =>
  (await store.members([set], 0, 1))[0]?.id

/** By content and threshold, the sets with similar texts, by a member of each. */
const similarSets = async (store: Store, limit: number) => {
  const found: (string | undefined)[][] = []
  for (const content of [1, 4, 9])
    for (const threshold of [0.5, 0.7, 1]) {
      const sets = await walkFeatures(store, wordsOf(content), threshold, limit)
      found.push(await Promise.all(sets.map((set) => firstMember(store, set))))
    }
  return found
}

const compareWithNaiveStore = async (harness: StoreHarness, steps: readonly Step[]): Promise<void> => {
  const naive = new NaiveStore(wordFeatures)
  let store = harness.store
  const same = async (ask: (store: Store) => Promise<unknown>): Promise<void> =>
    expect(await ask(store)).toEqual(await ask(naive))

  for (const step of steps) {
    if (step.kind === 'write') {
      const operations = step.operations.map(toOperation)
      await same(async (one) => {
        const results = await one.write(operations)
        return Promise.all(
          results.map(async (result) => {
            if (result.kind === 'delete') return result
            const { status, identicalTo, sequence } = result
            const before = (await walkList(one, { limit: 100 })).filter(({ number }) => number < sequence)
            return { status, identicalTo, before: before.map(({ id }) => id) }
          }),
        )
      })
      await same((one) => view(one, 3))
      if (harness.hasFeatureIndex) await same((one) => similarSets(one, 2))
    } else if (step.kind === 'probe') {
      const signature = relatedSignature(step.content) ?? relatedSignature(1)
      if (signature === null) continue
      await same(async (one) => {
        const { candidates } = await walkProbe(one, signature, step)
        return Promise.all(
          candidates.map(async (candidate) => [
            await firstMember(one, candidate.set),
            hex(candidate.signature.simhash),
          ]),
        )
      })
    } else if (step.kind === 'list') {
      const query = {
        ...(step.url === null ? {} : { url: `key ${step.url}` }),
        ...(step.site === null ? {} : { site: `site ${step.site}` }),
        limit: step.limit,
      }
      await same(async (one) => (await walkList(one, query)).map(({ id }) => id))
    } else if (step.kind === 'turns') {
      for (let turn = 0; turn < step.count; turn++) await new Promise(setImmediate)
    } else {
      store = await harness.reopen()
    }
  }
  await same((one) => view(one, 100))
  if (harness.hasFeatureIndex) await same((one) => similarSets(one, 100))
}
