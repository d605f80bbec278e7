import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultThresholds } from '../../src/detect/decide.ts'
import { type RecordingApp, recordingApp } from './fixture.ts'

let recording: RecordingApp
beforeAll(async () => {
  recording = await recordingApp()
  for (const id of ['a', 'b', 'c'])
    await recording.app.inject({
      method: 'PUT',
      url: `/documents/${id}`,
      headers: { 'content-type': 'text/plain' },
      payload: 'a',
    })
})
afterAll(() => recording.close())

const ask = (query: string) => recording.app.inject(`/documents/a/duplicates?${query}`)
const optionsOf = async (query: string) => {
  expect((await ask(query)).statusCode).toBe(200)
  return recording.calls.options.at(-1)
}
/** The cursor behind the first of the two near-duplicates. */
const cursorOf = async (query: string): Promise<string> => {
  const { nextCursor } = (await ask(`${query}&limit=1`)).json()
  expect(nextCursor).toMatch(/./)
  return nextCursor
}

/** Which options each algorithm uses besides those that all use; a valid value of each. */
const used: Readonly<Record<string, readonly string[]>> = {
  shingling: ['minSupershingles'],
  simhash: ['minAgreeingBits'],
  combined: ['minSupershingles', 'combinedMinAgreeingBits'],
  'site-aware': ['minSupershingles', 'minAgreeingBits', 'combinedMinAgreeingBits'],
  jaccard: ['threshold', 'features'],
  cosine: ['threshold', 'features'],
  dice: ['threshold', 'features'],
  overlap: ['threshold', 'features'],
  identical: [],
}
const special = {
  minSupershingles: '3',
  minAgreeingBits: '370',
  combinedMinAgreeingBits: '350',
  threshold: '1',
  features: 'tokens',
}
const common = { minResemblance: '0.5', site: 'same', order: 'id', limit: '7', cursor: 'abc' }

