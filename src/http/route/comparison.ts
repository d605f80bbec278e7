import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ServicesOf } from '../access.ts'
import type { DocumentReader } from '../document-reader.ts'
import { DocumentParameters } from '../schema/common.ts'
import { Analysis, AnalysisQuery, Comparison, ComparisonQuery, PagePair } from '../schema/comparison.ts'
import { jsonAnswer, ref } from '../schema/component.ts'
import { oneDocumentBody } from '../schema/document.ts'
import { problemAnswers } from '../schema/problem.ts'

const tags = ['near-duplicates']
const answer = jsonAnswer('The comparison', ref(Comparison))

/** Why two pages are near-duplicates or not, and what the service makes of one page. */
export const comparisonRoutes =
  (servicesOf: ServicesOf, reader: DocumentReader): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/documents/:id/comparison', {
      schema: {
        operationId: 'compareDocuments',
        summary: 'Compare two stored documents',
        description: 'Says of each algorithm whether it takes the two for near-duplicates, and by how much.',
        tags,
        params: DocumentParameters,
        querystring: ComparisonQuery,
        response: { 200: answer, ...problemAnswers(400, 404, 503) },
      },
      handler: (request) => servicesOf(request).comparison.ofDocuments(request.params.id, request.query.with),
    })

    app.post('/comparison', {
      schema: {
        operationId: 'comparePages',
        summary: 'Compare two pages that are not stored',
        description: 'Like the comparison of stored documents; nothing is stored.',
        tags,
        body: { content: { 'application/json': { schema: ref(PagePair) } } },
        response: { 200: answer, ...problemAnswers(400, 413, 415, 503) },
      },
      handler: (request) =>
        reader.withPair(request, ({ a, b }) => servicesOf(request).comparison.ofPages(a, b)),
    })

    app.post('/analysis', {
      schema: {
        operationId: 'analyzePage',
        summary: 'Tokens and signatures of a page',
        description:
          'Takes the body of one document and stores nothing. `url` is a parameter for raw bodies only.',
        tags,
        querystring: AnalysisQuery,
        body: oneDocumentBody,
        response: { 200: jsonAnswer('The analysis', ref(Analysis)), ...problemAnswers(400, 413, 415, 503) },
      },
      handler: (request) =>
        reader.withDocument(request, request.query, ({ page }) =>
          servicesOf(request).comparison.analyze(page),
        ),
    })
  }
