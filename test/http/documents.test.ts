import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exchange, listen, parseAnswer, type RecordingApp, recordingApp } from './fixture.ts'

let recording: RecordingApp
beforeEach(async () => {
  recording = await recordingApp()
})
afterEach(() => recording.close())

const json = { 'content-type': 'application/json' }
const post = (document: object, query = '') =>
  recording.app.inject({
    method: 'POST',
    url: `/documents${query}`,
    headers: json,
    payload: JSON.stringify(document),
  })
const put = (id: string, payload: string | Buffer, type: string, query = '') =>
  recording.app.inject({
    method: 'PUT',
    url: `/documents/${encodeURIComponent(id)}${query}`,
    headers: { 'content-type': type },
    payload,
  })

describe('storing one document', () => {
  test('answers 201 when it is new and 200 when it is not, with its path', async () => {
    const posts = [
      { text: 'A kettle', code: 201, status: 'created', tokenCount: 2 },
      { text: 'A kettle', code: 200, status: 'unchanged', tokenCount: 2 },
      { text: 'A kettle of steel', code: 200, status: 'replaced', tokenCount: 4 },
    ]
    for (const { text, code, status, tokenCount } of posts) {
      const answer = await post({ id: 'a/b c?é', url: 'https://example.com/a', text })
      expect(answer.statusCode).toBe(code)
      expect(answer.headers.location).toBe('/documents/a%2Fb%20c%3F%C3%A9')
      expect(answer.json()).toEqual({
        id: 'a/b c?é',
        url: 'https://example.com/a',
        site: 'example.com',
        status,
        tokenCount,
        identicalTo: null,
      })
    }
  })

  test('hands every kind of content on as it came', async () => {
    const bytes = Buffer.from([0x3c, 0x70, 0x3e, 0xe9, 0x80, 0x00])
    const base64 = { contentBase64: bytes.toString('base64'), contentType: 'Text/HTML; charset=latin1' }
    const contentOf = async (document: object) => {
      expect((await post({ id: 'a', ...document })).statusCode).toBeLessThan(300)
      return recording.input('a')?.page.content
    }
    expect(await contentOf({ html: '<p>é' })).toEqual({ kind: 'html', characters: '<p>é' })
    expect(await contentOf({ text: '<p>é' })).toEqual({ kind: 'text', characters: '<p>é' })
    expect(await contentOf({ text: '' })).toEqual({ kind: 'text', characters: '' })
    expect(await contentOf(base64)).toEqual({ kind: 'html', bytes, contentType: 'Text/HTML; charset=latin1' })
    expect(await contentOf({ ...base64, contentType: 'text/plain' })).toMatchObject({ kind: 'text', bytes })
    expect(await contentOf({ contentBase64: '', contentType: 'text/plain' })).toMatchObject({
      bytes: Buffer.alloc(0),
    })
    for (const [type, kind] of [
      ['text/html', 'html'],
      ['application/xhtml+xml;charset="utf-8"', 'html'],
      ['text/plain; charset=windows-1252', 'text'],
    ]) {
      await put('a', bytes, type ?? '')
      expect(recording.input('a')?.page).toEqual({ url: null, content: { kind, bytes, contentType: type } })
    }
  })

  test('takes the URL and the id of a raw page from the query', async () => {
    const answer = await recording.app.inject({
      method: 'POST',
      url: '/documents?url=https%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D2&id=a%2Bb+c',
      headers: { 'content-type': 'text/html' },
      payload: '<p>A kettle',
    })
    expect(answer.json()).toMatchObject({ id: 'a+b c', url: 'https://example.com/?a=1&b=2' })
    await put('p', 'a', 'text/plain', '?url=https://example.com/p')
    expect(recording.input('p')?.page.url).toBe('https://example.com/p')
    expect((await put('p', 'a', 'text/plain', '?id=p')).statusCode).toBe(400)
  })

  test('takes a URL of 8,192 characters, each of them four bytes, in the query too', async () => {
    const url = `https://example.com/${'😀'.repeat(8172)}`
    expect([...url]).toHaveLength(8192)
    const answer = await put('a', 'a', 'text/plain', `?url=${encodeURIComponent(url)}`)
    expect(answer.statusCode).toBe(201)
    expect(recording.input('a')?.page.url).toBe(url)
    expect((await put('a', 'a', 'text/plain', `?url=${encodeURIComponent(url)}a`)).statusCode).toBe(400)
  })

  test('keeps metadata and the time of fetching as they were', async () => {
    const metadata = { a: [1, null, 'é', { deep: [[]] }], constructor: { prototype: 1 }, status: 9 }
    await post({ id: 'a', text: 'a', metadata, fetchedAt: '2026-01-31T12:00:00.123+02:00' })
    expect((await recording.app.inject('/documents/a')).json()).toMatchObject({
      metadata,
      fetchedAt: '2026-01-31T12:00:00.123+02:00',
    })
    const proto = '{"id":"b","text":"b","metadata":{"__proto__":{"limit":1}}}'
    await recording.app.inject({ method: 'POST', url: '/documents', headers: json, payload: proto })
    expect((await recording.app.inject('/documents/b')).body).toContain(
      '"metadata":{"__proto__":{"limit":1}}',
    )
  })

  test('bounds metadata by its depth and its bytes', async () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    const statusOf = async (metadata: unknown) => (await post({ id: 'a', text: 'a', metadata })).statusCode
    expect(await statusOf(nested(64))).toBe(201)
    expect(await statusOf(nested(65))).toBe(400)
    expect(await statusOf('é'.repeat(30_000))).toBe(200)
    expect(await statusOf('a'.repeat(65_000))).toBe(200)
  })

  test.each([
    [{ html: 'a', text: 'a' }, ''],
    [{}, ''],
    [{ contentBase64: 'YQ==' }, '/contentType'],
    [{ text: 'a', contentType: 'text/plain' }, '/contentType'],
    [{ contentBase64: 'YQ', contentType: 'text/plain' }, '/contentBase64'],
    [{ contentBase64: 'YR==', contentType: 'text/plain' }, '/contentBase64'],
    [{ contentBase64: 'Y-_=', contentType: 'text/plain' }, '/contentBase64'],
    [{ contentBase64: 'YQ==\n', contentType: 'text/plain' }, '/contentBase64'],
    [{ text: 5 }, '/text'],
    [{ text: null }, '/text'],
    [{ text: 'a', id: null }, '/id'],
    [{ text: 'a', id: 5 }, '/id'],
    [{ text: 'a', id: '' }, '/id'],
    [{ text: 'a', id: 'a'.repeat(513) }, '/id'],
    [{ text: 'a', id: 'a\u0000' }, '/id'],
    [{ text: 'a', id: 'a\u0085' }, '/id'],
    [{ text: 'a', url: '//example.com/' }, '/url'],
    [{ text: 'a', url: '' }, '/url'],
    [{ text: 'a', url: 'https://example.com/\n' }, '/url'],
    [{ text: 'a', fetchedAt: 'yesterday' }, '/fetchedAt'],
    [{ text: 'a', fetchedAt: '2026-01-31' }, '/fetchedAt'],
    [{ text: 'a', fetchedAt: 1_769_860_800 }, '/fetchedAt'],
    [{ text: 'a', meta: {} }, '/meta'],
  ])('%j is refused, with a pointer to %j', async (document, pointer) => {
    const answer = await post(document)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer])
    expect(await recording.count()).toBe(0)
  })

  test('an id in a put document must be that of the path', async () => {
    expect((await put('a b', JSON.stringify({ id: 'a b', text: 'a' }), 'application/json')).statusCode).toBe(
      201,
    )
    const answer = await put('a b', JSON.stringify({ id: 'a%20b', text: 'a' }), 'application/json')
    expect(answer.json().errors[0].pointer).toBe('/id')
  })
})

