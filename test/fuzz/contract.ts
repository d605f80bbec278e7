import { readFile } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import { AjvCompiler } from '@fastify/ajv-compiler'

export type FuzzRequest = {
  readonly method: string
  /** As it stands in the request line. */
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Buffer
}

export type FuzzAnswer = {
  readonly status: number
  readonly type: string
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

type Media = { readonly schema?: object }
type Operation = {
  readonly operationId: string
  readonly parameters?: readonly ParameterObject[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}
export type ParameterObject = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Readonly<Record<string, unknown>>
}
export type Api = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
}

const openapiFile = new URL('../../openapi/openapi.json', import.meta.url)

/** The published contract. */
export const readApi = async (): Promise<Api> => JSON.parse(await readFile(openapiFile, 'utf8'))

/** Of what must stay inside: paths, stacks, SQL. */
const insides = /node_modules|\/src\/|\/dist\/|\bat \S+ \(|SQLITE_|\bSELECT\b|\bINSERT\b/

/** Of a header, without its parameters. */
export const mediaTypeOf = (header: string | string[] | undefined): string =>
  String(header ?? '').split(';')[0] ?? ''

/** What every answer promises, whatever was asked. */
export class Contract {
  readonly #api: Api
  readonly #validators = new Map<string, (value: unknown) => unknown>()
  readonly #compile: ReturnType<ReturnType<typeof AjvCompiler>>

  constructor(api: Api) {
    this.#api = api
    this.#compile = AjvCompiler()(
      { api: { $id: 'api', ...api } },
      { customOptions: { strict: false, coerceTypes: false, useDefaults: false, removeAdditional: false } },
    )
  }

  #operationOf({
    method,
    path,
  }: FuzzRequest): { readonly pointer: readonly string[]; readonly operation: Operation } | null {
    const [plain = ''] = path.split('?', 1)
    for (const [template, methods] of Object.entries(this.#api.paths)) {
      const isThis = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(plain)
      const operation = methods[method.toLowerCase()]
      if (isThis && operation !== undefined)
        return { pointer: ['paths', template, method.toLowerCase()], operation }
    }
    return null
  }

  #isValid(pointer: readonly string[], value: unknown): boolean {
    const reference = `api#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    let validate = this.#validators.get(reference)
    if (validate === undefined) {
      validate = this.#compile({ schema: { $ref: reference } as never }) as (value: unknown) => unknown
      this.#validators.set(reference, validate)
    }
    return validate(value) === true
  }

  /** What the answer does that no answer may, or null. */
  brokenPromise(request: FuzzRequest, { status, type, body, headers }: FuzzAnswer): string | null {
    if (headers['x-request-id'] === undefined) return 'has no x-request-id'
    const found = this.#operationOf(request)
    if (status >= 500 && found?.operation.responses[String(status)] === undefined)
      return 'failed in a way that is not published'
    if (status === 500) return 'failed'
    if (request.method === 'HEAD' || status === 204) return body.length === 0 ? null : 'has a body'
    if (status >= 400) {
      if (type !== 'application/problem+json') return `has ${type} for a problem`
      if (insides.test(body.toString())) return 'tells of the inside'
      const problem = parsed(body)
      if (!this.#isValid(['components', 'schemas', 'Problem'], problem)) return 'is no problem as published'
      if (Reflect.get(problem as object, 'status') !== status) return 'names another status'
      return null
    }
    if (found === null) return null
    const { pointer, operation } = found
    if (operation.responses[String(status)]?.content?.[type] === undefined)
      return `is ${type}, which is not published`
    if (type === 'application/json') {
      const schema = [...pointer, 'responses', String(status), 'content', type, 'schema']
      return this.#isValid(schema, parsed(body)) ? null : 'is against its schema'
    }
    if (type === 'application/x-ndjson')
      return linesOf(body).every((line) => parsed(line) !== undefined) ? null : 'has a line that is not JSON'
    return null
  }
}

/** The JSON value, or undefined where it is none. */
const parsed = (bytes: Buffer | string): unknown => {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

/** The lines of an NDJSON body, each without its end. */
export const linesOf = (body: Buffer): readonly string[] => body.toString().trimEnd().split('\n')
