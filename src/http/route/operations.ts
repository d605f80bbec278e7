import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DittographError } from '../../errors.ts'
import type { Collections } from '../../service/service.ts'
import type { Access } from '../access.ts'
import { openapiDocument } from '../openapi.ts'
import { explainProblem } from '../problem.ts'
import { choice, closed, jsonAnswer } from '../schema/component.ts'
import { openProblemAnswers, problemAnswers } from '../schema/problem.ts'

const tags = ['service']
const Health = closed({ status: choice(['ok']) }, { examples: [{ status: 'ok' }] })

const textAnswer = (description: string, example: string) => ({
  description,
  content: { 'text/plain': { schema: Type.String({ examples: [example] }) } },
})

/** Health, metrics, the OpenAPI document and the explanations of problems. */
export const operationRoutes =
  (collections: Collections, access: Access): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/health/live', {
      schema: {
        operationId: 'isAlive',
        summary: 'Whether the process answers',
        description: 'Looks at nothing but the process itself.',
        tags,
        security: [],
        response: { 200: jsonAnswer('It does', Health), ...openProblemAnswers(400) },
      },
      handler: async () => ({ status: 'ok' }),
    })

    app.get('/health/ready', {
      schema: {
        operationId: 'isReady',
        summary: 'Whether documents can be stored and found',
        description: 'Makes sure that all collections that are open can be read and written.',
        tags,
        security: [],
        response: { 200: jsonAnswer('They can', Health), ...openProblemAnswers(400, 503, 507) },
      },
      handler: async () => {
        try {
          await collections.ready()
        } catch (cause) {
          if (cause instanceof DittographError) throw cause
          throw new DittographError('store_busy', 'The store does not answer', { cause })
        }
        return { status: 'ok' }
      },
    })

    app.get('/metrics', {
      schema: {
        operationId: 'getMetrics',
        summary: 'Metrics in the text format of Prometheus',
        description:
          'Counts of what is stored, and histograms of requests and of the stages of work; with API keys of the ' +
          'collection of the key only. Without keys figures of the process, too.',
        tags,
        response: {
          200: textAnswer('The metrics', 'dittograph_documents 4711\n'),
          ...problemAnswers(400, 503),
        },
      },
      handler: async (request, reply) => {
        const metrics = access.metricsOf(request)
        const texts = await Promise.all([
          metrics.render(),
          access.servicesOf(request).operations.renderMetrics(),
        ])
        return reply.type(metrics.contentType).send(texts.join('\n'))
      },
    })

    app.get('/problems/:code', {
      schema: {
        operationId: 'explainProblem',
        summary: 'What a kind of problem means',
        description: 'The `type` of every problem leads here.',
        tags,
        params: closed({
          code: Type.String({
            maxLength: 64,
            description: 'code of a problem',
            examples: ['invalid_parameter'],
          }),
        }),
        response: {
          200: textAnswer('The explanation', 'A parameter is not valid (400, invalid_parameter)\n'),
          ...problemAnswers(400, 404),
        },
      },
      handler: async (request, reply) => {
        const text = explainProblem(request.params.code)
        if (text === null) throw new DittographError('route_not_found', 'There is no problem with this code')
        return reply.type('text/plain; charset=utf-8').send(text)
      },
    })

    app.get('/openapi.json', {
      schema: {
        operationId: 'getOpenapi',
        summary: 'This document',
        description: 'The contract of the service as OpenAPI 3.1; /docs shows it.',
        tags,
        response: {
          200: jsonAnswer(
            'The document',
            Type.Object({}, { additionalProperties: true, examples: [{ openapi: '3.1.0' }] }),
          ),
          ...problemAnswers(400),
        },
      },
      handler: async () => openapiDocument(app),
    })
  }
