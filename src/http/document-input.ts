import type { PageInput } from '../analysis/analyze.ts'
import { DittographError } from '../errors.ts'
import { kindOfPage, mediaTypeOf, pageTypes } from '../page/media-type.ts'
import type { DocumentInput } from '../service/service.ts'
import { parseJson } from './body.ts'
import type { Line } from './ndjson.ts'
import { splitPage } from './page-string.ts'
import { limits } from './schema/common.ts'
import { PagePair } from './schema/comparison.ts'
import { NewDocument, Page } from './schema/document.ts'
import { bodyError, bodyValidator, parameterError } from './validation.ts'

/** Throws an error that `refuse` makes, where the text is no absolute URL. */
const checkUrl = (url: string | undefined, refuse: (detail: string) => DittographError): string | null => {
  if (url === undefined) return null
  if (!URL.canParse(url)) throw refuse('must be an absolute URL, such as https://example.com/a')
  return url
}

/** A URL of the query; throws `invalid_parameter` where it is not an absolute one. */
export const urlParameter = (url: string | undefined): string | null =>
  checkUrl(url, (detail) => parameterError('url', detail))

type Content = Pick<NewDocument, 'url' | 'html' | 'text' | 'contentBase64' | 'contentType'>

const bytesOfBase64 = (text: string, at: string): Buffer => {
  const bytes = Buffer.from(text, 'base64')
  // Node leaves out what is not base64; only writing it again shows that nothing was.
  if (bytes.toString('base64') !== text)
    throw bodyError(`${at}/contentBase64`, 'must be base64 by RFC 4648, section 4, with padding')
  return bytes
}

/**
 * The page of a JSON object that lies at the pointer `at` of the body. `cutOut` is the inside of its html or text,
 * where that was not parsed with the rest.
 */
const pageOf = (
  { url, html, text, contentBase64, contentType }: Content,
  at: string,
  cutOut: Buffer | null = null,
): PageInput => {
  const contents = [html, text, contentBase64].filter((content) => content !== undefined)
  if (contents.length !== 1)
    throw bodyError(at, `must have exactly one of html, text and contentBase64, not ${contents.length}`)
  const pageUrl = checkUrl(url, (detail) => bodyError(`${at}/url`, detail))
  if (contentBase64 === undefined) {
    if (contentType !== undefined)
      throw bodyError(`${at}/contentType`, 'belongs to contentBase64: html and text are decoded already')
    const kind = html === undefined ? 'text' : 'html'
    if (cutOut !== null) return { url: pageUrl, content: { kind, bytes: cutOut, form: 'json' } }
    return { url: pageUrl, content: { kind, characters: html ?? text ?? '' } }
  }
  if (contentType === undefined) throw bodyError(`${at}/contentType`, 'is missing: contentBase64 needs it')
  const kind = kindOfPage(mediaTypeOf(contentType))
  if (kind === null)
    throw new DittographError(
      'unsupported_media_type',
      `contentType must be one of ${pageTypes.join(', ')}`,
      {
        items: [{ pointer: `${at}/contentType`, detail: 'is not a type of page' }],
      },
    )
  return { url: pageUrl, content: { kind, bytes: bytesOfBase64(contentBase64, at), contentType } }
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Looks at one level after the other: recursion would end in a stack overflow on hostile values. */
const isTooDeep = (value: unknown): boolean => {
  let level = [value].filter(isContainer)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limits.metadataDepth) return true
    level = level.flatMap((container) => Object.values(container)).filter(isContainer)
  }
  return false
}

/** Whether a number is not the one that was sent: too large, or an integer of more than 53 bits. */
const isInexact = (value: unknown): boolean =>
  typeof value === 'number' &&
  (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))

const hasInexactNumber = (value: unknown): boolean =>
  isInexact(value) || (isContainer(value) && Object.values(value).some(hasInexactNumber))

const checkMetadata = (metadata: unknown): unknown => {
  if (metadata === undefined || metadata === null) return null
  if (isTooDeep(metadata)) throw bodyError('/metadata', `may be at most ${limits.metadataDepth} levels deep`)
  if (Buffer.byteLength(JSON.stringify(metadata)) > limits.metadataBytes)
    throw bodyError('/metadata', `may have at most ${limits.metadataBytes} bytes as JSON`)
  if (hasInexactNumber(metadata))
    throw bodyError('/metadata', 'has a number that is not exact as a 64-bit float: send it as a text')
  return metadata
}

const validateDocument = bodyValidator(NewDocument)
const validatePair = bodyValidator(PagePair, [Page])

/** A document from the bytes of its JSON object. Throws `invalid_body` or `unsupported_media_type`. */
export const documentFromJson = (bytes: Buffer): DocumentInput => {
  const split = splitPage(bytes)
  const document = validateDocument(parseJson(split?.rest ?? bytes))
  return {
    id: document.id ?? null,
    page: pageOf(document, '', split?.page),
    fetchedAt: document.fetchedAt ?? null,
    metadata: checkMetadata(document.metadata),
  }
}

/** A document from one line of NDJSON. Throws as `documentFromJson`, and `body_too_large`. */
export const documentFromLine =
  (limitBytes: number) =>
  ({ bytes }: Line): DocumentInput => {
    if (bytes === null)
      throw new DittographError('body_too_large', `A line may have at most ${limitBytes} bytes`)
    return documentFromJson(bytes)
  }

/** Two pages from the bytes of `{a, b}`. Throws `invalid_body` or `unsupported_media_type`. */
export const pagesFromJson = (bytes: Buffer): { a: PageInput; b: PageInput } => {
  const { a, b } = validatePair(parseJson(bytes))
  return { a: pageOf(a, '/a'), b: pageOf(b, '/b') }
}

/** A page whose bytes are the whole body, `mediaType` being one of `pageTypes`. */
export const pageFromBytes = (bytes: Buffer, contentType: string, url: string | null): PageInput => ({
  url,
  content: { kind: kindOfPage(mediaTypeOf(contentType)) ?? 'text', bytes, contentType },
})
