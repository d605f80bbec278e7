import fc from 'fast-check'
import type { Api, FuzzRequest, ParameterObject } from './contract.ts'
import { jsonBody } from './service-under-fuzz.ts'

type Schema = Readonly<Record<string, unknown>>

const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise

/** A text in the bounds of its schema; the patterns of the contract forbid control characters and halves of pairs. */
const textFor = (schema: Schema): fc.Arbitrary<string> => {
  if (schema.format === 'date-time')
    return fc.constantFrom('2026-01-31T12:00:00Z', '1999-12-31T23:59:59.999+01:00')
  if (schema.contentEncoding === 'base64' || schema.format === 'byte')
    return fc.constantFrom('', 'YQ==', 'PHA+YQ==')
  const least = numberOf(schema.minLength, 0)
  return fc
    .oneof(
      fc.constantFrom(
        'known',
        'nearly-known',
        'https://example.com/a?b=c',
        'text/html',
        '../..',
        '__proto__',
        '%2e',
        '~',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constant('\u{1f600}'.repeat(Math.min(numberOf(schema.maxLength, 10), 400))),
    )
    .map((text) => text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '').padEnd(least, 'x'))
}

const atMost = <T>(count: number, list: readonly T[]): fc.Arbitrary<T[]> =>
  fc.subarray([...list], { maxLength: Math.min(count, list.length) })

const absoluteUrl = fc.constantFrom(
  'https://example.com/a',
  'http://[::1]:1/',
  'urn:a',
  'https://xn--a.example./%zz',
)

const contents = [
  { html: '<title>Kettle</title><p>A kettle of steel' },
  { text: 'A kettle of steel' },
  { contentBase64: 'PHA+YQ==', contentType: 'text/html; charset=utf-16' },
]

/** A page has exactly one content, which its schema says in words. */
const withContent = (page: object, content: object): object => {
  const names = ['html', 'text', 'contentBase64', 'contentType']
  return { ...Object.fromEntries(Object.entries(page).filter(([name]) => !names.includes(name))), ...content }
}

/** Values that a schema of the contract allows. */
const valid = (api: Api, schema: Schema): fc.Arbitrary<unknown> => {
  if (typeof schema.$ref === 'string')
    return valid(api, api.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (Array.isArray(schema.oneOf)) return fc.oneof(...schema.oneOf.map((one) => valid(api, one)))
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (schema.type === 'integer')
    return fc.integer({ min: numberOf(schema.minimum, -1000), max: numberOf(schema.maximum, 1000) })
  if (schema.type === 'number')
    return fc.double({
      min: numberOf(schema.minimum, numberOf(schema.exclusiveMinimum, 0) + 0.001),
      max: numberOf(schema.maximum, 1),
      noNaN: true,
    })
  if (schema.type === 'string') return textFor(schema)
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'object' && typeof schema.properties === 'object') {
    const properties = schema.properties as Readonly<Record<string, Schema>>
    const required = (schema.required as readonly string[] | undefined) ?? []
    const values = atMost(
      2,
      Object.keys(properties).filter((name) => !required.includes(name)),
    ).chain((optional) =>
      fc.record(
        Object.fromEntries(
          [...required, ...optional].map((name) => [
            name,
            name === 'url' ? absoluteUrl : valid(api, properties[name] ?? {}),
          ]),
        ),
      ),
    )
    return 'contentBase64' in properties
      ? fc.tuple(values, fc.constantFrom(...contents)).map(([one, content]) => withContent(one, content))
      : values
  }
  return fc.jsonValue()
}

/** Texts that no number, choice or name is, and some that look like one. */
const odd = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      '-1',
      '0',
      '1.5',
      '1e999',
      'Infinity',
      'NaN',
      '0x10',
      ' 1',
      '1 ',
      '01',
      '+1',
      '1e3',
      '\u0661',
      '9007199254740993',
    ],
    ...[
      '[]',
      '{}',
      'null',
      'true',
      '__proto__',
      'constructor',
      '\u0000',
      '\ud800',
      '../../etc/passwd',
      "' OR 1=1 --",
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constant('9'.repeat(400)),
)