describe('the options of a search', () => {
  test.each(Object.keys(used))(
    '%s takes the options it uses, and refuses each of the others by name',
    async (algorithm) => {
      const cursor = await cursorOf(`algorithm=${algorithm}`)
      for (const [name, value] of Object.entries({ ...special, ...common, cursor })) {
        const answer = await ask(`algorithm=${algorithm}&${name}=${value}`)
        if (name in common || used[algorithm]?.includes(name))
          expect([name, answer.statusCode]).toEqual([name, 200])
        else {
          expect([name, answer.statusCode]).toEqual([name, 400])
          expect(answer.json().errors[0].pointer).toBe(name)
          for (const usedName of used[algorithm] ?? []) expect(answer.json().detail).toContain(usedName)
        }
      }
    },
  )

  test('have the documented defaults', async () => {
    expect(await optionsOf('')).toEqual({
      algorithm: 'site-aware',
      thresholds: defaultThresholds,
      exact: { threshold: 0.8, features: 'shingles' },
      minResemblance: null,
      site: 'any',
      order: 'similarity',
      limit: 50,
      cursor: null,
    })
    expect(defaultThresholds).toEqual({
      minSupershingles: 2,
      minAgreeingBits: 372,
      combinedMinAgreeingBits: 355,
    })
  })

  test('reach the service as they were given', async () => {
    const query =
      'minSupershingles=6&minAgreeingBits=0&combinedMinAgreeingBits=384&minResemblance=0.25&site=different&order=id'
    const cursor = await cursorOf(query)
    const given = {
      algorithm: 'site-aware',
      thresholds: { minSupershingles: 6, minAgreeingBits: 0, combinedMinAgreeingBits: 384 },
      exact: { threshold: 0.8, features: 'shingles' },
      minResemblance: 0.25,
      site: 'different',
      order: 'id',
      limit: 1000,
    }
    expect(await optionsOf(`${query}&limit=1000&cursor=${encodeURIComponent(cursor)}`)).toEqual({
      ...given,
      cursor,
    })
    expect((await ask(`${query}&limit=1000&cursor=x%2By`)).json().code).toBe('invalid_cursor')
    expect(recording.calls.options.at(-1)).toEqual({ ...given, cursor: 'x+y' })
    expect(await optionsOf('algorithm=cosine&threshold=0.93&features=tokens')).toMatchObject({
      algorithm: 'cosine',
      exact: { threshold: 0.93, features: 'tokens' },
    })
  })

  const bad: readonly [string, string][] = [
    ...[
      '0',
      '1001',
      '-1',
      '1.5',
      '1e2',
      '1e999',
      'Infinity',
      'NaN',
      '0x1',
      '',
      '%201',
      '1%20',
      '+1',
      '01',
      'abc',
      '999999999999999999999',
    ].map((value): [string, string] => ['limit', value]),
    ...['0', '7', '-0', '2.0'].map((value): [string, string] => ['minSupershingles', value]),
    ...['-1', '385', 'null'].map((value): [string, string] => ['minAgreeingBits', value]),
    ...['-1', '385', 'true'].map((value): [string, string] => ['combinedMinAgreeingBits', value]),
    ...['-0.1', '1.1', '1e-1', '.5', '1.', 'Infinity', '-Infinity', 'NaN', '0,8', '', '0x1'].map(
      (value): [string, string] => ['minResemblance', value],
    ),
    ...['', 'SAME', 'same,any'].map((value): [string, string] => ['site', value]),
    ...['', 'random'].map((value): [string, string] => ['order', value]),
    ['cursor', ''],
    ['cursor', 'a'.repeat(4097)],
    ['sort', 'id'],
    ['__proto__', '1'],
    ['constructor', '1'],
    ['duplicates', '1'],
  ]
  test.each(bad)('%s=%s is refused by its name', async (name, value) => {
    const answer = await ask(`${name}=${value}`)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().errors[0].pointer).toBe(name)
    expect(answer.json().detail).toContain(name)
  })

  const exactThresholds: readonly [string, string, number][] = [
    ['jaccard', '0', 400],
    ['jaccard', '1', 200],
    ['jaccard', '0.5', 200],
    ['jaccard', '0.49', 400],
    ['jaccard', '1.1', 400],
    ['cosine', '0.000001', 400],
    ['dice', '2', 400],
    ['overlap', '0.5', 400],
    ['overlap', '1.5', 400],
    ['overlap', '0', 400],
    ['overlap', '5', 200],
    ['overlap', `1${'0'.repeat(400)}`, 400],
    ['jaccard', 'NaN', 400],
  ]
  test.each(exactThresholds)(
    '%s with a threshold of %s is answered %i',
    async (algorithm, threshold, status) => {
      expect((await ask(`algorithm=${algorithm}&threshold=${threshold}`)).statusCode).toBe(status)
    },
  )

  test('a number passes exactly where it is written plainly and within bounds', async () => {
    const text = fc.oneof(
      fc.integer({ min: -10, max: 1200 }).map(String),
      fc.double({ min: -2, max: 2 }).map(String),
      fc.stringMatching(/^[-+ 0-9.ex]{0,5}$/),
    )
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const { statusCode } = await ask(`limit=${encodeURIComponent(value)}`)
        const isGood = /^[1-9]\d*$/.test(value) && Number(value) <= 1000
        expect(statusCode).toBe(isGood ? 200 : 400)
      }),
      { seed: 20260131, numRuns: 200 },
    )
  })
})

describe('the options of a search that goes with storing', () => {
  const put = (query: string) =>
    recording.app.inject({
      method: 'PUT',
      url: `/documents/a?${query}`,
      headers: { 'content-type': 'text/plain' },
      payload: 'a',
    })

  test('are none where none is asked for', async () => {
    for (const query of ['', 'duplicates=0']) {
      expect((await put(query)).json()).not.toHaveProperty('duplicates')
      expect(recording.calls.options.at(-1)).toBeNull()
    }
  })

  test('have their limit from duplicates', async () => {
    const { duplicates } = (await put('duplicates=100&algorithm=combined')).json()
    expect(duplicates.map(({ id }: { id: string }) => id)).toEqual(['b', 'c'])
    expect(recording.calls.options.at(-1)).toMatchObject({
      algorithm: 'combined',
      limit: 100,
      cursor: null,
      order: 'similarity',
    })
  })

  test.each(Object.entries({ ...special, ...common, algorithm: 'simhash' }))(
    '%s=%s without duplicates is refused',
    async (name, value) => {
      for (const query of ['', '&duplicates=0'])
        expect((await put(`${name}=${value}${query}`)).statusCode).toBe(400)
    },
  )

  test.each(['-1', '101', '1.5', 'all', ''])('duplicates=%s is refused', async (value) => {
    expect((await put(`duplicates=${value}`)).json().errors[0].pointer).toBe('duplicates')
  })

  test.each(['limit=5', 'cursor=a'])('%s is refused: duplicates is the limit', async (parameter) => {
    expect((await put(`duplicates=1&${parameter}`)).statusCode).toBe(400)
  })
})
