import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { FastifyInstance } from 'fastify'
import supertest from 'supertest'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningServices } from '../../src/compose.ts'
import { buildApp } from '../../src/http/app.ts'
import { editWords, htmlPage, randomWords, seededRandom } from '../fixture/pages.ts'
import { only, openInMemory, options } from '../fixture/services.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

let running: RunningServices
let app: FastifyInstance
const start = async (settings: Readonly<Record<string, string>> = {}): Promise<void> => {
  running = await openInMemory(settings)
  app = await buildApp(only(running.services), {
    keys: null,
    bodyLimitBytes: 2 ** 20,
    exactMinThreshold: 0.5,
    requestTimeoutMs: 60_000,
    logger: false,
    version: '0.0.0',
  })
  await app.ready()
}
const stop = async (): Promise<void> => {
  await app.close()
  await running.close()
}
beforeEach(() => start())
afterEach(stop)

const random = seededRandom(20_260_131)
const words = randomWords(random, 600)
const page = htmlPage('Kettle', words)
const edited = htmlPage('Kettle', editWords(random, words, 4, 'block'))
const other = htmlPage('Anvil', randomWords(random, 600))

const request = () => supertest(app.server)
const putHtml = (id: string, html: string, query: Record<string, string | number> = {}) =>
  request()
    .put(`/documents/${encodeURIComponent(id)}`)
    .query(query)
    .type('text/html')
    .send(html)
