import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { DittographError } from '../../errors.ts'
import type { DocumentInput, DuplicatesOptions } from '../../service/service.ts'
import type { ServicesOf } from '../access.ts'
import { urlParameter } from '../document-input.ts'
import type { DocumentReader } from '../document-reader.ts'
import { storeDuplicatesOptions } from '../duplicates-query.ts'
import { answerBatches, type Entry } from '../ndjson.ts'
import { problemOfError } from '../problem.ts'
import { DocumentParameters } from '../schema/common.ts'
import { jsonAnswer, ref } from '../schema/component.ts'
import {
  Document,
  DocumentList,
  documentsBody,
  ListQuery,
  manyAnswer,
  oneDocumentBody,
  StoredDocument,
} from '../schema/document.ts'
import { PostQuery, PutQuery } from '../schema/near-duplicates.ts'
import { problemAnswers } from '../schema/problem.ts'
import { bodyError } from '../validation.ts'

const tags = ['documents']
const location = { Location: { type: 'string', description: 'Path of the document' } }
const created = jsonAnswer('The document is new', ref(StoredDocument), location)
const known = jsonAnswer('The document was replaced, or is unchanged', ref(StoredDocument), location)

const storeOptionsDescription =
  '`duplicates` puts near-duplicates, found among the documents stored before, into each result; the options ' +
  'of the search go with it only. '

/** Encodes dots too where they would be taken for a step in the path. */
const pathOf = (id: string): string =>
  `/documents/${/^\.{1,2}$/.test(id) ? id.replaceAll('.', '%2E') : encodeURIComponent(id)}`

/**
 * Results that wait in memory for a client that sends all of its body before it reads: up to so much it may do
 * so, beyond that it gets no further until it reads.
 */
const waitingResultsBytes = 8 * 1024 * 1024