const oddValue = fc.oneof(odd, fc.jsonValue(), fc.constantFrom(-1, 1e308, 5e-324, 2 ** 53, -0, null, [], {}))

/** Something like the value, and in one place not. */
const spoiled = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.tuple(value, fc.nat(), oddValue).map(([one, at, other]) => {
      if (typeof one !== 'object' || one === null) return other
      const names = Object.keys(one)
      return { ...one, [names[at % Math.max(1, names.length)] ?? 'x']: other }
    }),
    fc
      .tuple(value, fc.constantFrom('x', '__proto__', 'constructor', 'toString', ''), oddValue)
      .map(([one, name, other]) => Object.fromEntries([...Object.entries(Object(one)), [name, other]])),
    oddValue,
  )

/** Percent-encoded; half a surrogate pair, at which `encodeURIComponent` throws, as U+FFFD. */
export const escaped = (text: string): string => encodeURIComponent(Buffer.from(text).toString())

/** A value of a parameter as it stands in a URL. */
const parameterValue = (
  api: Api,
  { name, schema }: ParameterObject,
  isClean: boolean,
): fc.Arbitrary<string> => {
  const allowed = name === 'url' ? absoluteUrl : valid(api, schema).map(String)
  return (isClean ? allowed : fc.oneof({ weight: 3, arbitrary: allowed }, { weight: 1, arbitrary: odd })).map(
    escaped,
  )
}

const oddPairs = ['x=1', '', '=', '=1', '%', 'limit', 'limit=%zz', '__proto__=1', '%00=1', 'cursor=e30', '&&']

/** A query; a clean one holds nothing that its schemas forbid, nor anything twice. */
const queryOf = (
  api: Api,
  parameters: readonly ParameterObject[],
  isClean: boolean,
): fc.Arbitrary<string> => {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const pairOf = (parameter: ParameterObject) =>
    parameterValue(api, parameter, isClean).map((value) => `${parameter.name}=${value}`)
  const needed = fc.tuple(...inQuery.filter(({ required }) => required).map(pairOf))
  // A cursor that nobody gave is refused.
  const optional = inQuery.filter(({ required, name }) => !required && !(isClean && name === 'cursor'))
  const more = atMost(isClean ? 2 : 4, optional).chain((some) => fc.tuple(...some.map(pairOf)))
  const oddOnes = isClean ? fc.constant([]) : fc.array(fc.constantFrom(...oddPairs), { maxLength: 2 })
  return fc.tuple(needed, more, oddOnes).map((parts) => parts.flat().join('&'))
}

const bodiesOf = (
  api: Api,
  content: Readonly<Record<string, { readonly schema?: object }>>,
): fc.Arbitrary<{
  type: string
  body: Buffer
}> => {
  const schema = (content['application/json']?.schema ?? {}) as Schema
  const value = valid(api, schema)
  const types = Object.keys(content)
  return fc.oneof(
    { weight: 4, arbitrary: value.map((one) => ({ type: 'application/json', body: jsonBody(one) })) },
    {
      weight: 3,
      arbitrary: spoiled(value).map((one) => ({ type: 'application/json', body: jsonBody(one ?? null) })),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constantFrom(
          ...types,
          'image/png',
          'application/json; charset=latin1',
          'text/html;;',
          '/',
          'a',
        ),
        body: fc.oneof(fc.json().map(Buffer.from), fc.uint8Array({ maxLength: 200 }).map(Buffer.from)),
      }),
    },
  )
}

/** What there is, by the start of the paths that lead to it. */
type Known = Readonly<Record<string, string>>

