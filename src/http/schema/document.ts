import { type Static, Type } from 'typebox'
import {
  contentHashSchema,
  cursorSchema,
  idSchema,
  limitSchema,
  limits,
  nextCursorDescription,
  simhashSchema,
  supershinglesSchema,
  urlSchema,
} from './common.ts'
import { choice, closed, component, nullableText, ref } from './component.ts'
import { Duplicate } from './near-duplicates.ts'

const contentProperties = {
  html: Type.Optional(Type.String({ description: 'The page as HTML, already decoded' })),
  text: Type.Optional(Type.String({ description: 'The page as plain text, already decoded' })),
  contentBase64: Type.Optional(
    Type.String({
      contentEncoding: 'base64',
      description: 'The page as the bytes that were fetched, in base64 with padding; needs contentType',
    }),
  ),
  contentType: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'Content-Type that came with the bytes: text/html, application/xhtml+xml or text/plain, with its charset if it named one',
    }),
  ),
}

const pageExample = {
  url: 'https://example.com/products/4711',
  html: '<title>Kettle</title><p>A kettle of steel that holds two litres.</p>',
}

export const Page = component(
  'Page',
  closed(
    { url: Type.Optional(urlSchema), ...contentProperties },
    {
      description: 'A page: exactly one of html, text, or contentBase64 together with contentType.',
      examples: [pageExample],
    },
  ),
)

export const NewDocument = component(
  'NewDocument',
  closed(
    {
      id: Type.Optional(idSchema),
      url: Type.Optional(urlSchema),
      ...contentProperties,
      fetchedAt: Type.Optional(
        Type.String({
          format: 'date-time',
          maxLength: 64,
          description: 'When the page was fetched, by RFC 3339',
        }),
      ),
      metadata: Type.Optional(
        Type.Unknown({
          description: `Any JSON value, kept as it is: at most ${limits.metadataBytes} bytes as JSON and ${limits.metadataDepth} levels deep`,
        }),
      ),
    },
    {
      description:
        'A document to store: exactly one of html, text, or contentBase64 together with contentType. ' +
        'Without an id it gets one derived from its URL; without a URL too, a new UUID.',
      examples: [{ ...pageExample, fetchedAt: '2026-01-31T12:00:00Z', metadata: { crawl: 17 } }],
    },
  ),
)

export type NewDocument = Static<typeof NewDocument>

const identicalToSchema = nullableText({
  description: 'Id of the document first stored with the same token sequence; null where this is the first',
})

export const StoredDocument = component(
  'StoredDocument',
  closed(
    {
      id: Type.String(),
      url: nullableText(),
      site: nullableText({ description: 'The site of the URL; null without one' }),
      status: choice(['created', 'replaced', 'unchanged']),
      tokenCount: Type.Integer(),
      identicalTo: identicalToSchema,
      duplicates: Type.Optional(
        Type.Array(ref(Duplicate), {
          description:
            'Near-duplicates among the documents stored before; only where the query asked for them',
        }),
      ),
    },
    {
      description: 'What was stored. It is durable, and visible to every query from now on.',
      examples: [
        {
          id: 'https://example.com/products/4711',
          url: 'https://example.com/products/4711',
          site: 'example.com',
          status: 'created',
          tokenCount: 812,
          identicalTo: null,
        },
      ],
    },
  ),
)

