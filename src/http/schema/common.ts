import { Type } from 'typebox'
import { closed } from './component.ts'

/** Bounds that the documentation states, in Unicode code points, bytes or levels. */
export const limits = {
  idCharacters: 512,
  urlCharacters: 8192,
  metadataBytes: 65_536,
  metadataDepth: 64,
  listItems: 1000,
} as const

// Cc: control characters. Cs: lone surrogates, which no UTF-8 can carry.
const visible = '^[^\\p{Cc}\\p{Cs}]*$'

const id = {
  minLength: 1,
  maxLength: limits.idCharacters,
  pattern: visible,
  description: `1 to ${limits.idCharacters} Unicode characters, none of them a control character or a lone surrogate`,
}

const url = {
  minLength: 1,
  maxLength: limits.urlCharacters,
  pattern: visible,
  description: `An absolute URL of at most ${limits.urlCharacters} characters, none of them a control character or a lone surrogate`,
}

export const idSchema = Type.String({ ...id, examples: ['https://example.com/products/4711'] })
/** Of a second document. */
export const otherIdSchema = Type.String({ ...id, examples: ['https://example.com/products/4711?print=1'] })
export const urlSchema = Type.String({ ...url, examples: ['https://example.com/products/4711'] })

/** Of a raw body, as query parameters. They have no example: tools would send it along with JSON, too. */
export const rawIdSchema = Type.String({ ...id, description: `For raw bodies only: ${id.description}` })
export const rawUrlSchema = Type.String({ ...url, description: `For raw bodies only: ${url.description}` })

export const limitSchema = Type.Integer({
  minimum: 1,
  maximum: limits.listItems,
  default: 50,
  description: 'Most items in one answer',
})

export const cursorSchema = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'nextCursor of the answer before; opaque',
})

export const nextCursorDescription = 'Cursor of the next page; null at the end'

/** Hexadecimal fingerprints of a page, null where it has no token. */
export const supershinglesSchema = Type.Unsafe<string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  minItems: 6,
  maxItems: 6,
  description: 'Six supershingles of 16 hexadecimal digits each; null for a page without a token',
})

export const simhashSchema = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  pattern: '^[0-9a-f]{96}$',
  description:
    '384 bits as 96 hexadecimal digits, the first one holding coordinates 0 to 3; null without a token',
})

export const contentHashSchema = Type.String({
  pattern: '^[0-9a-f]+$',
  description: 'Hash of the token sequence in hexadecimal; equal for identical documents only',
})

export const DocumentParameters = closed({ id: idSchema })

/** A route that takes no query parameter: any one is refused. */
export const NoQuery = closed({})
