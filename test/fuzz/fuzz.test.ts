import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Api, type FuzzRequest, readApi } from './contract.ts'
import {
  bytesInAnyCharset,
  damagedCoding,
  hostileArchive,
  hostileHtml,
  hostileLines,
} from './hostile-bytes.ts'
import { contractRequests, escaped, hostileId, hostilePath } from './hostile-requests.ts'
import {
  fuzzing,
  fuzzRuns,
  fuzzTimeoutMs,
  jsonBody,
  resultsOf,
  ServiceUnderFuzz,
} from './service-under-fuzz.ts'

const bodyLimitBytes = 256 * 1024

let api: Api
let service: ServiceUnderFuzz
let known: Readonly<Record<string, string>>
beforeAll(async () => {
  api = await readApi()
  service = await ServiceUnderFuzz.start({ BODY_LIMIT_BYTES: String(bodyLimitBytes) })
  known = await service.known()
})
afterAll(async () => {
  expect(await service.stop()).toBe(0)
})
afterEach(async () => {
  expect(await service.knownDuplicates()).toEqual(['nearly-known'])
})

const json = (body: Buffer) => JSON.parse(body.toString())

/** Tests that a property holds for `fuzzRuns` inputs. */
const holds = <T>(name: string, inputs: () => fc.Arbitrary<T>, check: (input: T) => Promise<void>): void =>
  test(
    name,
    async () => {
      await fc.assert(fc.asyncProperty(inputs(), check), fuzzing as fc.Parameters<[T]>)
    },
    fuzzTimeoutMs,
  )

describe('pages', () => {
  holds(
    'of any markup are stored, stay as they are when sent again, and read back',
    () => hostileHtml,
    async (html) => {
      const stored = await service.put('of-fuzz', html)
      expect(stored.status).toBeOneOf([200, 201])
      const analysis = json((await service.analysis('text/html; charset=utf-8', Buffer.from(html))).body)
      expect(json(stored.body).tokenCount).toBe(analysis.tokenCount)
      expect(json((await service.put('of-fuzz', html)).body).status).toBe('unchanged')
      const document = json((await service.send({ method: 'GET', path: '/documents/of-fuzz' })).body)
      expect([document.contentHash, document.simhash]).toEqual([analysis.contentHash, analysis.simhash])
      expect((await service.send({ method: 'GET', path: '/documents/of-fuzz/text' })).status).toBe(200)
    },
  )

  holds(
    'of any bytes under any charset are decoded, raw as in base64',
    () => bytesInAnyCharset,
    async ({ contentType, bytes }) => {
      const raw = await service.analysis(contentType, bytes)
      expect(raw.status).toBe(200)
      const encoded = await service.analysis(
        'application/json',
        jsonBody({ contentBase64: bytes.toString('base64'), contentType }),
      )
      expect(json(encoded.body)).toEqual(json(raw.body))
    },
  )

  holds(
    'in a coding are read whole or refused, never in part',
    () => damagedCoding,
    async ({ plain, coding, damage, body }) => {
      const answer = await service.send({
        method: 'POST',
        path: '/analysis',
        headers: { 'content-type': 'text/plain; charset=utf-8', 'content-encoding': coding },
        body,
      })
      const whole = json((await service.analysis('text/plain; charset=utf-8', plain)).body)
      if (damage === 'none') expect(json(answer.body)).toEqual(whole)
      else if (damage === 'twice' && coding === 'gzip')
        expect(json(answer.body)).toEqual(
          json((await service.analysis('text/plain; charset=utf-8', Buffer.concat([plain, plain]))).body),
        )
      // Some bits of a head mean nothing.
      else if (damage === 'flipped' && answer.status === 200) expect(json(answer.body)).toEqual(whole)
      else expect(answer.status).toBe(400)
    },
  )
})

