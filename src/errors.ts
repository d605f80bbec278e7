/**
 * Every error that a client or an operator can meet. The code is public and keeps its meaning; the message
 * may change. `http/problem.ts` alone turns a kind into an HTTP status.
 */
export type ErrorKind =
  | 'invalid'
  | 'not-found'
  | 'conflict'
  | 'too-large'
  | 'unsupported-media-type'
  | 'not-implemented'
  | 'overloaded'
  | 'storage-full'
  | 'refused-at-start'

const definitions = {
  invalid_request: { kind: 'invalid', title: 'The request is not valid' },
  invalid_parameter: { kind: 'invalid', title: 'A parameter is not valid' },
  invalid_body: { kind: 'invalid', title: 'The request body is not valid' },
  invalid_cursor: { kind: 'invalid', title: 'The cursor is not valid' },
  document_not_found: { kind: 'not-found', title: 'No such document' },
  text_not_kept: { kind: 'not-found', title: 'The text of this document was not kept' },
  route_not_found: { kind: 'not-found', title: 'No such resource' },
  page_too_large: { kind: 'too-large', title: 'The page has too many tokens' },
  body_too_large: { kind: 'too-large', title: 'The request body is too large' },
  unsupported_media_type: { kind: 'unsupported-media-type', title: 'The media type is not supported' },
  unsupported_encoding: { kind: 'unsupported-media-type', title: 'The content encoding is not supported' },
  job_not_found: { kind: 'not-found', title: 'No such job' },
  job_has_no_result: { kind: 'conflict', title: 'The job has no such result' },
  judgement_not_found: { kind: 'not-found', title: 'No such judgement' },
  jobs_not_available: { kind: 'not-implemented', title: 'Jobs are not available' },
  job_queue_full: { kind: 'overloaded', title: 'Too many jobs are queued' },
  overloaded: { kind: 'overloaded', title: 'The service is overloaded' },
  store_busy: { kind: 'overloaded', title: 'The store is busy' },
  store_full: { kind: 'storage-full', title: 'The storage is full' },
  schema_too_new: { kind: 'refused-at-start', title: 'The database is newer than this program' },
  scheme_mismatch: { kind: 'refused-at-start', title: 'The database was filled under another scheme' },
  resign_refused: { kind: 'refused-at-start', title: 'The database cannot be re-signed' },
  database_unusable: { kind: 'refused-at-start', title: 'The database cannot be used' },
  invalid_labels: { kind: 'refused-at-start', title: 'The labelled pairs cannot be used' },
  invalid_pages: { kind: 'refused-at-start', title: 'The pages cannot be used' },
  invalid_configuration: { kind: 'refused-at-start', title: 'The configuration is not valid' },
} as const satisfies Record<string, { kind: ErrorKind; title: string }>

export type ErrorCode = keyof typeof definitions

/** One fault inside a request: `pointer` is a JSON pointer into the body, or the name of a query parameter. */
export type ErrorItem = { readonly pointer: string; readonly detail: string }

export class DittographError extends Error {
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly title: string
  readonly items: readonly ErrorItem[]

  /** `detail` says what was wrong and what is allowed; it never holds page content, SQL, keys or file paths. */
  constructor(
    code: ErrorCode,
    detail: string,
    options: { items?: readonly ErrorItem[]; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'DittographError'
    this.code = code
    this.kind = definitions[code].kind
    this.title = definitions[code].title
    this.items = options.items ?? []
  }
}

export const errorDefinitions: Readonly<Record<ErrorCode, { kind: ErrorKind; title: string }>> = definitions