export const Document = component(
  'Document',
  closed(
    {
      id: Type.String(),
      url: nullableText(),
      site: nullableText(),
      title: nullableText(),
      tokenCount: Type.Integer(),
      contentHash: contentHashSchema,
      identicalTo: identicalToSchema,
      supershingles: supershinglesSchema,
      simhash: simhashSchema,
      createdAt: Type.String({ format: 'date-time' }),
      updatedAt: Type.String({ format: 'date-time' }),
      fetchedAt: nullableText({ format: 'date-time' }),
      metadata: Type.Unknown(),
    },
    {
      description: 'A stored document without its text',
      examples: [
        {
          id: 'https://example.com/products/4711',
          url: 'https://example.com/products/4711',
          site: 'example.com',
          title: 'Kettle',
          tokenCount: 8,
          contentHash: '0f3a6c1d9b2e4857a1b2c3d4e5f60718',
          identicalTo: null,
          supershingles: Array.from({ length: 6 }, (_, i) => `${i}123456789abcdef`),
          simhash: '0123456789abcdef'.repeat(6),
          createdAt: '2026-01-31T12:00:01.000Z',
          updatedAt: '2026-01-31T12:00:01.000Z',
          fetchedAt: '2026-01-31T12:00:00Z',
          metadata: { crawl: 17 },
        },
      ],
    },
  ),
)

export const DocumentList = component(
  'DocumentList',
  closed(
    {
      documents: Type.Array(ref(Document)),
      nextCursor: nullableText({ description: nextCursorDescription }),
    },
    { description: 'One page of a list of documents', examples: [{ documents: [], nextCursor: null }] },
  ),
)

export const ListQuery = closed({
  // Without an example, which tools would fill in: a list is of everything unless it is asked to be of less.
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.urlCharacters,
      description: 'Only documents of this URL, which must be absolute',
    }),
  ),
  site: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Only documents of this site' }),
  ),
  limit: Type.Optional(limitSchema),
  cursor: Type.Optional(cursorSchema),
})

const rawSchema = (example: string) =>
  Type.String({ description: 'The page as it was fetched', examples: [example] })

const oneDocumentContent = {
  'application/json': { schema: ref(NewDocument) },
  'text/html': { schema: rawSchema('<title>Kettle</title><p>A kettle of steel.</p>') },
  'application/xhtml+xml': {
    schema: rawSchema('<html xmlns="http://www.w3.org/1999/xhtml"><body>A kettle of steel.</body></html>'),
  },
  'text/plain': { schema: rawSchema('A kettle of steel.') },
}

/** A body that is one document. */
export const oneDocumentBody = { content: oneDocumentContent }

/** A body that is one document or many. */
export const documentsBody = {
  content: {
    ...oneDocumentContent,
    'application/x-ndjson': {
      schema: Type.String({
        description: 'One NewDocument a line',
        examples: [
          '{"url":"https://example.com/a","text":"A kettle of steel"}\n{"id":"b","text":"Another kettle"}\n',
        ],
      }),
    },
    'application/warc': {
      schema: Type.String({
        description:
          'A WARC or ARC file: as it is, compressed record by record (gzip members), or as a whole',
        examples: [
          'WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://example.com/a\r\n' +
            'WARC-Date: 2026-01-31T12:00:00Z\r\nContent-Type: text/html\r\nContent-Length: 21\r\n\r\n' +
            '<p>A kettle of steel.\r\n\r\n',
        ],
      }),
    },
  },
}

export const manyAnswer = {
  'application/x-ndjson': {
    schema: Type.String({
      description:
        'A StoredDocument or a Problem a line, each with the number of its line in the body, and last a summary. ' +
        'For WARC: with the offset of its record, or of the gzip member that holds it; the summary adds the numbers ' +
        'of records skipped by reason, and where the file is damaged',
      examples: [
        '{"line":1,"id":"b","url":null,"site":null,"status":"created","tokenCount":2,"identicalTo":null}\n' +
          '{"summary":{"stored":1,"unchanged":0,"failed":0}}\n',
        '{"offset":512,"id":"1d0c9a2e-5b434a519c0e6a1f4f0f6f0b","url":"https://example.com/a","site":"example.com",' +
          '"status":"created","tokenCount":4,"identicalTo":null}\n' +
          '{"summary":{"stored":1,"unchanged":0,"failed":0,"skipped":{"request":1,"revisit":2},' +
          '"damaged":[{"offset":9216,"detail":"The gzip member is damaged: its checksum is another"}]}}\n',
      ],
    }),
  },
}
