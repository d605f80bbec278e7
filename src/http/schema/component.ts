import { type Static, type TSchema, Type } from 'typebox'

type Component<T extends TSchema = TSchema> = T & { readonly $id: string }

/** Names a schema, so that it stands once under `components/schemas` and is referred to elsewhere. */
export const component = <T extends TSchema>($id: string, schema: T): Component<T> =>
  // Not a spread: TypeBox keeps properties on its schemas that are not enumerable.
  Object.assign(schema, { $id })

/** A reference to a component, of the component's static type. */
export const ref = <T extends TSchema>(schema: Component<T>) =>
  Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })

/** One of the given texts. */
export const choice = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

/** A text or null. */
export const nullableText = (options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })

/** A number or null. */
export const nullableNumber = (options: object = {}) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], ...options })

/** An object of which every property is answered and none is unknown. */
export const closed = <T extends Record<string, TSchema>>(properties: T, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

/** The `response` entry of a route for an answer in JSON. */
export const jsonAnswer = (description: string, schema: TSchema, headers: object = {}) => ({
  description,
  headers,
  content: { 'application/json': { schema } },
})
