import { gzipSync } from 'node:zlib'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DittographError, type ErrorCode } from '../../src/errors.ts'
import {
  bodyLimitBytes,
  diskBroken,
  diskFull,
  exchange,
  listen,
  parseAnswer,
  type RecordingApp,
  recordingApp,
} from './fixture.ts'

let recording: RecordingApp
let port: number
beforeAll(async () => {
  recording = await recordingApp()
  port = await listen(recording.app)
})
afterAll(() => recording.close())

const json = { 'content-type': 'application/json' }
const ndjson = { 'content-type': 'application/x-ndjson' }
const secret = 'SECRETPAGECONTENT'

const post = (payload: string | Buffer, headers: Record<string, string> = json, url = '/documents') =>
  ({ method: 'POST', url, headers, payload }) satisfies InjectOptions
const get = (url: string) => ({ method: 'GET', url }) satisfies InjectOptions
const page = (more: object) => JSON.stringify({ text: secret, ...more })

/** Every way to fail by one request: what it is, the request, the status and the code. */
const failures: readonly [string, InjectOptions, number, string][] = [
  ['a path that does not exist', get('/nothing/here'), 404, 'route_not_found'],
  ['a file of the UI that does not exist', get('/docs/static/none.js'), 404, 'route_not_found'],
  ['an unknown kind of problem', get('/problems/none'), 404, 'route_not_found'],
  ['a kind of problem named like a property', get('/problems/toString'), 404, 'route_not_found'],
  ['a method that a path has not', { method: 'PATCH', url: '/documents/a' }, 405, 'method_not_allowed'],
  ['a method that no path has', { method: 'OPTIONS', url: '/documents' }, 405, 'method_not_allowed'],
  ['a path that is badly encoded', get('/documents/%zz'), 400, 'invalid_request'],
  ['a path that is not UTF-8', get('/documents/%ff'), 400, 'invalid_request'],
  ['a query that is badly encoded', get('/documents?url=%zz'), 400, 'invalid_parameter'],
  ['an unknown document', get('/documents/none'), 404, 'document_not_found'],
  ['the text of an unknown document', get('/documents/none/text'), 404, 'document_not_found'],
  ['deleting an unknown document', { method: 'DELETE', url: '/documents/none' }, 404, 'document_not_found'],
  ['near-duplicates of an unknown document', get('/documents/none/duplicates'), 404, 'document_not_found'],
  ['comparing an unknown document', get('/documents/none/comparison?with=b'), 404, 'document_not_found'],
  ['comparing with nothing', get('/documents/none/comparison'), 400, 'invalid_parameter'],
  ['an id with a control character', get('/documents/%00'), 400, 'invalid_parameter'],
  ['an empty id', get('/documents/'), 400, 'invalid_parameter'],
  ['an id of 513 characters', get(`/documents/${'a'.repeat(513)}`), 400, 'invalid_parameter'],
  ['an id of 10,000 characters', get(`/documents/${'a'.repeat(10_000)}`), 400, 'invalid_parameter'],
  ['an unknown parameter', get('/documents?sort=id'), 400, 'invalid_parameter'],
  ['an unknown parameter of a health check', get('/health/live?verbose=1'), 400, 'invalid_parameter'],
  ['a repeated parameter', get('/documents?limit=1&limit=2'), 400, 'invalid_parameter'],
  ['a parameter out of range', get('/documents?limit=1001'), 400, 'invalid_parameter'],
  ['a URL parameter that is not absolute', get('/documents?url=example.com'), 400, 'invalid_parameter'],
  ['an algorithm that is none', get('/documents/a/duplicates?algorithm=x'), 400, 'invalid_parameter'],
  [
    'an option that the algorithm does not use',
    get('/documents/a/duplicates?threshold=0.5'),
    400,
    'invalid_parameter',
  ],
  [
    'a threshold below the least',
    get('/documents/a/duplicates?algorithm=dice&threshold=0.49'),
    400,
    'invalid_parameter',
  ],
  [
    'a threshold below the least while storing',
    post(page({}), json, '/documents?duplicates=1&algorithm=jaccard&threshold=0.1'),
    400,
    'invalid_parameter',
  ],
  [
    'a body without a type',
    { method: 'POST', url: '/documents', payload: Buffer.from(secret) },
    415,
    'unsupported_media_type',
  ],
  ['no body and no type', { method: 'POST', url: '/documents' }, 415, 'unsupported_media_type'],
  ['a type that is none', post(secret, { 'content-type': 'pdf' }), 415, 'unsupported_media_type'],
  [
    'a type that is not read',
    post(secret, { 'content-type': 'application/pdf' }),
    415,
    'unsupported_media_type',
  ],
  ['a ZIP file', post(secret, { 'content-type': 'application/zip' }), 415, 'unsupported_media_type'],
  ['a WARC file without a record', post(secret, { 'content-type': 'application/warc' }), 400, 'invalid_body'],
  [
    'NDJSON where one document is put',
    { method: 'PUT', url: '/documents/a', headers: ndjson, payload: page({}) },
    415,
    'unsupported_media_type',
  ],
  [
    'a raw page where two are compared',
    post(secret, { 'content-type': 'text/html' }, '/comparison'),
    415,
    'unsupported_media_type',
  ],
  [
    'a type of page that is not read',
    post(JSON.stringify({ contentBase64: '', contentType: 'image/png' })),
    415,
    'unsupported_media_type',
  ],
  [
    'an encoding that is not read',
    post(secret, { ...json, 'content-encoding': 'zstd' }),
    415,
    'unsupported_encoding',
  ],
  ['two encodings', post(secret, { ...json, 'content-encoding': 'gzip, gzip' }), 415, 'unsupported_encoding'],
  ['a false encoding', post(page({}), { ...json, 'content-encoding': 'gzip' }), 400, 'invalid_body'],
  [
    'an encoding cut short',
    post(gzipSync(page({})).subarray(0, -6), { ...json, 'content-encoding': 'gzip' }),
    400,
    'invalid_body',
  ],
  ['a body that is too large', post(' '.repeat(bodyLimitBytes + 1)), 413, 'body_too_large'],
  [
    'a body that is too large once decoded',
    post(gzipSync(' '.repeat(bodyLimitBytes + 1)), { ...json, 'content-encoding': 'gzip' }),
    413,
    'body_too_large',
  ],
  ['an empty body', post(''), 400, 'invalid_body'],
  ['JSON cut short', post(page({}).slice(0, -3)), 400, 'invalid_body'],
  ['JSON that is none', post(`{"text": ${secret}`), 400, 'invalid_body'],
  ['JSON that is not UTF-8', post(Buffer.from([0x22, 0xff, 0x22])), 400, 'invalid_body'],
  ['JSON that is no object', post(JSON.stringify([secret])), 400, 'invalid_body'],
  ['JSON in depth', post('['.repeat(20_000)), 400, 'invalid_body'],
  ['an unknown property', post(page({ body: secret })), 400, 'invalid_body'],
  ['a property named __proto__', post(`{"text":"${secret}","__proto__":{"limit":1}}`), 400, 'invalid_body'],
  ['a property named constructor', post(page({ constructor: {} })), 400, 'invalid_body'],
  ['a document without content', post('{"id":"a"}'), 400, 'invalid_body'],
  ['a document with two contents', post(page({ html: secret })), 400, 'invalid_body'],
  ['a numeric id', post(page({ id: 1 })), 400, 'invalid_body'],
  ['an id with a lone surrogate', post(`{"text":"a","id":"\\ud800"}`), 400, 'invalid_body'],
  [
    'another id than that of the path',
    { method: 'PUT', url: '/documents/a', headers: json, payload: page({ id: 'b' }) },
    400,
    'invalid_body',
  ],
  ['a relative URL', post(page({ url: '/a' })), 400, 'invalid_body'],
  [
    'a URL of 8,193 characters',
    post(page({ url: `https://a.example/${'a'.repeat(8175)}` })),
    400,
    'invalid_body',
  ],
  ['a date that is none', post(page({ fetchedAt: '2026-02-30T00:00:00Z' })), 400, 'invalid_body'],
  [
    'base64 that is none',
    post(JSON.stringify({ contentBase64: 'a b=', contentType: 'text/html' })),
    400,
    'invalid_body',
  ],
  [
    'metadata that is too large',
    post(page({ metadata: 'a'.repeat(65_536) }), json, '/analysis'),
    413,
    'body_too_large',
  ],
  [
    'metadata that is too deep',
    post(`{"text":"a","metadata":${'['.repeat(65)}${']'.repeat(65)}}`),
    400,
    'invalid_body',
  ],
  ['parameters of a raw page with JSON', post(page({}), json, '/documents?id=a'), 400, 'invalid_parameter'],
  [
    'parameters of a raw page with NDJSON',
    post(page({}), ndjson, '/documents?url=https://a.example/'),
    400,
    'invalid_parameter',
  ],
  [
    'options of a search that is not made',
    post(page({}), json, '/documents?site=same'),
    400,
    'invalid_parameter',
  ],
  [
    'a bad option before a stream',
    post(page({}), ndjson, '/documents?duplicates=101'),
    400,
    'invalid_parameter',
  ],
  ['NDJSON without a line', post('\n \n\r\n', ndjson), 400, 'invalid_body'],
  [
    'NDJSON with a false encoding',
    post(page({}), { ...ndjson, 'content-encoding': 'br' }),
    400,
    'invalid_body',
  ],
  ['a pair of which one is missing', post('{"a":{"text":"a"}}', json, '/comparison'), 400, 'invalid_body'],
]