describe('an id', () => {
  const character = fc.oneof(
    { weight: 5, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
    {
      weight: 5,
      arbitrary: fc.constantFrom(
        '/',
        '%',
        '.',
        '+',
        ' ',
        '?',
        '#',
        '&',
        ';',
        '\\',
        '"',
        '%2F',
        '%25',
        '😀',
        '__proto__',
        'é',
        'e\u0301',
      ),
    },
  )
  const ids = fc
    .array(character, { minLength: 1, maxLength: 20 })
    .map((parts) => parts.join(''))
    .filter((id) => !/\p{Cc}/u.test(id) && id !== '.' && id !== '..')

  test('is the same in a body, in every path, in the query and in Location', async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(ids, async (id) => {
        run++
        const text = `Kettle ${run}`
        const stored = await post({ id, text })
        expect(stored.json().id).toBe(id)
        const path = `/documents/${encodeURIComponent(id)}`
        expect(stored.headers.location).toBe(path)
        expect((await recording.app.inject(path)).json().id).toBe(id)
        expect((await recording.app.inject(`${path}/text`)).body).toBe(text)
        expect((await recording.app.inject(`${path}/duplicates`)).json().document).toBe(id)
        expect(
          (await recording.app.inject(`${path}/comparison?with=${encodeURIComponent(id)}`)).statusCode,
        ).toBe(200)
        expect((await put(id, 'a', 'text/plain')).json()).toMatchObject({ id, status: 'replaced' })
        expect((await recording.app.inject({ method: 'DELETE', url: path })).statusCode).toBe(204)
        expect(await recording.count()).toBe(0)
      }),
      { seed: 20260131, numRuns: 200 },
    )
  })

  test.each(['a%252Fb', '%2e%2e%2f%2e%2e', '%252e', 'a;b=c', 'a+b', '%F0%9F%98%80'])(
    'in the path %s is decoded once',
    async (path) => {
      const id = decodeURIComponent(path)
      await post({ id, text: 'a' })
      expect((await recording.app.inject(`/documents/${path}`)).json().id).toBe(id)
    },
  )

  test('may be "." and "..", for clients that do not fold the path', async () => {
    const port = await listen(recording.app)
    for (const id of ['.', '..']) {
      await post({ id, text: 'a' })
      const { answer } = parseAnswer(
        await exchange(port, [`GET /documents/${id} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`]),
      )
      expect(JSON.parse(answer.body).id).toBe(id)
    }
  })

  test('may have 512 characters of four bytes, and no more', async () => {
    const id = '😀'.repeat(512)
    await post({ id, text: 'a' })
    expect((await recording.app.inject(`/documents/${encodeURIComponent(id)}`)).json().id).toBe(id)
    expect((await recording.app.inject(`/documents/${encodeURIComponent(`${id}a`)}`)).statusCode).toBe(400)
    const slashes = '/'.repeat(512)
    await post({ id: slashes, text: 'a' })
    expect((await recording.app.inject(`/documents/${encodeURIComponent(slashes)}/text`)).body).toBe('a')
  })
})