const postLines = async (documents: readonly object[]) => {
  const answer = await request()
    .post('/documents')
    .type('application/x-ndjson')
    .buffer(true)
    .send(documents.map((document) => JSON.stringify(document)).join('\n'))
  return answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
const idsOf = (duplicates: readonly { id: string }[]) => duplicates.map(({ id }) => id)

describe('the loop of a crawler', () => {
  test('stores a page, and learns in the same answer what it nearly repeats', async () => {
    const first = await putHtml('a', page, { url: 'https://example.com/a', duplicates: 5 })
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({ id: 'a', site: 'example.com', status: 'created', duplicates: [] })
    expect(first.body.tokenCount).toBeGreaterThan(600)

    const second = await putHtml('b', edited, { url: 'https://example.com/b', duplicates: 5 })
    expect(idsOf(second.body.duplicates)).toEqual(['a'])
    expect(second.body.duplicates[0]).toMatchObject({ sameSite: true, identical: false })
    expect(second.body.duplicates[0].resemblance).toBeGreaterThan(0.8)

    const copy = await putHtml('c', page, { url: 'https://elsewhere.example/c' })
    expect(copy.body).toMatchObject({ identicalTo: 'a' })
    await putHtml('d', other)
    expect(idsOf((await request().get('/documents/a/duplicates')).body.duplicates).sort()).toEqual(['b', 'c'])
    const identical = await request().get('/documents/a/duplicates?algorithm=identical')
    expect(idsOf(identical.body.duplicates)).toEqual(['c'])
  })

  test('asks about a page without storing it', async () => {
    await putHtml('a', page)
    const answer = await request().post('/duplicates').type('text/html').send(edited)
    expect(answer.body.document).toBeNull()
    expect(idsOf(answer.body.duplicates)).toEqual(['a'])
    expect((await request().get('/documents')).body.documents).toHaveLength(1)
  })

  test('crawls a page again: its old text is not found any more, its new one is', async () => {
    await putHtml('a', page)
    await putHtml('old', edited)
    const again = await putHtml('a', other)
    expect([again.status, again.body.status]).toEqual([200, 'replaced'])
    expect(idsOf((await request().get('/documents/old/duplicates')).body.duplicates)).toEqual([])
    expect((await putHtml('a', other)).body.status).toBe('unchanged')
    await putHtml('new', other)
    expect(idsOf((await request().get('/documents/new/duplicates')).body.duplicates)).toEqual(['a'])
  })

  test('deletes a page, and it is gone from everywhere', async () => {
    await putHtml('a', page)
    await putHtml('b', page)
    expect((await request().delete('/documents/a')).status).toBe(204)
    expect((await request().delete('/documents/a')).status).toBe(404)
    expect((await request().get('/documents/a')).status).toBe(404)
    expect((await request().get('/documents/b')).body.identicalTo).toBeNull()
    expect(idsOf((await request().get('/documents/b/duplicates')).body.duplicates)).toEqual([])
  })
})

describe('a batch', () => {
  test('stores its good lines; of two with one id the last wins, and a line sent again is unchanged', async () => {
    const document = (id: string, html: string) => ({ id, html, url: `https://example.com/${id}` })
    const lines = await postLines([
      document('a', page),
      { id: 'x' },
      document('b', other),
      document('a', other),
    ])
    expect(lines.map(({ line, status, identicalTo }) => [line, status, identicalTo])).toEqual([
      [1, 'created', null],
      [2, 400, undefined],
      [3, 'created', null],
      [4, 'replaced', 'b'],
      [undefined, undefined, undefined],
    ])
    expect(lines.at(-1)).toEqual({ summary: { stored: 3, unchanged: 0, failed: 1 } })
    expect((await postLines([document('b', other)])).at(-1)).toEqual({
      summary: { stored: 0, unchanged: 1, failed: 0 },
    })
  })

  test('without ids and with one URL is one document', async () => {
    const [first, second] = await postLines([
      { url: 'https://example.com/a#top', html: page },
      { url: 'https://EXAMPLE.com:443/a', html: edited },
    ])
    expect(second.id).toBe(first.id)
    expect(
      (await request().get('/documents').query({ url: 'https://example.com/a' })).body.documents,
    ).toHaveLength(1)
  })

  test('lets other requests through while it is being stored', async () => {
    let isDone = false
    // So many that storing them takes far longer than the other requests, on a fast machine too.
    const count = 4000
    const batch = postLines(
      Array.from({ length: count }, (_, i) => ({ id: `n${i}`, text: randomWords(random, 400).join(' ') })),
    ).then((lines) => {
      isDone = true
      return lines
    })
    await expect.poll(async () => (await request().get('/documents/n0')).status).toBe(200)
    expect((await request().get('/health/live')).status).toBe(200)
    expect((await request().get('/documents/n0/duplicates')).status).toBe(200)
    expect(isDone).toBe(false)
    expect((await batch).at(-1)).toEqual({ summary: { stored: count, unchanged: 0, failed: 0 } })
  })
})

describe('answers', () => {
  test('say all that the services say', async () => {
    const { documents, nearDuplicates, comparison } = running.services
    await putHtml('a', page, { url: 'https://example.com/a' })
    await putHtml('b', edited)
    await putHtml('empty', '')
    for (const id of ['a', 'b', 'empty']) {
      expect((await request().get(`/documents/${id}`)).body).toEqual(await documents.get(id))
      expect((await request().get(`/documents/${id}/text`)).text).toBe(await documents.text(id))
      expect((await request().get(`/documents/${id}/duplicates`)).body).toEqual(
        await nearDuplicates.ofDocument(id, options()),
      )
      expect((await request().get(`/documents/${id}/comparison?with=a`)).body).toEqual(
        await comparison.ofDocuments(id, 'a'),
      )
    }
    const input = { url: null, content: { kind: 'html', characters: page } } as const
    expect((await request().post('/analysis').send({ html: page })).body).toEqual(
      await comparison.analyze(input),
    )
    expect((await request().get('/documents')).body).toEqual(
      await documents.list({ limit: 50, cursor: null }),
    )
  })

  test('give 64-bit values as hexadecimal texts of full length', async () => {
    await putHtml('a', page)
    const { body } = await request().get('/documents/a')
    expect(body.supershingles).toHaveLength(6)
    for (const supershingle of body.supershingles) expect(supershingle).toMatch(/^[0-9a-f]{16}$/)
    expect(body.simhash).toMatch(/^[0-9a-f]{96}$/)
  })

  test('walk a cluster page by page, each member once; a cursor fits its own query only', async () => {
    await postLines(
      Array.from({ length: 25 }, (_, i) => ({ id: `n${String(i).padStart(2, '0')}`, html: page })),
    )
    const found: string[] = []
    let cursor: string | null = null
    do {
      const query = { order: 'id', limit: 7, ...(cursor === null ? {} : { cursor }) }
      const { body } = await request().get('/documents/n00/duplicates').query(query)
      expect(body.duplicates.length).toBeLessThanOrEqual(7)
      found.push(...idsOf(body.duplicates))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(found).toEqual(Array.from({ length: 24 }, (_, i) => `n${String(i + 1).padStart(2, '0')}`))

    const listed = await request().get('/documents?limit=3')
    const { nextCursor } = listed.body
    expect((await request().get('/documents').query({ limit: 3, cursor: nextCursor })).status).toBe(200)
    for (const path of ['/documents/n00/duplicates', '/documents/n01/duplicates']) {
      const answer = await request().get(path).query({ cursor: nextCursor })
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_cursor'])
    }
    for (const bad of ['x', '!!!', 'W10', 'bnVsbA'])
      expect((await request().get('/documents').query({ cursor: bad })).body.code).toBe('invalid_cursor')
  })

  test('decode a raw page by its header, and tokens are those of the text', async () => {
    const bytes = Buffer.from('caf\xe9 \x93cr\xe8me\x94', 'latin1')
    const answer = await request()
      .post('/analysis')
      .set('content-type', 'text/plain; charset=iso-8859-1')
      .send(bytes)
    expect(answer.body.tokens).toEqual(['café', 'crème'])
    const encoded = { contentBase64: bytes.toString('base64'), contentType: 'text/plain; charset=iso-8859-1' }
    expect((await request().post('/analysis').send(encoded)).body).toEqual(answer.body)
  })

  test('go on while another program holds the database, and only writes are refused, for that time', async () => {
    await stop()
    const { directory, remove } = temporaryDirectory()
    const path = join(directory, 'test.db')
    await start({ DATABASE_URL: `sqlite:${path}` })
    await putHtml('a', page)
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    let isRefused = false
    const refusal = putHtml('b', edited).then((answer) => {
      isRefused = true
      return answer
    })
    for (const path of ['/documents/a', '/documents/a/duplicates', '/documents', '/health/live'])
      expect((await request().get(path)).status).toBe(200)
    expect(isRefused).toBe(false)
    const { status, headers, body } = await refusal
    expect([status, headers['retry-after'], body.code]).toEqual([503, '1', 'store_busy'])
    expect((await request().get('/health/ready')).body.code).toBe('store_busy')
    expect((await request().get('/documents/b')).status).toBe(404)
    other.exec('ROLLBACK')
    other.close()
    expect((await putHtml('b', edited, { duplicates: 1 })).body).toMatchObject({
      status: 'created',
      duplicates: [{ id: 'a' }],
    })
    await stop()
    remove()
    await start()
  })

  test('say that a text was not kept', async () => {
    await stop()
    await start({ KEEP_TEXT: 'false' })
    await putHtml('a', page)
    const answer = await request().get('/documents/a/text')
    expect([answer.status, answer.body.code]).toEqual([404, 'text_not_kept'])
    await putHtml('b', edited)
    const { body } = await request().get('/documents/a/duplicates')
    expect(body.duplicates).toEqual([expect.objectContaining({ id: 'b', resemblance: null })])
    const comparison = await request().get('/documents/a/comparison?with=b')
    expect(comparison.body).toMatchObject({ resemblance: null, diff: null })
  })

  test('the metrics count what is stored, and requests by their route', async () => {
    await putHtml('a', page)
    const { text } = await request().get('/metrics')
    expect(text).toMatch(/^dittograph_documents 1$/m)
    expect(text).toMatch(
      /dittograph_request_seconds_count\{route="\/documents\/:id",method="PUT",status="201"\} 1/,
    )
  })
})