const expectProblem = (
  answer: { status: number; headers: Record<string, unknown>; body: string },
  status: number,
  code: string,
) => {
  expect({ status: answer.status, type: answer.headers['content-type'] }).toEqual({
    status,
    type: 'application/problem+json',
  })
  const problem = JSON.parse(answer.body)
  expect(problem).toMatchObject({ type: `/problems/${code}`, status, code })
  for (const name of ['title', 'detail']) expect(problem[name]).toMatch(/\w/)
  const requestId = String(answer.headers['x-request-id'])
  expect(requestId).toMatch(/^[\x21-\x7e]{1,128}$/)
  expect(problem.instance).toBe(`urn:request:${encodeURIComponent(requestId)}`)
  expect(Object.keys(problem).filter((name) => name !== 'errors')).toEqual([
    'type',
    'title',
    'status',
    'detail',
    'instance',
    'code',
  ])
  expect(answer.body).not.toMatch(/SECRET|node_modules|\.[jt]s\b|\n\s*at |SELECT|sqlite/i)
}

describe('every error is problem+json', () => {
  test.each(failures)('%s', async (_name, request, status, code) => {
    const answer = await recording.app.inject(request)
    expectProblem({ status: answer.statusCode, headers: answer.headers, body: answer.body }, status, code)
    expect(await recording.count()).toBe(0)
  })

  const put = (id: string, payload: string | Buffer) =>
    ({
      method: 'PUT',
      url: `/documents/${id}`,
      headers: { 'content-type': 'text/plain' },
      payload,
    }) satisfies InjectOptions

  /** How a service comes to refuse what HTTP found nothing wrong with, and what it then says. */
  const refusals: readonly [
    ErrorCode,
    number,
    string,
    (subject: RecordingApp) => Promise<LightMyRequestResponse>,
  ][] = [
    [
      'store_full',
      507,
      diskFull.message,
      async (subject) => {
        subject.diskFailure = diskFull
        return subject.app.inject(post(page({})))
      },
    ],
    [
      'store_busy',
      503,
      'The store is closing',
      async (subject) => {
        await subject.closeServices()
        return subject.app.inject(post(page({})))
      },
    ],
    [
      'overloaded',
      503,
      'Too many bodies are being read at this moment',
      async (subject) => {
        const release = subject.hold()
        const full = Buffer.alloc(bodyLimitBytes, 'a')
        const waiting = Array.from({ length: 8 }, (_, i) => subject.app.inject(put(`n${i}`, full)))
        await expect.poll(() => subject.calls.batches).toHaveLength(8)
        const answer = await subject.app.inject(put('more', full))
        release()
        await Promise.all(waiting)
        return answer
      },
    ],
    [
      'invalid_cursor',
      400,
      'cursor must be a nextCursor of an earlier answer, unchanged',
      (subject) => subject.app.inject(get('/documents?cursor=x')),
    ],
    [
      'text_not_kept',
      404,
      'This document was stored with KEEP_TEXT=false: post it again',
      async (subject) => {
        await subject.app.inject(put('a', secret))
        return subject.app.inject(get('/documents/a/text'))
      },
    ],
  ]
  test.each(refusals)('an error %s of a service', async (code, status, detail, provoke) => {
    const subject = await recordingApp({ settings: { KEEP_TEXT: 'false' } })
    const answer = await provoke(subject)
    await subject.close()
    expectProblem({ status: answer.statusCode, headers: answer.headers, body: answer.body }, status, code)
    expect(answer.json().detail).toBe(detail)
    expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined)
  })

  test.each([
    new Error('SQLITE_ERROR: SELECT * FROM secret at /home/me/store.ts:1'),
    'a text that was thrown',
    null,
    new DittographError('scheme_mismatch', 'At /home/me/database.db'),
  ])('an unexpected error (%s) says nothing of itself', async (error) => {
    const failing = await recordingApp()
    failing.app.get('/failing', async () => {
      throw error
    })
    const answer = await failing.app.inject(get('/failing'))
    await failing.close()
    expectProblem(
      { status: answer.statusCode, headers: answer.headers, body: answer.body },
      500,
      'internal_error',
    )
    expect(answer.body).not.toContain('/home/me')
  })

  test('an unexpected error is logged once, with its cause and the request id; a fault of the client is not', async () => {
    const lines: string[] = []
    const logged = await recordingApp({
      logger: pino({ level: 'warn' }, { write: (line) => lines.push(line) }),
    })
    logged.diskFailure = diskBroken
    const answer = await logged.app.inject({ ...post(page({})), headers: { ...json, 'x-request-id': 'r1' } })
    await logged.app.inject(post('{'))
    await logged.app.inject(get('/documents/none'))
    await logged.close()
    expect(answer.statusCode).toBe(500)
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 50,
        reqId: 'r1',
        err: expect.objectContaining({ message: diskBroken.message }),
      }),
    ])
  })

  test('a store that does not answer makes the service not ready', async () => {
    recording.diskFailure = diskBroken
    const answer = await recording.app.inject(get('/health/ready'))
    recording.diskFailure = null
    expectProblem(
      { status: answer.statusCode, headers: answer.headers, body: answer.body },
      503,
      'store_busy',
    )
  })

  const malformed: readonly [string, string, number, string][] = [
    ['what is not HTTP', 'SECRET\r\n\r\n', 400, 'invalid_request'],
    ['a version that is none', 'GET / HTTP/9.9\r\n\r\n', 400, 'invalid_request'],
    [
      'two lengths',
      'POST /documents HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
      'invalid_request',
    ],
    ['no host', 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'invalid_request'],
    [
      'a path with bytes that are not encoded',
      'GET /documents/é HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'a head that is too large',
      `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(200_000)}\r\n\r\n`,
      431,
      'header_too_large',
    ],
    ['a proxy request', 'CONNECT a.example:443 HTTP/1.1\r\nhost: a\r\n\r\n', 405, 'method_not_allowed'],
  ]
  test.each(malformed)('%s', async (_name, request, status, code) => {
    const { answer } = parseAnswer(await exchange(port, [request]))
    expectProblem(answer, status, code)
  })

  test('a body that ends before its length does', async () => {
    const head =
      'PUT /documents/a HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n'
    const { answer } = parseAnswer(await exchange(port, [head, '{"text":"a"}'], { end: true }))
    expectProblem(answer, 400, 'invalid_request')
    expect(await recording.count()).toBe(0)
  })

  test('a request that takes too long to arrive', async () => {
    const slow = await recordingApp({ requestTimeoutMs: 200 })
    const slowPort = await listen(slow.app)
    const head =
      'PUT /documents/a HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n'
    const { answer } = parseAnswer(await exchange(slowPort, [head, '{"text"']))
    await slow.close()
    expectProblem(answer, 408, 'request_timeout')
  })

  test('an unknown expectation is no error', async () => {
    const request = 'GET /health/live HTTP/1.1\r\nhost: a\r\nexpect: tea\r\nconnection: close\r\n\r\n'
    expect(parseAnswer(await exchange(port, [request])).answer.status).toBe(200)
  })
})

