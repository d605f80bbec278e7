import { AjvCompiler, type ErrorObject } from '@fastify/ajv-compiler'
import type { FastifySchemaCompiler } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { DittographError, type ErrorItem } from '../errors.ts'

/**
 * Nothing is coerced, filled in or removed: what a client sent is judged as it is. Errors end at the first
 * one, since collecting all of them is work that a hostile body can multiply. `verbose` hands the schema of
 * the fault to `describe`.
 */
const ajvOptions = {
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  allErrors: false,
  verbose: true,
  allowUnionTypes: true,
} as const

type Fault = Pick<ErrorObject, 'keyword' | 'instancePath' | 'message' | 'params'> & {
  readonly parentSchema?: { readonly description?: string; readonly properties?: object }
}
type Validator = ((value: unknown) => unknown) & { errors?: readonly Fault[] | null }

const compilerFrom = (components: Readonly<Record<string, unknown>>) => {
  const compile = AjvCompiler()(components as never, { customOptions: ajvOptions })
  return (schema: unknown): Validator => compile({ schema: schema as never }) as Validator
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** Names come from the client: an answer repeats a bounded part of them. */
const shown = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name)

const describe = ({ keyword, instancePath, message, params, parentSchema }: Fault): ErrorItem => {
  const within = (name: unknown) => `${instancePath}/${escapePointer(shown(String(name)))}`
  const known = Object.keys(parentSchema?.properties ?? {})
  switch (keyword) {
    case 'required':
      return { pointer: within(params.missingProperty), detail: 'is missing' }
    case 'additionalProperties': {
      const allowed = known.length === 0 ? 'there are none here' : `there are ${known.join(', ')}`
      return { pointer: within(params.additionalProperty), detail: `is not known: ${allowed}` }
    }
    case 'enum':
      return { pointer: instancePath, detail: `must be one of ${params.allowedValues.join(', ')}` }
    case 'format':
      return { pointer: instancePath, detail: 'must be a date and time by RFC 3339' }
    case 'pattern':
      return { pointer: instancePath, detail: `must be: ${parentSchema?.description}` }
    default:
      return { pointer: instancePath, detail: message ?? 'is not valid' }
  }
}

const itemOf = (validate: Validator): ErrorItem => {
  const fault = validate.errors?.[0]
  if (fault === undefined) throw new Error('A validator refused a value without a reason')
  return describe(fault)
}

/** An error that names the parameter of the query or of the path at fault. */
export const parameterError = (pointer: string, detail: string): DittographError =>
  new DittographError('invalid_parameter', `The parameter ${pointer} ${detail}`, {
    items: [{ pointer, detail }],
  })

/** An error that points to the value of the body at fault; pointer '' is the whole body. */
export const bodyError = (pointer: string, detail: string): DittographError =>
  new DittographError('invalid_body', `${pointer === '' ? 'The body' : pointer} ${detail}`, {
    items: [{ pointer, detail }],
  })

/**
 * A check of parsed bodies against a component: it throws `invalid_body` with a JSON pointer, and returns the
 * value as the static type of the component.
 */
export const bodyValidator = <T extends TSchema>(
  schema: T & { readonly $id: string },
  references: readonly { readonly $id: string }[] = [],
): ((value: unknown) => Static<T>) => {
  const components = Object.fromEntries([...references, schema].map((known) => [known.$id, known]))
  const validate = compilerFrom(components)(schema)
  return (value) => {
    if (!validate(value)) {
      const { pointer, detail } = itemOf(validate)
      throw bodyError(pointer, detail)
    }
    return value as Static<T> // what the validator has just established
  }
}

const integer = /^(?:0|-?[1-9]\d*)$/
const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/**
 * Texts of a query as the types that the schema names. Only plain decimal notation is a number: Ajv's own
 * coercion takes `1e999`, `0x1` and ` 1` too, and lets Infinity through the bounds.
 */
const coerceQuery = (
  properties: Readonly<Record<string, { readonly type?: unknown }>>,
  query: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const coerced: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string') throw parameterError(shown(name), 'is given more than once')
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined
    if (type === 'integer' || type === 'number') {
      const isPlain = type === 'integer' ? integer.test(value) : decimal.test(value)
      const number = Number(value) + 0 // -0 becomes 0
      if (!isPlain || !Number.isFinite(number) || (type === 'integer' && !Number.isSafeInteger(number)))
        throw parameterError(name, `must be ${type === 'integer' ? 'a whole number' : 'a decimal number'}`)
      coerced[name] = number
    } else coerced[name] = value
  }
  return coerced
}

type ObjectSchema = { readonly properties?: Readonly<Record<string, { readonly type?: unknown }>> }

/** Fastify's validators of queries and paths. Bodies pass here: whoever reads a body validates it. */
export const buildParameterValidator = (): FastifySchemaCompiler<ObjectSchema> => {
  const compile = compilerFrom({})
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return () => true
    const validate = compile(schema)
    return (raw: Readonly<Record<string, unknown>>) => {
      try {
        const value = httpPart === 'querystring' ? coerceQuery(schema.properties ?? {}, raw) : raw
        if (validate(value)) return { value }
        const { pointer, detail } = itemOf(validate)
        return { error: parameterError(unescapePointer(pointer.slice(1)), detail) }
      } catch (reason) {
        if (reason instanceof DittographError) return { error: reason }
        throw reason
      }
    }
  }
}
