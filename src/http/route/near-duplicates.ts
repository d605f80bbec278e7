import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ServicesOf } from '../access.ts'
import type { DocumentReader } from '../document-reader.ts'
import { duplicatesOptions } from '../duplicates-query.ts'
import { DocumentParameters } from '../schema/common.ts'
import { jsonAnswer, ref } from '../schema/component.ts'
import { oneDocumentBody } from '../schema/document.ts'
import { Duplicates, DuplicatesQuery, PageDuplicatesQuery } from '../schema/near-duplicates.ts'
import { problemAnswers } from '../schema/problem.ts'

const tags = ['near-duplicates']
const answer = jsonAnswer('The near-duplicates', ref(Duplicates))

/** Near-duplicates of a stored document, and of a page that is not stored. */
export const nearDuplicateRoutes =
  (servicesOf: ServicesOf, reader: DocumentReader, leastThreshold: number): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/documents/:id/duplicates', {
      schema: {
        operationId: 'findDuplicatesOfDocument',
        summary: 'Near-duplicates of a stored document',
        description:
          'The document itself is never among them; documents identical to it are. An option that the ' +
          'algorithm does not use is refused.',
        tags,
        params: DocumentParameters,
        querystring: DuplicatesQuery,
        response: { 200: answer, ...problemAnswers(400, 404, 503) },
      },
      handler: (request) =>
        servicesOf(request).nearDuplicates.ofDocument(
          request.params.id,
          duplicatesOptions(request.query, leastThreshold),
        ),
    })

    app.post('/duplicates', {
      schema: {
        operationId: 'findDuplicatesOfPage',
        summary: 'Near-duplicates of a page that is not stored',
        description:
          'Takes the body of one document and stores nothing. `url` is a parameter for raw bodies only; an ' +
          'option that the algorithm does not use is refused.',
        tags,
        querystring: PageDuplicatesQuery,
        body: oneDocumentBody,
        response: { 200: answer, ...problemAnswers(400, 413, 415, 503) },
      },
      handler: async (request) => {
        const { url, ...search } = request.query
        const options = duplicatesOptions(search, leastThreshold)
        return reader.withDocument(request, { url }, ({ page }) =>
          servicesOf(request).nearDuplicates.ofPage(page, options),
        )
      },
    })
  }