/** What was taken off a generator, and then the rest of it; closing this closes the generator. */
async function* putBack<T>(first: IteratorResult<T, unknown>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    if (first.done) return
    yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

/** Storing documents, reading them back, listing and deleting them. */
export const documentRoutes =
  (servicesOf: ServicesOf, reader: DocumentReader, leastThreshold: number): FastifyPluginAsyncTypebox =>
  async (app) => {
    const storeOne = async (
      request: FastifyRequest,
      document: DocumentInput,
      options: DuplicatesOptions | null,
      reply: FastifyReply,
    ): Promise<FastifyReply> => {
      const [stored] = await servicesOf(request).documents.store([document], options)
      if (stored === undefined) throw new Error('The service gave no result for a document')
      if (stored instanceof DittographError) throw stored
      return reply
        .code(stored.status === 'created' ? 201 : 200)
        .header('location', pathOf(stored.id))
        .send(stored)
    }

    const storeMany = async <Place extends object>(
      request: FastifyRequest,
      batches: AsyncGenerator<readonly Entry<DocumentInput, Place>[]>,
      options: DuplicatesOptions | null,
      reply: FastifyReply,
      moreSummary: () => object = () => ({}),
    ): Promise<FastifyReply> => {
      const { documents } = servicesOf(request)
      // Until the first batch is there, a body that holds no document at all can still be answered as a whole.
      const first = await batches.next()
      const problemOf = (error: unknown) => {
        const problem = problemOfError(error, request.id)
        if (problem.status === 500) request.log.error({ err: error }, 'Documents could not be stored')
        return problem
      }
      const answers = answerBatches(
        putBack(first, batches),
        (inputs) => documents.store(inputs, options),
        problemOf,
        moreSummary,
      )
      return reply
        .type('application/x-ndjson')
        .send(Readable.from(answers, { objectMode: false, highWaterMark: waitingResultsBytes }))
    }

    app.post('/documents', {
      schema: {
        operationId: 'storeDocuments',
        summary: 'Store one document, or many',
        description:
          'One document as JSON or as a raw page, one JSON document a line, or an archive of fetched pages. ' +
          'Documents with the id of a stored one replace it. NDJSON and WARC are answered while they are read: a ' +
          'result or a problem a document, in order, and a bad one stops nothing else. Of a WARC or ARC file, ' +
          'compressed by record or not, the responses with status 2xx and the resources that are HTML or plain ' +
          `text are stored under their URLs. ${storeOptionsDescription}\`url\` and \`id\` are for raw pages only.`,
        tags,
        querystring: PostQuery,
        body: documentsBody,
        response: {
          200: { ...known, content: { ...known.content, ...manyAnswer } },
          201: created,
          ...problemAnswers(400, 413, 415, 503, 507),
        },
      },
      handler: async (request, reply) => {
        const { url, id, ...search } = request.query
        const options = storeDuplicatesOptions(search, leastThreshold)
        if (reader.isNdjson(request))
          return storeMany(request, reader.batches(request, { url, id }), options, reply)
        if (reader.isArchive(request)) {
          const { batches, tally } = reader.archiveBatches(request, { url, id })
          return storeMany(request, batches, options, reply, () => tally.summary())
        }
        return reader.withDocument(request, { url, id }, (document) =>
          storeOne(request, document, options, reply),
        )
      },
    })

    app.put('/documents/:id', {
      schema: {
        operationId: 'putDocument',
        summary: 'Create or replace a document',
        description: `One document as JSON or as a raw page; an id in the JSON must be that of the path. ${storeOptionsDescription}\`url\` is for raw pages only.`,
        tags,
        params: DocumentParameters,
        querystring: PutQuery,
        body: oneDocumentBody,
        response: { 200: known, 201: created, ...problemAnswers(400, 413, 415, 503, 507) },
      },
      handler: async (request, reply) => {
        const { id } = request.params
        const { url, ...search } = request.query
        const options = storeDuplicatesOptions(search, leastThreshold)
        return reader.withDocument(request, { url }, (document) => {
          if (document.id !== null && document.id !== id)
            throw bodyError('/id', 'must be the id in the path, or be left out')
          return storeOne(request, { ...document, id }, options, reply)
        })
      },
    })

    app.get('/documents/:id', {
      schema: {
        operationId: 'getDocument',
        summary: 'Read a document',
        description: 'All that is stored of it but its text.',
        tags,
        params: DocumentParameters,
        response: { 200: jsonAnswer('The document', ref(Document)), ...problemAnswers(400, 404, 503) },
      },
      handler: (request) => servicesOf(request).documents.get(request.params.id),
    })

    app.get('/documents/:id/text', {
      schema: {
        operationId: 'getDocumentText',
        summary: 'Read the text of a document',
        description: 'The text as it was taken from the page, where texts are kept.',
        tags,
        params: DocumentParameters,
        response: {
          200: {
            description: 'The text',
            content: { 'text/plain': { schema: Type.String({ examples: ['A kettle of steel.'] }) } },
          },
          ...problemAnswers(400, 404, 503),
        },
      },
      handler: async (request, reply) => {
        const text = await servicesOf(request).documents.text(request.params.id)
        return reply.type('text/plain; charset=utf-8').send(text)
      },
    })

    app.delete('/documents/:id', {
      schema: {
        operationId: 'deleteDocument',
        summary: 'Delete a document',
        description: 'With it goes all by which it was found.',
        tags,
        params: DocumentParameters,
        response: {
          204: { type: 'null', description: 'It is deleted' },
          ...problemAnswers(400, 404, 503, 507),
        },
      },
      handler: async (request, reply) => {
        await servicesOf(request).documents.delete(request.params.id)
        return reply.code(204).send(null)
      },
    })

    app.get('/documents', {
      schema: {
        operationId: 'listDocuments',
        summary: 'List documents',
        description: 'All of them, or those of one URL or one site, page by page.',
        tags,
        querystring: ListQuery,
        response: { 200: jsonAnswer('A page of the list', ref(DocumentList)), ...problemAnswers(400, 503) },
      },
      handler: async (request) => {
        const { url, site, limit = 50, cursor = null } = request.query
        urlParameter(url)
        return servicesOf(request).documents.list({
          ...(url === undefined ? {} : { url }),
          ...(site === undefined ? {} : { site }),
          limit,
          cursor,
        })
      },
    })
  }
