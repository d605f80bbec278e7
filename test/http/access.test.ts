import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addKey, revokeKey } from '../../src/access/key-file.ts'
import { KeyRing } from '../../src/access/key-ring.ts'
import { loadConfig } from '../../src/config.ts'
import { Engine } from '../../src/engine/engine.ts'
import { buildApp } from '../../src/http/app.ts'
import { randomWords, seededRandom } from '../fixture/pages.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'
import { exchange, listen } from './fixture.ts'

type Operation = {
  readonly operationId: string
  readonly security?: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> }
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>
}
type Api = {
  readonly security: readonly object[]
  readonly components: { readonly securitySchemes: object }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'PATCH'

const temporary = temporaryDirectory()
const file = join(temporary.directory, 'keys.json')
let engine: Engine
let ring: KeyRing
let app: FastifyInstance
let api: Api
let operations: { readonly method: Method; readonly path: string; readonly operation: Operation }[]
const keys = { a: '', b: '', c: '' }

beforeAll(async () => {
  for (const collection of ['a', 'b', 'c'] as const)
    keys[collection] = (await addKey(file, { name: 'test', collection }, 0)).key
  const config = loadConfig({
    DATABASE_URL: `sqlite:${join(temporary.directory, 'main.db')}`,
    API_KEYS_FILE: file,
    INDEX_MEMORY_MB: '8',
    OPEN_COLLECTIONS: '3',
  })
  ring = await KeyRing.open(file, { onChange: () => undefined, onFailure: () => undefined })
  engine = await Engine.start(config, ring.collections())
  app = await buildApp(engine, {
    bodyLimitBytes: 2 ** 20,
    exactMinThreshold: 0.5,
    requestTimeoutMs: 60_000,
    keys: { ring, requestsPerMinute: 0 },
    logger: false,
    version: '0.0.0',
  })
  api = (await send('GET', '/openapi.json', bearer(keys.a))).json()
  operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase() as Method,
      path,
      operation,
    })),
  )
}, 60_000)
afterAll(async () => {
  await app.close()
  ring.close()
  await engine.close()
  temporary.remove()
})

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`me:${key}`).toString('base64')}` })

const send = (
  method: Method,
  url: string,
  headers: Record<string, string> = {},
  payload?: string,
): Promise<LightMyRequestResponse> =>
  app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })

const sendJson = (method: Method, url: string, key: string, body: unknown) =>
  send(method, url, { ...bearer(key), 'content-type': 'application/json' }, JSON.stringify(body))

const isOpen = ({ security }: Operation): boolean => security?.length === 0

/** Requests that nobody documents, but that are answered all the same. */
const undocumented: readonly (readonly [Method, string])[] = [
  ['GET', '/'],
  ['GET', '/docs'],
  ['GET', '/docs/'],
  ['GET', '/docs/json'],
  ['GET', '/docs/yaml'],
  ['GET', '/docs/uiConfig'],
  ['GET', '/docs/static/index.html'],
  ['GET', '/docs/static/swagger-ui.css'],
  ['GET', '/docs/static/nothing'],
  ['GET', '/nothing'],
  ['GET', '/health'],
  ['GET', '/health/live/'],
  ['GET', '/health/live/x'],
  ['GET', '/%zz'],
  ['GET', `/documents/${'x'.repeat(10_000)}`],
  ['GET', '/documents?limit=%ff'],
  ['POST', '/health/live'],
  ['PATCH', '/documents'],
  ['OPTIONS', '/documents'],
  ['DELETE', '/'],
]

const requests = (): { readonly method: Method; readonly url: string; readonly isOpen: boolean }[] => [
  ...operations.flatMap(({ method, path, operation }) => {
    const url = path.replace('{id}', 'x').replace('{code}', 'unauthorized')
    const one = { method, url, isOpen: isOpen(operation) }
    return method === 'GET' ? [one, { ...one, method: 'HEAD' as const }] : [one]
  }),
  ...undocumented.map(([method, url]) => ({ method, url, isOpen: false })),
]

describe('a service with keys', () => {
  test('publishes that each operation needs one as bearer token but those of health', () => {
    expect(api.components.securitySchemes).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } })
    expect(api.security).toEqual([{ bearer: [] }])
    for (const { operation } of operations) {
      expect([operation.operationId, operation.security]).toEqual([
        operation.operationId,
        ['isAlive', 'isReady'].includes(operation.operationId) ? [] : undefined,
      ])
      const statuses = Object.keys(operation.responses)
      expect([statuses.includes('401'), statuses.includes('429')]).toEqual(
        isOpen(operation) ? [false, false] : [true, true],
      )
    }
  })

  test('answers every request without a key with 401, but those that the document says are open', async () => {
    expect(requests().length).toBeGreaterThan(40)
    for (const { method, url, isOpen } of requests()) {
      const answer = await send(method, url)
      const place = `${method} ${url.slice(0, 60)}`
      if (isOpen) {
        expect([place, answer.statusCode]).toEqual([place, 200])
        continue
      }
      expect([place, answer.statusCode]).toEqual([place, 401])
      expect(answer.headers['content-type']).toBe('application/problem+json')
      expect([answer.headers['www-authenticate']].flat()[0]).toBe('Bearer realm="dittograph"')
      expect(answer.headers['x-request-id']).toMatch(/./)
      if (method !== 'HEAD') expect(answer.json()).toMatchObject({ status: 401, code: 'unauthorized' })
    }
  })

  test('answers no request with 401 that comes with a key', async () => {
    for (const { method, url } of requests())
      expect([method, url, (await send(method, url, bearer(keys.c))).statusCode]).not.toEqual([
        method,
        url,
        401,
      ])
    expect((await send('GET', '/nothing', bearer(keys.c))).statusCode).toBe(404)
    expect((await send('GET', '/documents', { authorization: `bearer   ${keys.c} ` })).statusCode).toBe(200)
  })

  test('takes a key that is wrong in any way for none', async () => {
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      `Bearer ${keys.a}x`,
      `Bearer ${keys.a.slice(0, -1)}`,
      `Bearer x${keys.a}`,
      `Bearer ${keys.a.toLowerCase()}`,
      `Bearer ${keys.a} ${keys.b}`,
      `Bearer ${keys.a},${keys.b}`,
      `Token ${keys.a}`,
      keys.a,
      'Bearer undefined',
      'Bearer null',
      `Bearer ${'x'.repeat(20_000)}`,
      basic(keys.a).authorization,
    ]
    for (const authorization of wrong)
      expect([authorization, (await send('GET', '/documents', { authorization })).statusCode]).toEqual([
        authorization,
        401,
      ])
    expect((await send('GET', `/documents?key=${keys.a}`)).statusCode).toBe(401)
    expect((await send('GET', '/documents', { 'x-api-key': keys.a })).statusCode).toBe(401)
  })

  test('lets a browser read the documentation with a key as password, and do nothing else with it', async () => {
    const refused = await send('GET', '/docs/')
    expect(refused.headers['www-authenticate']).toEqual([
      'Bearer realm="dittograph"',
      'Basic realm="dittograph", charset="UTF-8"',
    ])
    for (const path of ['/docs/', '/docs/json', '/docs/static/swagger-ui.css'])
      expect((await send('GET', path, basic(keys.a))).statusCode).toBe(200)
    expect((await send('GET', '/docs/', basic('wrong'))).statusCode).toBe(401)
    for (const { method, url, isOpen } of requests().filter(({ url }) => !url.startsWith('/docs')))
      if (!isOpen)
        expect([method, url, (await send(method, url, basic(keys.a))).statusCode]).toEqual([method, url, 401])
  })

  test('reads nothing of a body before the key is known', async () => {
    const port = await listen(app)
    const answer = await exchange(port, [
      'POST /documents HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n' +
        'Connection: close\r\n\r\n',
    ])
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('no longer lets a key in that was revoked, and lets one in that was added', async () => {
    const { id, key } = await addKey(file, { name: 'short', collection: 'c' }, 0)
    const status = async () => (await send('GET', '/documents', bearer(key))).statusCode
    while ((await status()) !== 200) await setTimeout(20)
    await revokeKey(file, id)
    while ((await status()) !== 401) await setTimeout(20)
    expect((await send('GET', '/documents', bearer(keys.c))).statusCode).toBe(200)
  }, 20_000)

  test('answers a key beyond its limit with 429 and when to come again, whatever the path; others go on', async () => {
    const { key } = await addKey(file, { name: 'slow', collection: 'c', requestsPerMinute: 4 }, 0)
    while (ring.find(key) === null) await setTimeout(20)
    const statuses: number[] = []
    for (const path of [
      '/documents',
      '/nothing',
      '/docs/',
      '/metrics',
      '/documents',
      '/nothing',
      '/docs/',
      '/%zz',
    ]) {
      const answer = await send('GET', path, bearer(key))
      statuses.push(answer.statusCode)
      if (answer.statusCode !== 429) continue
      expect(answer.json()).toMatchObject({
        code: 'rate_limited',
        detail: 'This key may send 4 requests a minute',
      })
      expect(answer.headers['retry-after']).toMatch(/^1[0-5]$/)
    }
    expect(statuses).toEqual([200, 404, 200, 200, 429, 429, 429, 429])
    expect((await send('GET', '/documents', bearer(keys.c))).statusCode).toBe(200)
    expect((await send('GET', '/health/live', bearer(key))).statusCode).toBe(200)
  })
})

describe('two collections', () => {
  const random = seededRandom(20_261_202)
  const words = randomWords(random, 300).join(' ')
  /** Stands in all that was stored in the collection b, and nowhere else. */
  const secret = 'zyxwvsecret'
  const onlyB = `${secret}-1`
  const secretSite = `${secret}.example`
  let joinOfA = ''
  let joinOfB = ''
  let clustersOfB = ''

  const finished = async (key: string, body: object): Promise<string> => {
    const { id } = (await sendJson('POST', '/jobs', key, body)).json()
    for (;;) {
      const job = (await send('GET', `/jobs/${id}`, bearer(key))).json()
      if (job.state === 'succeeded') return id
      expect(job.state).toBeOneOf(['queued', 'running'])
      await setTimeout(20)
    }
  }

  const snapshotOfB = async (): Promise<unknown> => {
    const paths = [
      '/documents',
      '/documents/shared',
      '/documents/shared/text',
      '/documents/shared/duplicates',
      '/jobs',
      `/jobs/${joinOfB}/pairs`,
      `/jobs/${clustersOfB}/clusters`,
    ]
    const answers: unknown[] = []
    for (const path of paths) answers.push((await send('GET', path, bearer(keys.b))).body)
    return answers
  }

  beforeAll(async () => {
    for (const [id, text] of [
      ['shared', `${words} ${secret}`],
      [onlyB, `${words} ${secret}`],
      [`${secret}-2`, words],
    ] as const) {
      const document = { id, text, url: `https://${secretSite}/${id}`, metadata: { secret } }
      expect((await sendJson('PUT', `/documents/${id}`, keys.b, document)).statusCode).toBe(201)
    }
    for (const id of ['shared', 'only-a', 'only-a-2'])
      expect((await sendJson('PUT', `/documents/${id}`, keys.a, { text: words })).statusCode).toBe(201)
    joinOfB = await finished(keys.b, { kind: 'join', algorithm: 'shingling' })
    clustersOfB = await finished(keys.b, { kind: 'clusters', job: joinOfB })
    joinOfA = await finished(keys.a, { kind: 'join', algorithm: 'shingling' })
  }, 60_000)

  test('with one id each give their own document, and neither is among the duplicates of the other', async () => {
    const texts = [keys.a, keys.b].map(
      async (key) => (await send('GET', '/documents/shared/text', bearer(key))).body,
    )
    expect(await Promise.all(texts)).toEqual([words, `${words} ${secret}`])
    for (const algorithm of [
      'identical',
      'shingling',
      'simhash',
      'combined',
      'site-aware',
      'jaccard',
      'cosine',
    ]) {
      const found = await send('GET', `/documents/shared/duplicates?algorithm=${algorithm}`, bearer(keys.a))
      const ids = found.json().duplicates.map(({ id }: { id: string }) => id)
      expect([algorithm, ids]).toEqual([algorithm, ['only-a', 'only-a-2']])
    }
    const pairs = await send('GET', `/jobs/${joinOfA}/pairs`, {
      ...bearer(keys.a),
      accept: 'application/x-ndjson',
    })
    expect(pairs.body.trim().split('\n')).toHaveLength(3)
  })

  test('no documented request shows or changes anything of the other one', async () => {
    const before = await snapshotOfB()
    expect(JSON.stringify(before)).toContain(onlyB)
    const valuesOfB: Record<string, readonly string[]> = {
      url: [`https://${secretSite}/${onlyB}`],
      site: ['any', secretSite],
      with: ['shared', onlyB],
      id: ['shared', onlyB],
    }
    const ownValues: Record<string, readonly string[]> = {
      url: ['https://a.example/x'],
      site: ['any'],
      id: ['shared', 'stored-by-a'],
    }
    const bodies: Record<string, readonly string[]> = {
      'application/json': [
        JSON.stringify({ text: words }),
        JSON.stringify({ a: { text: words }, b: { text: words } }),
        JSON.stringify({ kind: 'clusters', job: joinOfB }),
        JSON.stringify({ kind: 'join', algorithm: 'identical' }),
      ],
      'application/x-ndjson': [`${JSON.stringify({ id: 'n1', text: words })}\n`.repeat(2)],
      'text/plain': [words],
    }
    let count = 0
    const order = ['GET', 'POST', 'PUT', 'DELETE']
    const inOrder = operations.toSorted((x, y) => order.indexOf(x.method) - order.indexOf(y.method))
    for (const { method, path, operation } of inOrder) {
      // What a key stores it gets to see: that must not be taken for what is in the other collection.
      const values = method === 'POST' || method === 'PUT' ? ownValues : valuesOfB
      const ids = path.startsWith('/jobs') ? [joinOfB, clustersOfB] : (values.id ?? [])
      const required = operation.parameters?.filter((one) => one.in === 'query' && one.required) ?? []
      const optional = operation.parameters?.filter((one) => one.in === 'query' && !one.required) ?? []
      const base = required.map(({ name }) => `${name}=${encodeURIComponent(values[name]?.[0] ?? 'x')}`)
      const queries = [
        base,
        ...(optional.some(({ name }) => name === 'duplicates') ? [[...base, 'duplicates=100']] : []),
        ...[...required, ...optional].flatMap(({ name }) =>
          (values[name] ?? []).map((value) => [
            ...base.filter((one) => !one.startsWith(name)),
            `${name}=${encodeURIComponent(value)}`,
          ]),
        ),
      ]
      const contents = Object.keys(operation.requestBody?.content ?? {}).flatMap((type) =>
        (bodies[type] ?? []).map((body) => ({ type, body })),
      )
      for (const id of path.includes('{id}') ? ids : [''])
        for (const query of queries)
          for (const content of contents.length === 0 ? [null] : contents)
            for (const accept of ['application/json', 'application/x-ndjson']) {
              const url = `${path.replace('{id}', id).replace('{code}', 'unauthorized')}?${query.join('&')}`
              const headers = {
                ...bearer(keys.a),
                accept,
                ...(content === null ? {} : { 'content-type': content.type }),
              }
              const answer = await send(method, url, headers, content?.body)
              count += 1
              expect([method, url, answer.statusCode < 500]).toEqual([method, url, true])
              const shown = `${answer.body} ${JSON.stringify(answer.headers)}`
              // What the request itself named may be repeated, such as the id of a document that was put.
              if (!url.includes(secret))
                expect([method, url, shown.includes(secret)]).toEqual([method, url, false])
              if (method === 'GET' && [joinOfB, clustersOfB, onlyB].includes(id))
                expect([method, url, answer.statusCode]).toEqual([method, url, expect.toBeOneOf([400, 404])])
              for (const job of [joinOfB, clustersOfB])
                if (!url.includes(job))
                  expect([method, url, shown.includes(job)]).toEqual([method, url, false])
            }
    }
    expect(count).toBeGreaterThan(100)
    expect(await snapshotOfB()).toEqual(before)
  }, 60_000)

  test('refuse the cursors of each other, or read them as places among their own', async () => {
    for (const id of ['shared', 'only-a', 'only-a-2'])
      await sendJson('PUT', `/documents/${id}`, keys.a, { text: words })
    const pageOfB = (await send('GET', '/documents?limit=1', bearer(keys.b))).json()
    expect(pageOfB.nextCursor).toMatch(/./)
    const pageOfA = await send('GET', `/documents?cursor=${pageOfB.nextCursor}`, bearer(keys.a))
    expect(pageOfA.body).not.toContain(secret)
    const pairsOfB = (await send('GET', `/jobs/${joinOfB}/pairs?limit=1`, bearer(keys.b))).json()
    expect(pairsOfB.nextCursor).toMatch(/./)
    joinOfA = await finished(keys.a, { kind: 'join', algorithm: 'shingling' })
    const pairsOfA = await send('GET', `/jobs/${joinOfA}/pairs?cursor=${pairsOfB.nextCursor}`, bearer(keys.a))
    expect(pairsOfA.json()).toMatchObject({ status: 400, code: 'invalid_cursor' })
  }, 20_000)

  test('show figures of their own only, and none of the process', async () => {
    const metrics = async (key: string): Promise<string> => (await send('GET', '/metrics', bearer(key))).body
    const figuresOf = (text: string): string[] =>
      text.split('\n').filter((line) => !line.startsWith('#') && !line.includes('route="/metrics"'))
    const before = figuresOf(await metrics(keys.a))
    expect(before.filter((line) => /^(process|nodejs)_/.test(line))).toEqual([])
    await sendJson('PUT', `/documents/${secret}-3`, keys.b, { text: words })
    await send('GET', '/documents/shared/duplicates', bearer(keys.b))
    await send('GET', '/documents')
    expect(figuresOf(await metrics(keys.a))).toEqual(before)
    expect(await metrics(keys.b)).toContain('dittograph_documents 4\n')
  })
})
