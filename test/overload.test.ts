import { readFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request as startRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomWords, seededRandom } from './fixture/pages.ts'
import { type Server, startServer } from './fixture/server.ts'

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }

const clients = 80
const requestsOfEach = 6

const agent = new Agent({ keepAlive: true, maxSockets: clients })

let server: Server
beforeAll(async () => {
  // Memory for bodies is eight times the limit: 2 MiB, where all clients together want 10.
  server = await startServer({ DATABASE_URL: 'sqlite::memory:', BODY_LIMIT_BYTES: String(256 * 1024) })
})
afterAll(async () => {
  agent.destroy()
  await server.stop()
})

const send = (
  method: string,
  path: string,
  type = 'text/plain',
  body?: Buffer,
  by = agent,
): Promise<Answer> => {
  const { hostname, port } = new URL(server.url)
  const headers = body === undefined ? {} : { 'content-type': type, 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const request = startRequest({ hostname, port, method, path, headers, agent: by }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
}

const residentMebibytes = (): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1]) / 1024

const random = seededRandom(20_261_201)
const bodyOf = (): Buffer => Buffer.from(randomWords(random, 18_000).join(' '))
const bodies = Array.from({ length: 10 }, bodyOf)

/** Asks for the health of the service again and again, on a connection of its own, until it is stopped. */
const askHealth = () => {
  const own = new Agent({ keepAlive: true, maxSockets: 1 })
  let isStopped = false
  let answered = 0
  const asking = (async () => {
    while (!isStopped) {
      expect((await send('GET', '/health/live', undefined, undefined, own)).status).toBe(200)
      answered += 1
    }
  })()
  return async (): Promise<number> => {
    isStopped = true
    await asking
    own.destroy()
    return answered
  }
}

test('more clients than there is memory for get 2xx or 503, nothing is lost, and all is well afterwards', async () => {
  const before = residentMebibytes()
  const stopAsking = askHealth()
  const stored: string[] = []
  const refused: Answer[] = []
  const runClient = async (client: number): Promise<void> => {
    for (let i = 0; i < requestsOfEach; i++) {
      const id = `c${client}-${i}`
      const answer = await send('PUT', `/documents/${id}`, 'text/plain', bodies[i % bodies.length])
      if (answer.status === 201) stored.push(id)
      else refused.push(answer)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)))
  expect(await stopAsking()).toBeGreaterThan(5)

  expect(refused.length).toBeGreaterThan(0)
  for (const { status, headers, body } of refused) {
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(JSON.parse(body).code).toBe('overloaded')
  }
  expect(residentMebibytes() - before).toBeLessThan(300)

  for (const id of stored) expect((await send('GET', `/documents/${id}`)).status).toBe(200)
  const { body } = await send('GET', '/metrics')
  expect(Number(/^dittograph_documents (\d+)$/m.exec(body)?.[1])).toBe(stored.length)
  for (let i = 0; i < 20; i++)
    expect((await send('PUT', `/documents/after-${i}`, 'text/plain', bodyOf())).status).toBe(201)
})

test('health is answered again and again while a batch of 20,000 lines is stored', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) =>
    JSON.stringify({ id: `line-${i}`, text: randomWords(random, 40, 1000).join(' ') }),
  )
  const stopAsking = askHealth()
  const answer = await send('POST', '/documents', 'application/x-ndjson', Buffer.from(lines.join('\n')))
  expect(await stopAsking()).toBeGreaterThan(20)
  expect(answer.body).toMatch(/\{"summary":\{"stored":20000,"unchanged":0,"failed":0\}\}\n$/)
})