describe('a problem', () => {
  test('of a value in the body points to it', async () => {
    const pointers = async (payload: string, url = '/documents') => {
      const { errors } = (await recording.app.inject(post(payload, json, url))).json()
      return errors.map(({ pointer }: { pointer: string }) => pointer)
    }
    expect(await pointers('{"text":1}')).toEqual(['/text'])
    expect(await pointers('{"text":"a","b/~c":1}')).toEqual(['/b~1~0c'])
    expect(await pointers('{"text":"a"}', '/documents?b/~c=1')).toEqual(['b/~c'])
    expect(await pointers('{"a":{"text":"a"}}', '/comparison')).toEqual(['/b'])
    expect(await pointers('{"a":{"text":"a"},"b":{"text":"a","id":"a"}}', '/comparison')).toEqual(['/b/id'])
    expect(await pointers('{"a":{"text":"a"},"b":{"text":"a","url":"b"}}', '/comparison')).toEqual(['/b/url'])
    expect(await pointers('{"a":{},"b":{"text":"a"}}', '/comparison')).toEqual(['/a'])
  })

  test('repeats no more than 100 characters of a name that the client made up', async () => {
    const answer = await recording.app.inject(post(JSON.stringify({ ['n'.repeat(5000)]: 1 })))
    expect(answer.json().errors[0].pointer).toBe(`/${'n'.repeat(100)}…`)
    expect(answer.body.length).toBeLessThan(1000)
  })

  test('has a type that explains it', async () => {
    for (const code of new Set(failures.map(([, , , code]) => code))) {
      const answer = await recording.app.inject(get(`/problems/${code}`))
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(answer.body).toContain(code)
    }
  })
})
