import {
  DittographError,
  type ErrorCode,
  type ErrorItem,
  type ErrorKind,
  errorDefinitions,
} from '../errors.ts'
import type { Problem } from './schema/problem.ts'

const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  'unsupported-media-type': 415,
  'not-implemented': 501,
  overloaded: 503,
  'storage-full': 507,
  'refused-at-start': 500,
}

/** Problems that only HTTP knows: no service throws them. */
const protocolProblems = {
  unauthorized: { status: 401, title: 'An API key is needed' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  rate_limited: { status: 429, title: 'Too many requests' },
  header_too_large: { status: 431, title: 'The head of the request is too large' },
  internal_error: { status: 500, title: 'The service failed' },
} as const

type ProtocolCode = keyof typeof protocolProblems
export type ProblemCode = ErrorCode | ProtocolCode

/** The text behind `type` of a problem: what causes it and what a client can do. */
const explanations: Readonly<Partial<Record<ErrorCode, string>> & Record<ProtocolCode, string>> = {
  invalid_request:
    'The request line, the URL or the framing of the request cannot be read. Do not repeat it.',
  invalid_parameter:
    'A parameter of the URL is unknown, repeated, malformed, out of range, or not used by the chosen algorithm. ' +
    '`errors` names it.',
  invalid_body:
    'The body is cut short, not UTF-8, not JSON, against the schema, not what its Content-Encoding says, or a WARC file without a record. ' +
    'Where one value is at fault, `errors` points to it.',
  invalid_cursor: 'A cursor is valid only for the query that answered with it. Start again without a cursor.',
  document_not_found: 'No document has this id now. It may have been deleted.',
  text_not_kept: 'The service was set not to keep texts (KEEP_TEXT=false) when this document was stored.',
  route_not_found: 'The service has nothing at this path.',
  body_too_large:
    'The decoded body, or one line of an NDJSON body, is larger than BODY_LIMIT_BYTES. Send less at a time.',
  page_too_large:
    'The page has more than 4,194,304 tokens, which no page that people read has. Send it in parts, if at all.',
  unsupported_media_type:
    'Documents are application/json, application/x-ndjson, application/warc, text/html, application/xhtml+xml or text/plain.',
  unsupported_encoding: 'Bodies may be encoded once, as gzip, deflate (zlib format) or br, or not at all.',
  job_not_found:
    'No job has this id. It may have been removed, by a client or because its result became too old.',
  job_has_no_result:
    'Pairs and clusters can be read when their job has succeeded: a part of a result is never shown. A join has ' +
    'pairs, and a job of the kind clusters has clusters.',
  judgement_not_found: 'Nothing was said of these two documents, or it was deleted.',
  jobs_not_available:
    'Jobs need a database in a file: with sqlite::memory: there is none that they could read.',
  job_queue_full: 'Jobs run one after the other, and too many wait already. Try again later, or cancel some.',
  overloaded: 'Too many bodies are in memory at this moment. Try again after the time in Retry-After.',
  store_busy: 'The store is held by somebody else for too long. Try again after the time in Retry-After.',
  store_full: 'The disk is full. Queries are still answered; storing works again when there is space.',
  unauthorized:
    'The service has API keys, and the request came with none, or with one that is not known or was revoked. Send ' +
    'it as `Authorization: Bearer KEY`.',
  method_not_allowed: 'The path exists, but not with this method. `Allow` lists those it has.',
  request_timeout: 'The head or the body of the request took longer than REQUEST_TIMEOUT_MS to arrive.',
  rate_limited:
    'The key has sent more requests in the last minute than it may. Try again after the time in Retry-After.',
  header_too_large: 'The request line and the headers together are larger than the service reads.',
  internal_error:
    'The service made a mistake. The log has the cause under the request id, which `instance` names.',
}

const isProtocolCode = (code: string): code is ProtocolCode => Object.hasOwn(protocolProblems, code)

const titleOf = (code: ProblemCode): string =>
  isProtocolCode(code) ? protocolProblems[code].title : errorDefinitions[code].title

const statusOf = (code: ProblemCode): number =>
  isProtocolCode(code) ? protocolProblems[code].status : statusOfKind[errorDefinitions[code].kind]

/** A problem object for one occurrence: `requestId` becomes its `instance`. */
export const problemOf = (
  code: ProblemCode,
  detail: string,
  requestId: string,
  items: readonly ErrorItem[] = [],
): Problem => ({
  type: `/problems/${code}`,
  title: titleOf(code),
  status: statusOf(code),
  detail,
  instance: `urn:request:${encodeURIComponent(requestId)}`,
  code,
  ...(items.length === 0 ? {} : { errors: [...items] }),
})

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

const frameworkProblems: Readonly<Record<string, readonly [code: ProblemCode, detail: string]>> = {
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not percent-encoded UTF-8'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_parameter', 'The id in the path is too long: at most 512 characters'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The Content-Type is not a media type'],
}

const codeOfStatus: Readonly<Record<number, ProblemCode>> = {
  404: 'route_not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  431: 'header_too_large',
}

/**
 * Whatever was thrown while a request was answered, as a problem. Only the detail of a `DittographError`
 * reaches the client; of any other error nothing does.
 */
export const problemOfError = (error: unknown, requestId: string): Problem => {
  if (error instanceof DittographError && error.kind !== 'refused-at-start')
    return problemOf(error.code, error.message, requestId, error.items)
  const framework = frameworkProblems[String(property(error, 'code'))]
  if (framework) return problemOf(...framework, requestId)
  const status = property(error, 'statusCode')
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const code = codeOfStatus[status] ?? 'invalid_request'
    return problemOf(code, titleOf(code), requestId)
  }
  return problemOf('internal_error', 'The service failed to answer this request', requestId)
}

/** Headers that go with a problem besides its content type. */
export const problemHeaders = (problem: Problem): Record<string, string> =>
  problem.status === 503 ? { 'retry-after': '1' } : {}

/** What `/problems/{code}` shows, or null for a code that no answer carries. */
export const explainProblem = (code: string): string | null => {
  if (!Object.hasOwn(explanations, code)) return null
  const known = code as ProblemCode // a key of the table above
  return `${titleOf(known)} (${statusOf(known)}, ${code})\n\n${explanations[known as ProtocolCode]}\n`
}
