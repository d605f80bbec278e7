import { Readable } from 'node:stream'
import { pino } from 'pino'
import supertest from 'supertest'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  diskBroken,
  exchange,
  listen,
  open,
  parseAnswer,
  type RecordingApp,
  recordingApp,
} from './fixture.ts'

let recording: RecordingApp
beforeEach(async () => {
  recording = await recordingApp()
  await recording.app.ready()
})
afterEach(() => recording.close())

describe('x-request-id', () => {
  const idFor = async (given: string) =>
    (await recording.app.inject({ url: '/health/live', headers: { 'x-request-id': given } })).headers[
      'x-request-id'
    ]

  test.each(['a', 'trace-1/2:3', '!'.repeat(128)])('is taken over from the request: %s', async (given) => {
    expect(await idFor(given)).toBe(given)
  })

  test.each(['', 'a b', 'é', 'a\tb', '!'.repeat(129)])('is made anew instead of "%s"', async (given) => {
    expect(await idFor(given)).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('differs from request to request', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => recording.app.inject('/health/live')))
    expect(new Set(ids.map(({ headers }) => headers['x-request-id'])).size).toBe(20)
  })

  test('is on every answer, those without a problem included', async () => {
    for (const path of ['/health/live', '/metrics', '/docs', '/openapi.json', '/documents', '/none', '/%zz'])
      expect((await supertest(recording.app.server).get(path)).headers['x-request-id']).toMatch(/./)
  })
})

describe('methods', () => {
  test.each(['/health/live', '/health/ready', '/metrics', '/openapi.json', '/documents', '/docs'])(
    'HEAD %s has the head of GET and no body',
    async (path) => {
      const head = await supertest(recording.app.server).head(path)
      const get = await supertest(recording.app.server).get(path)
      expect(head.status).toBe(200)
      expect(head.headers['content-type']).toBe(get.headers['content-type'])
      expect(head.text).toBeFalsy()
    },
  )

  test.each([
    ['/documents/a', 'GET, HEAD, DELETE, PUT'],
    ['/documents', 'GET, HEAD, POST'],
    ['/documents/a%2Fb/duplicates?x=1', 'GET, HEAD'],
    ['/duplicates', 'POST'],
  ])('%s allows %s', async (path, allow) => {
    const answer = await supertest(recording.app.server).patch(path)
    expect([answer.status, answer.headers.allow]).toEqual([405, allow])
  })
})

