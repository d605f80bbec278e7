import { type Static, Type } from 'typebox'
import { closed, component, ref } from './component.ts'

export const Problem = component(
  'Problem',
  closed(
    {
      type: Type.String({ description: 'Where the kind of problem is explained' }),
      title: Type.String({ description: 'The kind of problem, in the same words each time' }),
      status: Type.Integer({ minimum: 400, maximum: 599 }),
      detail: Type.String({ description: 'What was wrong this time, and what is allowed' }),
      instance: Type.String({ description: 'The request, by its x-request-id' }),
      code: Type.String({ description: 'The kind of problem, for programs' }),
      errors: Type.Optional(
        Type.Array(
          closed({
            pointer: Type.String({ description: 'JSON pointer into the body, or name of a parameter' }),
            detail: Type.String(),
          }),
        ),
      ),
    },
    {
      description: 'A problem by RFC 9457',
      examples: [
        {
          type: '/problems/invalid_parameter',
          title: 'A parameter is not valid',
          status: 400,
          detail: 'The query parameter limit must be <= 1000',
          instance: 'urn:request:0d1c9a2e-5b43-4a51-9c0e-6a1f4f0f6f0b',
          code: 'invalid_parameter',
          errors: [{ pointer: 'limit', detail: 'must be <= 1000' }],
        },
      ],
    },
  ),
)

export type Problem = Static<typeof Problem>

const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait before trying again' } }

const problemDescriptions = {
  400: 'The request is malformed or against the schema',
  401: 'The service has API keys, and this request came without one that it knows',
  404: 'There is no such document, or job',
  409: 'The job has no such result, or does not have it yet',
  413: 'The decoded body is larger than the limit',
  415: 'The media type or the content encoding is not supported',
  429: 'The key has sent too many requests; try again',
  501: 'There are no jobs with this database, or no joins by this algorithm',
  503: 'The service is overloaded or the store is busy; try again',
  507: 'The storage is full; reading goes on',
} as const

export type ProblemStatus = keyof typeof problemDescriptions

const challenge = { 'WWW-Authenticate': { type: 'string', description: 'How to send the key' } }

const headersOf = (status: ProblemStatus): object => {
  if (status === 401) return challenge
  return status === 429 || status === 503 ? retryAfter : {}
}

/**
 * `response` entries for problems of a route that is open to all: those of the given statuses, and one for whatever
 * else may go wrong.
 */
export const openProblemAnswers = (...statuses: readonly ProblemStatus[]) => {
  const answer = (description: string, headers: object = {}) => ({
    description,
    headers,
    content: { 'application/problem+json': { schema: ref(Problem) } },
  })
  return {
    ...Object.fromEntries(
      statuses.map((status) => [status, answer(problemDescriptions[status], headersOf(status))]),
    ),
    default: answer('Any other failure, such as 405, 408, 431 or 500'),
  }
}

/** The same for a route that needs a key where the service has keys. */
export const problemAnswers = (...statuses: readonly ProblemStatus[]) =>
  openProblemAnswers(...statuses, 401, 429)