/** A request to any route of the contract, with values that it allows and values that it does not. */
export const contractRequests = (api: Api, known: Known): fc.Arbitrary<FuzzRequest> => {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return fc
    .tuple(fc.constantFrom(...operations), fc.boolean())
    .chain(([{ path, method, operation }, isClean]) => {
      const parameters = operation.parameters ?? []
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      const content = operation.requestBody?.content
      // What the answers are checked by must stay: nothing may delete or replace it.
      const writes = method === 'DELETE' || method === 'PUT'
      const there = Object.entries(known).find(([start]) => path.startsWith(start))?.[1] ?? 'x'
      const name = (parameter: ParameterObject) =>
        writes
          ? parameterValue(api, parameter, isClean).map((value) => `of-fuzz-${value}`)
          : isClean
            ? fc.constant(there)
            : parameterValue(api, parameter, isClean).map((value) => (/^\.{0,2}$/.test(value) ? 'x' : value))
      return fc
        .record({
          names: fc.tuple(...inPath.map(name)),
          query: queryOf(api, parameters, isClean),
          content: content === undefined ? fc.constant(null) : bodiesOf(api, content),
        })
        .map(({ names, query, content: sent }) => {
          const filled = inPath.reduce(
            (one, parameter, i) => one.replace(`{${parameter.name}}`, () => names[i] ?? ''),
            path,
          )
          return {
            method,
            path: query === '' ? filled : `${filled}?${query}`,
            ...(sent === null ? {} : { headers: { 'content-type': sent.type }, body: withOwnId(sent.body) }),
          }
        })
    })
}

/** The body, which may not replace what the answers are checked by. */
const withOwnId = (body: Buffer): Buffer =>
  Buffer.from(body.toString('latin1').replaceAll(/"((?:nearly-)?known)"/g, '"of-fuzz-$1"'), 'latin1')

const idPiece = fc.constantFrom(
  ...[
    '/',
    '//',
    '.',
    '..',
    '../',
    '%',
    '%2F',
    '%252F',
    '%00',
    '\\',
    '?',
    '#',
    '&',
    '=',
    '+',
    ' ',
    ';',
    ':',
    '@',
    '"',
    "'",
  ],
  ...[
    '<',
    '>',
    '{',
    '}',
    '|',
    '^',
    '`',
    '~',
    '*',
    '__proto__',
    'constructor',
    'toString',
    'null',
    '0',
    '-1',
    '1e9',
  ],
  ...[
    'http://',
    'https://example.com/?a=b#c',
    'é',
    'e\u0301',
    '\u212b',
    '\u00c5',
    'ﬁ',
    'İ',
    'ß',
    '\u200b',
    '\ufeff',
    '\u202e',
  ],
  ...[
    '\u2028',
    '\u{1f600}',
    '\u{10ffff}',
    '\ufffe',
    '\u0378',
    '東京',
    '\u0000',
    '\t',
    '\n',
    '\r',
    '\u007f',
    '\u0085',
    '\ud800',
    '\udc00',
  ],
)

/** Ids, allowed or not. */
export const hostileId = fc.oneof(
  { weight: 3, arbitrary: fc.array(idPiece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('a', 'é', '東', '\u{1f600}', '%', '/'), fc.constantFrom(511, 512, 513, 2000))
      .map(([character, count]) => character.repeat(count)),
  },
)

/** Paths as they stand in a request line: escapes that are whole, broken, too long or not UTF-8. */
export const hostilePath = fc
  .tuple(
    fc.constantFrom(
      '/documents/',
      '/jobs/',
      '/problems/',
      '/',
      '/docs/',
      '/docs/static/',
      '/documents/a/',
      '//',
    ),
    fc.array(
      fc.constantFrom(
        ...[
          '%',
          '%2',
          '%zz',
          '%00',
          '%0a',
          '%2e%2e',
          '%2f',
          '%5c',
          '%c0%af',
          '%ed%a0%80',
          '%ff',
          '%F0%9F%98%80',
          '%u0061',
        ],
        ...[
          'a',
          '..',
          '.',
          '/',
          '//',
          '?',
          '?limit=1',
          '&',
          ';',
          ':',
          '*',
          '\u00e9',
          '\\',
          '"',
          '<',
          '{id}',
          '[',
          '|',
        ],
      ),
      { maxLength: 8 },
    ),
  )
  .map(([start, parts]) => start + parts.join(''))