describe('reading', () => {
  test('a document answers all that the service knows of it', async () => {
    await post({ id: 'a', text: 'a', metadata: [1] })
    expect((await recording.app.inject('/documents/a')).json()).toEqual(
      await recording.services.documents.get('a'),
    )
    expect((await recording.app.inject('/documents')).json()).toEqual(
      await recording.services.documents.list({ limit: 50, cursor: null }),
    )
  })

  test('a text answers plain text in UTF-8 that no browser takes for anything else', async () => {
    await post({ id: 'a', text: '<script>é</script>' })
    const answer = await recording.app.inject('/documents/a/text')
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    expect(answer.body).toBe('<script>é</script>')
  })

  test('comparison and analysis answer all that the services say', async () => {
    const pages = JSON.stringify({ a: { text: 'a' }, b: { html: 'b', url: 'https://example.com/b' } })
    const compared = await recording.app.inject({
      method: 'POST',
      url: '/comparison',
      headers: json,
      payload: pages,
    })
    expect(compared.json()).toEqual(
      await recording.services.comparison.ofPages(
        { url: null, content: { kind: 'text', characters: 'a' } },
        { url: 'https://example.com/b', content: { kind: 'html', characters: 'b' } },
      ),
    )
    const analyzed = await recording.app.inject({
      method: 'POST',
      url: '/analysis?url=https://example.com/',
      headers: { 'content-type': 'text/plain' },
      payload: 'a',
    })
    expect(analyzed.json()).toEqual(
      await recording.services.comparison.analyze({
        url: 'https://example.com/',
        content: { kind: 'text', bytes: Buffer.from('a'), contentType: 'text/plain' },
      }),
    )
  })

  test('deleting answers 204 without a body, whatever Content-Type the client sends', async () => {
    await post({ id: 'a', text: 'a' })
    const answer = await recording.app.inject({ method: 'DELETE', url: '/documents/a', headers: json })
    expect([answer.statusCode, answer.body]).toEqual([204, ''])
  })
})

describe('what a client could not get back as it sent it', () => {
  test.each(['1e999', '[12345678901234567890]', '{"a": {"b": -9007199254740993}}'])(
    'metadata with the number in %s is refused, and nothing is stored',
    async (metadata) => {
      const answer = await recording.app.inject({
        method: 'POST',
        url: '/documents',
        headers: { 'content-type': 'application/json' },
        payload: `{"id": "a", "text": "some words", "metadata": ${metadata}}`,
      })
      expect(answer.statusCode).toBe(400)
      expect(answer.json().errors).toMatchObject([{ pointer: '/metadata' }])
      expect(await recording.count()).toBe(0)
    },
  )

  test.each(['.', '..'])(
    'the id %s has a Location that no client takes for a step in the path',
    async (id) => {
      const answer = await recording.app.inject({
        method: 'POST',
        url: '/documents',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ id, text: 'some words' }),
      })
      expect(answer.headers.location).toBe(`/documents/${id.replaceAll('.', '%2E')}`)
    },
  )
})
