import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ServicesOf } from '../access.ts'
import { parseJson } from '../body.ts'
import type { DocumentReader } from '../document-reader.ts'
import { NoQuery } from '../schema/common.ts'
import { jsonAnswer, ref } from '../schema/component.ts'
import {
  Evaluation,
  JudgedPair,
  Judgement,
  JudgementList,
  NewJudgement,
  Sample,
  SampleQuery,
  Statistics,
} from '../schema/evaluation.ts'
import { JobParameters, PageQuery } from '../schema/job.ts'
import { problemAnswers } from '../schema/problem.ts'
import { bodyError, bodyValidator, parameterError } from '../validation.ts'

const tags = ['evaluation']
const validateJudgement = bodyValidator(NewJudgement)

/** The paper's evaluation: samples of the pairs of a join, what people say of them, and what follows. */
export const evaluationRoutes =
  (servicesOf: ServicesOf, reader: DocumentReader): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/jobs/:id/sample', {
      schema: {
        operationId: 'samplePairs',
        summary: 'Draw a sample of the pairs of a join',
        description: 'Uniform and reproducible; all pairs where the join has no more. For a person to judge.',
        tags,
        params: JobParameters,
        querystring: SampleQuery,
        response: { 200: jsonAnswer('The sample', ref(Sample)), ...problemAnswers(400, 404, 409, 501, 503) },
      },
      handler: (request) => {
        const { size = 100, seed = 0 } = request.query
        return servicesOf(request).evaluation.sample(request.params.id, { size, seed })
      },
    })

    app.get('/jobs/:id/statistics', {
      schema: {
        operationId: 'describeJoin',
        summary: 'Describe the pairs of a join',
        description: 'Pairs by similarity, and the degree distribution; no judgements are needed.',
        tags,
        params: JobParameters,
        querystring: NoQuery,
        response: {
          200: jsonAnswer('The statistics', ref(Statistics)),
          ...problemAnswers(400, 404, 409, 501, 503),
        },
      },
      handler: (request) => servicesOf(request).evaluation.statistics(request.params.id),
    })

    app.get('/jobs/:id/evaluation', {
      schema: {
        operationId: 'evaluateJoin',
        summary: 'Evaluate a join by the judgements',
        description:
          'Precision with 95 % intervals over all pairs, by place, similarity and cut-off, and term differences. Judgements count ' +
          'for the pairs that the join has, as long as both documents have the content that was judged.',
        tags,
        params: JobParameters,
        querystring: NoQuery,
        response: {
          200: jsonAnswer('The evaluation', ref(Evaluation)),
          ...problemAnswers(400, 404, 409, 501, 503),
        },
      },
      handler: (request) => servicesOf(request).evaluation.evaluation(request.params.id),
    })

    app.put('/judgements', {
      schema: {
        operationId: 'putJudgement',
        summary: 'Judge a pair of documents',
        description: 'Replaces what was said of the two before. Both documents must be stored.',
        tags,
        querystring: NoQuery,
        body: { content: { 'application/json': { schema: ref(NewJudgement) } } },
        response: {
          200: jsonAnswer('The judgement', ref(Judgement)),
          ...problemAnswers(400, 404, 413, 415, 501, 503, 507),
        },
      },
      handler: (request) =>
        reader.withJson(request, (bytes) => {
          const { a, b, label, reason = null } = validateJudgement(parseJson(bytes))
          if (a === b) throw bodyError('/b', 'must be another document than a')
          return servicesOf(request).evaluation.judge(a, b, { label, reason })
        }),
    })

    app.get('/judgements', {
      schema: {
        operationId: 'listJudgements',
        summary: 'List judgements',
        description: 'In the order of their ids.',
        tags,
        querystring: PageQuery,
        response: {
          200: jsonAnswer('A page of the list', ref(JudgementList)),
          ...problemAnswers(400, 501, 503),
        },
      },
      handler: (request) => {
        const { limit = 50, cursor = null } = request.query
        return servicesOf(request).evaluation.judgements({ limit, cursor })
      },
    })

    app.delete('/judgements', {
      schema: {
        operationId: 'deleteJudgement',
        summary: 'Delete a judgement',
        description: 'By the ids of its documents, in either order.',
        tags,
        querystring: JudgedPair,
        response: {
          204: { type: 'null', description: 'It is deleted' },
          ...problemAnswers(400, 404, 501, 503, 507),
        },
      },
      handler: async (request, reply) => {
        const { a, b } = request.query
        if (a === b) throw parameterError('b', 'must be another document than a')
        await servicesOf(request).evaluation.forget(a, b)
        return reply.code(204).send(null)
      },
    })
  }
