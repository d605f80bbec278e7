import { AjvCompiler } from '@fastify/ajv-compiler'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorItem } from '../../src/errors.ts'
import { usedParameters } from '../../src/http/duplicates-query.ts'
import { openapiDocument } from '../../src/http/openapi.ts'
import { type RecordingApp, recordingApp } from './fixture.ts'

type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  example?: unknown
  schema: { type?: string; default?: unknown; enum?: unknown[]; minimum?: number }
}
type Media = { schema: object; example?: unknown; examples?: object }
type Operation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
}
type Api = {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { examples?: unknown[] }> }
  tags: { name: string }[]
}

/** What jobs answer that were understood, where the database is in memory. */
const noJobs = 501

let recording: RecordingApp
let api: Api
let operations: { method: string; path: string; operation: Operation }[]
beforeAll(async () => {
  recording = await recordingApp()
  await recording.app.ready()
  api = JSON.parse(JSON.stringify(openapiDocument(recording.app)))
  operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
})
afterAll(() => recording.close())

const validatorOf = (...pointer: string[]) => {
  const escaped = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  const compile = AjvCompiler()(
    { api: { $id: 'api', ...api } },
    { customOptions: { strict: false, coerceTypes: false, useDefaults: false, removeAdditional: false } },
  )
  const validate = compile({ schema: { $ref: `api#/${escaped}` } })
  return (value: unknown) => (validate(value) ? [] : validate.errors)
}

/** Routes as Fastify knows them, without HEAD and those of the user interface. */
const registeredRoutes = (): string[] => {
  const routes: string[] = []
  const parents: string[] = []
  for (const line of recording.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const found = /^([│ ]*)(?:├──|└──) (\S*)(?: \(([A-Z, ]+)\))?/.exec(line)
    if (!found) continue
    const depth = (found[1] ?? '').length / 4
    const path = (parents[depth - 1] ?? '') + found[2]
    parents[depth] = path
    for (const method of found[3]?.split(', ') ?? []) if (method !== 'HEAD') routes.push(`${method} ${path}`)
  }
  return routes.filter((route) => !route.includes(' /docs'))
}