describe('batches', () => {
  holds(
    'of any lines are answered line by line, in order, and add up',
    () => hostileLines,
    async ({ lines, body, hasRawByte }) => {
      const answer = await service.send({
        method: 'POST',
        path: '/documents',
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
      const numbers = lines.flatMap((line, i) => (/^[ \t]*$/.test(line) ? [] : [i + 1]))
      if (answer.status !== 200) {
        expect([answer.status, numbers]).toEqual([400, []])
        return
      }
      const { results, summary } = resultsOf(answer.body)
      if (!hasRawByte) expect(results.map(({ line }) => line)).toEqual(numbers)
      expect(summary.stored + summary.unchanged + summary.failed).toBe(results.length)
      for (const result of results)
        expect(result.status).toBeOneOf(['created', 'replaced', 'unchanged', 400, 413, 415])
    },
  )

  holds(
    'of any archive keep what is whole, or are refused',
    () => hostileArchive,
    async (body) => {
      const answer = await service.send({
        method: 'POST',
        path: '/documents',
        headers: { 'content-type': 'application/warc' },
        body,
      })
      expect(answer.status).toBeOneOf([200, 400])
      if (answer.status !== 200) return
      const { results, summary } = resultsOf(answer.body)
      expect(summary.stored + summary.unchanged + summary.failed).toBe(results.length)
    },
  )
})

describe('names', () => {
  holds(
    'an id is taken or refused in a path and in a body alike, and comes back as it was',
    () => hostileId,
    async (id) => {
      const isAllowed = /^[^\p{Cc}\p{Cs}]{1,512}$/u.test(id)
      const inBody = await service.send({
        method: 'POST',
        path: '/documents',
        headers: { 'content-type': 'application/json' },
        body: jsonBody({ id, text: 'words' }),
      })
      expect([id, inBody.status]).toEqual([id, isAllowed ? expect.toBeOneOf([200, 201]) : 400])
      // A path cannot hold half a pair, nor be a step.
      if (/\p{Cs}/u.test(id) || /^\.{0,2}$/.test(id)) return
      const path = `/documents/${escaped(id)}`
      const answer = await service.send({ method: 'GET', path })
      expect([id, answer.status]).toEqual([id, isAllowed ? 200 : 400])
      if (!isAllowed) return
      expect(json(answer.body).id).toBe(id)
      const inPath = await service.send({
        method: 'PUT',
        path,
        headers: { 'content-type': 'text/plain' },
        body: Buffer.from('words'),
      })
      expect(json(inPath.body)).toMatchObject({ id, status: 'unchanged' })
      expect((await service.send({ method: 'DELETE', path })).status).toBe(204)
    },
  )

  holds(
    'a path of any escapes is answered',
    () => hostilePath,
    async (path) => {
      expect((await service.send({ method: 'GET', path })).status).toBeOneOf([200, 302, 400, 404, 405])
    },
  )
})

describe('the contract', () => {
  holds(
    'is kept by every route, for values it allows and values it does not',
    () => contractRequests(api, known),
    async (request) => {
      await service.send(request)
    },
  )
})

describe('memory', () => {
  const anyRequest = (): fc.Arbitrary<FuzzRequest> => {
    const posted = (path: string, type: string, body: Buffer, headers = {}): FuzzRequest => ({
      method: 'POST',
      path,
      headers: { 'content-type': type, ...headers },
      body,
    })
    return fc.oneof(
      hostileHtml.map((html) => posted('/duplicates', 'text/html', Buffer.from(html))),
      bytesInAnyCharset.map(({ contentType, bytes }) => posted('/analysis', contentType, bytes)),
      damagedCoding.map(({ coding, body }) =>
        posted('/analysis', 'text/plain', body, { 'content-encoding': coding }),
      ),
      hostileLines.map(({ body }) => posted('/documents', 'application/x-ndjson', body)),
      hostileArchive.map((body) => posted('/documents', 'application/warc', body)),
      fc.constantFrom(0, 0x20, 0x7b, 0x3c).map((byte) =>
        posted('/analysis', 'text/html', gzipSync(Buffer.alloc(64 * bodyLimitBytes, byte)), {
          'content-encoding': 'gzip',
        }),
      ),
      contractRequests(api, known),
    )
  }

  test(
    'does not grow with the number of requests',
    async () => {
      const requests = fc.sample(anyRequest(), {
        ...(fuzzing as fc.Parameters<FuzzRequest>),
        numRuns: 8 * fuzzRuns,
      })
      const half = requests.length / 2
      const sendAll = async (part: readonly FuzzRequest[]): Promise<number> => {
        let most = 0
        for (let from = 0; from < part.length; from += 8) {
          await Promise.all(part.slice(from, from + 8).map((request) => service.send(request)))
          most = Math.max(most, await service.residentBytes())
        }
        return most
      }
      const first = await sendAll(requests.slice(0, half))
      const second = await sendAll(requests.slice(half))
      expect(second).toBeLessThan(1.25 * first + 64 * 2 ** 20)
    },
    fuzzTimeoutMs,
  )
})