describe('service routes', () => {
  test('health and metrics say what the services say', async () => {
    expect((await recording.app.inject('/health/live')).json()).toEqual({ status: 'ok' })
    expect((await recording.app.inject('/health/ready')).json()).toEqual({ status: 'ok' })
    const metrics = await recording.app.inject('/metrics')
    expect(metrics.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(metrics.body).toMatch(/^dittograph_documents 0$/m)
  })

  test('the process is alive while the store is not ready', async () => {
    recording.diskFailure = diskBroken
    expect((await recording.app.inject('/health/live')).statusCode).toBe(200)
    expect((await recording.app.inject('/health/ready')).statusCode).toBe(503)
  })

  test('requests are observed by the template of their route, never by their path', async () => {
    const paths = ['/documents/secret', '/documents/secret/text', '/secret', '/docs/static/index.css']
    for (const path of [...paths, '/documents/%zz']) await recording.app.inject(path)
    const { body } = await recording.app.inject('/metrics')
    const counted = [...body.matchAll(/^dittograph_request_seconds_count(\{.*\} \d+)$/gm)].map(
      (match) => match[1],
    )
    expect(counted).toEqual([
      '{route="/documents/:id",method="GET",status="404"} 1',
      '{route="/documents/:id/text",method="GET",status="404"} 1',
      '{route="none",method="GET",status="404"} 1',
      '{route="/docs/static/*",method="GET",status="200"} 1',
      '{route="none",method="GET",status="400"} 1',
    ])
    expect(body).not.toContain('secret')
  })

  test('the documentation, too, refuses a parameter that it does not know', async () => {
    for (const path of ['/docs', '/docs/', '/docs/json', '/docs/static/index.css']) {
      expect((await recording.app.inject(path)).statusCode).toBe(200)
      const answer = await recording.app.inject(`${path}?x=1`)
      expect([path, answer.statusCode, answer.json().code]).toEqual([path, 400, 'invalid_parameter'])
    }
  })

  test('the documentation loads nothing from elsewhere', async () => {
    const page = await recording.app.inject('/docs/')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    for (const [, link] of page.body.matchAll(/(?:src|href)="([^"]+)"/g))
      expect(link).not.toMatch(/^(https?:)?\/\//)
    const script = await recording.app.inject('/docs/static/swagger-initializer.js')
    expect(script.statusCode).toBe(200)
  })
})

describe('the log', () => {
  const loggedApp = async (level: string) => {
    const lines: string[] = []
    const logger = pino({ level, base: null, timestamp: false }, { write: (line) => lines.push(line) })
    const logged = await recordingApp({ logger })
    return { logged, lines: () => lines.map((line) => JSON.parse(line)) }
  }

  test('has one line for each request, without its query, its ids, its keys and its content', async () => {
    const { logged, lines } = await loggedApp('trace')
    const headers = { 'x-request-id': 'r', 'content-type': 'text/plain', authorization: 'Bearer SECRET' }
    const requests = [
      ['PUT', '/documents/SECRET?url=https://SECRET.example/', '/documents/:id', 201],
      ['PUT', '/documents/SECRET?SECRET=1', '/documents/:id', 400],
      ['GET', '/documents/SECRET/text', '/documents/:id/text', 200],
      ['GET', '/SECRET?SECRET', 'none', 404],
      ['GET', '/documents/%zz?SECRET', 'none', 400],
      ['GET', `/documents/${'SECRET'.repeat(2000)}`, 'none', 400],
    ] as const
    for (const [method, url] of requests)
      await logged.app.inject({ method, url, headers, ...(method === 'PUT' ? { payload: 'SECRET' } : {}) })
    await logged.close()
    const debug = 20
    expect(lines()).toEqual(
      requests.map(([method, , route, status]) => ({
        level: debug,
        reqId: 'r',
        route,
        method,
        status,
        milliseconds: expect.any(Number),
        msg: 'A request was answered',
      })),
    )
    expect(JSON.stringify(lines())).not.toContain('SECRET')
  })

  test('has no line for a request above the level debug', async () => {
    const { logged, lines } = await loggedApp('info')
    await logged.app.inject('/health/live')
    await logged.app.inject('/none')
    await logged.close()
    expect(lines()).toEqual([])
  })

  test('has an answer that broke off by its own fault, with the cause, and none that its client left', async () => {
    const { logged, lines } = await loggedApp('info')
    let goOn = () => {}
    async function* brokenAnswer() {
      yield 'begun'
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      throw new Error('No way on')
    }
    logged.app.get('/broken', async (_request, reply) => reply.send(Readable.from(brokenAnswer())))
    const port = await listen(logged.app)
    const ask = async () => {
      const connection = open(port)
      connection.socket.write('GET /broken HTTP/1.1\r\nhost: a\r\n\r\n')
      await expect.poll(() => connection.received().toString()).toContain('begun')
      return connection
    }
    const left = await ask()
    left.socket.destroy()
    await left.closed
    const broken = await ask()
    goOn()
    await broken.closed
    await logged.close()
    const ofRequests = lines().filter((line) => 'reqId' in line)
    expect(ofRequests).toEqual([
      expect.objectContaining({ level: 50, err: expect.objectContaining({ message: 'No way on' }) }),
    ])
  })
})

describe('closing', () => {
  test('finishes the answer under way and then closes its connection, which was kept alive', async () => {
    const release = recording.hold()
    const port = await listen(recording.app)
    const { socket, closed, received } = open(port)
    socket.write(
      'PUT /documents/a HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\na',
    )
    await expect.poll(() => recording.calls.batches).toHaveLength(1)
    const closing = recording.app.close()
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    await closing
    await closed
    expect(parseAnswer(received()).answer.status).toBe(201)
    expect(await recording.services.documents.text('a')).toBe('a')
  })

  test('still answers a request that comes in on an open connection', async () => {
    const release = recording.hold()
    const port = await listen(recording.app)
    const { socket, closed, received } = open(port)
    socket.write(
      'PUT /documents/a HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\na',
    )
    await expect.poll(() => recording.calls.batches).toHaveLength(1)
    const closing = recording.app.close()
    socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n')
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    await closing
    await closed
    const { rest } = parseAnswer(received())
    expect(parseAnswer(rest).answer).toMatchObject({ status: 200, headers: { connection: 'close' } })
  })
})

test('one connection serves many requests, errors among them', async () => {
  const port = await listen(recording.app)
  const paths = ['/health/live', '/none', '/documents/%zz', '/documents?limit=0', '/health/live']
  const requests = paths.map(
    (path, i) =>
      `GET ${path} HTTP/1.1\r\nhost: a\r\n${i === paths.length - 1 ? 'connection: close\r\n' : ''}\r\n`,
  )
  let rest = await exchange(port, [requests.join('')])
  const statuses: number[] = []
  while (rest.length > 0) {
    const parsed = parseAnswer(rest)
    statuses.push(parsed.answer.status)
    rest = parsed.rest
  }
  expect(statuses).toEqual([200, 404, 400, 400, 200])
})