describe('the OpenAPI document', () => {
  test('documents exactly the routes that are registered', () => {
    const documented = operations.map(
      ({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    )
    expect(documented.sort()).toEqual(registeredRoutes().sort())
    expect(documented).toContain('POST /documents')
  })

  test('gives every operation a name of its own, a summary, a description, a tag and problems', () => {
    expect(api.openapi).toBe('3.1.0')
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
    const tags = api.tags.map(({ name }) => name)
    for (const { operation } of operations) {
      expect(operation.summary).toMatch(/\w/)
      expect(operation.description).toMatch(/\w/)
      expect(tags).toEqual(expect.arrayContaining(operation.tags))
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', 'default']))
      for (const [status, { content }] of Object.entries(operation.responses))
        if (!status.startsWith('2')) expect(Object.keys(content ?? {})).toEqual(['application/problem+json'])
    }
  })

  test('describes every parameter, and names those that the table of options names', () => {
    const search = operations.find(({ operation }) => operation.operationId === 'findDuplicatesOfDocument')
    const names = search?.operation.parameters?.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.values(usedParameters).flat()))
    for (const { operation } of operations)
      for (const parameter of operation.parameters ?? []) {
        expect([parameter.name, parameter.description]).toEqual([parameter.name, expect.stringMatching(/\w/)])
        expect(parameter.schema.type).toMatch(/^(string|integer|number)$/)
      }
  })

  test('has an example for every body and every answer, which fits its schema', () => {
    for (const [name, schema] of Object.entries(api.components.schemas))
      for (const example of schema.examples ?? [])
        expect([name, validatorOf('components', 'schemas', name)(example)]).toEqual([name, []])
    for (const { operation } of operations) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
        Object.values(part?.content ?? {}),
      )
      for (const { schema, example, examples } of contents) {
        const reference = '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined
        const shared = reference === undefined ? undefined : api.components.schemas[reference]?.examples
        const own = 'examples' in schema ? schema.examples : undefined
        expect([operation.operationId, example ?? examples ?? own ?? shared]).not.toEqual([
          operation.operationId,
          undefined,
        ])
      }
    }
  })

  test('fills in no parameter that would be refused: its defaults and examples can be sent as they are', async () => {
    await recording.app.inject({
      method: 'PUT',
      url: '/documents/a',
      headers: { 'content-type': 'text/plain' },
      payload: 'a',
    })
    for (const { method, path, operation } of operations) {
      const query = new URLSearchParams()
      for (const { name, in: place, schema, example } of operation.parameters ?? []) {
        const value = example ?? schema.default
        if (place === 'query' && value !== undefined) query.set(name, String(value))
      }
      const body = operation.requestBody?.content['application/json']
      const name =
        String(Reflect.get(body?.schema ?? {}, '$ref'))
          .split('/')
          .at(-1) ?? ''
      const answer = await recording.app.inject({
        method: method as 'GET',
        url: `${path.replace('{id}', 'a').replace('{code}', 'invalid_body')}?${query}`,
        ...(body === undefined
          ? {}
          : {
              headers: { 'content-type': 'application/json' },
              payload: JSON.stringify(api.components.schemas[name]?.examples?.[0]),
            }),
      })
      expect([operation.operationId, answer.statusCode]).toEqual([
        operation.operationId,
        expect.toBeOneOf([
          200,
          201,
          204,
          404,
          operation.tags.includes('jobs') || operation.tags.includes('evaluation') ? noJobs : 200,
        ]),
      ])
    }
  })

  describe('names all query parameters that there are:', () => {
    const target = (path: string, query: URLSearchParams): string =>
      `${path.replace('{id}', 'a').replace('{code}', 'invalid_body')}?${query}`
    const exampleOf = ({ example, schema }: Parameter): string =>
      String(
        example ??
          schema.default ??
          schema.enum?.[0] ??
          schema.minimum ??
          (schema.type === 'string' ? 'a' : 1),
      )
    /** What the service says against the query of a request without a body, by parameter. */
    const refusals = async (method: string, path: string, query: URLSearchParams): Promise<string[]> => {
      const answer = await recording.app.inject({ method: method as 'GET', url: target(path, query) })
      if (answer.statusCode !== 400) return []
      const { code, errors = [] } = answer.json()
      return code === 'invalid_parameter'
        ? errors.map(({ pointer, detail }: ErrorItem) => `${pointer} ${detail}`)
        : []
    }
    const needed = (operation: Operation): URLSearchParams =>
      new URLSearchParams(
        (operation.parameters ?? [])
          .filter((parameter) => parameter.in === 'query' && parameter.required)
          .map((parameter): [string, string] => [parameter.name, exampleOf(parameter)]),
      )

    test('each of them is known', async () => {
      for (const { method, path, operation } of operations)
        for (const parameter of operation.parameters ?? []) {
          if (parameter.in !== 'query') continue
          const query = needed(operation)
          query.set(parameter.name, exampleOf(parameter))
          expect([path, await refusals(method, path, query)]).not.toEqual([
            path,
            [expect.stringContaining('is not known')],
          ])
        }
    })

    test('any other is refused by name', async () => {
      for (const { method, path, operation } of operations)
        for (const name of ['x', 'Limit', '__proto__', 'limit[]', 'idx']) {
          const query = needed(operation)
          query.set(name, '1')
          expect([method, path, await refusals(method, path, query)]).toEqual([
            method,
            path,
            [expect.stringMatching(`^${name.replace('[', '.').replace(']', '.')} is not known`)],
          ])
        }
    })

    test('none is taken twice', async () => {
      for (const { method, path, operation } of operations)
        for (const parameter of operation.parameters ?? []) {
          if (parameter.in !== 'query') continue
          const query = needed(operation)
          query.set(parameter.name, exampleOf(parameter))
          query.append(parameter.name, exampleOf(parameter))
          expect([method, path, await refusals(method, path, query)]).toEqual([
            method,
            path,
            [`${parameter.name} is given more than once`],
          ])
        }
    })
  })

  test('is what the service answers at /openapi.json', async () => {
    expect((await recording.app.inject('/openapi.json')).json()).toEqual(api)
  })

  test('is kept by the answers', async () => {
    const json = { 'content-type': 'application/json' }
    const pages = { a: { text: 'a' }, b: { text: 'b' } }
    const requests = [
      ['PUT', '/documents/{id}', '/documents/a?duplicates=1', { text: 'a', metadata: { a: 1 } }],
      ['PUT', '/documents/{id}', '/documents/b?duplicates=1', { text: 'a' }],
      ['PUT', '/documents/{id}', '/documents/a', { text: 'a' }],
      ['POST', '/documents', '/documents', { text: 'a' }],
      ['GET', '/documents', '/documents', null],
      ['GET', '/documents', '/documents?limit=0', null],
      ['GET', '/documents/{id}', '/documents/a', null],
      ['GET', '/documents/{id}', '/documents/none', null],
      ['GET', '/documents/{id}/duplicates', '/documents/a/duplicates', null],
      ['GET', '/documents/{id}/duplicates', '/documents/a/duplicates?algorithm=dice', null],
      ['GET', '/documents/{id}/comparison', '/documents/a/comparison?with=a', null],
      ['POST', '/duplicates', '/duplicates', { text: 'a' }],
      ['POST', '/comparison', '/comparison', pages],
      ['POST', '/analysis', '/analysis', { html: 'a' }],
      ['GET', '/health/live', '/health/live', null],
      ['GET', '/health/ready', '/health/ready', null],
      ['PATCH', '', '/documents', null],
    ] as const
    for (const [method, path, url, body] of requests) {
      const answer = await recording.app.inject({
        method,
        url,
        ...(body === null ? {} : { headers: json, payload: JSON.stringify(body) }),
      })
      const type = String(answer.headers['content-type']).split(';')[0] ?? ''
      const schema =
        type === 'application/problem+json'
          ? ['components', 'schemas', 'Problem']
          : [
              'paths',
              path,
              method.toLowerCase(),
              'responses',
              String(answer.statusCode),
              'content',
              type,
              'schema',
            ]
      expect([method, url, validatorOf(...schema)(answer.json())]).toEqual([method, url, []])
    }
  })
})
