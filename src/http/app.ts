import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { DittographError } from '../errors.ts'
import type { Collections } from '../service/service.ts'
import { Access, type KeyOptions } from './access.ts'
import { AnswerMemory } from './answer-memory.ts'
import { DocumentReader } from './document-reader.ts'
import { registerOpenapi } from './openapi.ts'
import { type ProblemCode, problemHeaders, problemOf, problemOfError } from './problem.ts'
import { comparisonRoutes } from './route/comparison.ts'
import { documentRoutes } from './route/documents.ts'
import { evaluationRoutes } from './route/evaluation.ts'
import { jobRoutes } from './route/jobs.ts'
import { nearDuplicateRoutes } from './route/near-duplicates.ts'
import { operationRoutes } from './route/operations.ts'
import { limits, NoQuery } from './schema/common.ts'
import type { Problem } from './schema/problem.ts'
import { buildParameterValidator, parameterError } from './validation.ts'

export type AppOptions = {
  /** Largest decoded body, line of an NDJSON body, or record of a WARC body. */
  readonly bodyLimitBytes: number
  /** Longest time for a request to arrive, and of a body of many documents for the next line or record. */
  readonly requestTimeoutMs: number
  readonly connectionLimit?: number
  /** Least threshold of an exact measure, the overlap apart. */
  readonly exactMinThreshold: number
  /** Who may use which collection; null: everybody the only one. */
  readonly keys: KeyOptions | null
  readonly logger: Logger | false
  readonly version: string
}

// A code point is up to 4 bytes, each of them 3 characters in a URL.
const charactersPerCodePoint = 12
const headBytes = limits.urlCharacters * charactersPerCodePoint + 32 * 1024

const requestIdOf = (raw: IncomingMessage): string => {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()
}

const answerHeaders = (requestId: string) => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
})

const sendProblem = (reply: FastifyReply, problem: Problem): FastifyReply =>
  reply
    .code(problem.status)
    .headers(problemHeaders(problem))
    .type('application/problem+json')
    .send(Buffer.from(JSON.stringify(problem))) // as bytes: to a text Fastify would add a charset

/** A problem as the bytes of a whole HTTP answer, for connections that never became a request. */
const rawAnswer = (code: ProblemCode, detail: string): string => {
  const requestId = randomUUID()
  const problem = problemOf(code, detail, requestId)
  const body = JSON.stringify(problem)
  const headers = {
    ...answerHeaders(requestId),
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Answers and then waits a moment for the client to read it: closing at once could throw the answer away. */
const endWith = (socket: Duplex, answer: string): void => {
  socket.end(answer)
  setTimeout(() => socket.destroy(), 1000).unref()
}

const checkTarget = (request: FastifyRequest): void => {
  const target = request.raw.url ?? ''
  if (!/^[\x21-\x7e]*$/.test(target))
    throw new DittographError('invalid_request', 'The URL must be percent-encoded')
  if (request.raw.httpVersion === '1.1' && request.raw.headers.host === undefined)
    throw new DittographError('invalid_request', 'The Host header is missing')
  const query = target.indexOf('?')
  if (query === -1) return
  for (const pair of target.slice(query + 1).split('&')) {
    try {
      decodeURIComponent(pair)
    } catch {
      throw parameterError(pair.split('=', 1)[0] ?? '', 'is not percent-encoded UTF-8')
    }
  }
}

/**
 * Of Fastify's own lines about requests only the one about an answer that broke off is kept: the others repeat what
 * is logged here, and hold the URL with its query.
 */
class RequestLog extends LogController {
  constructor() {
    super({ disableRequestLogging: true })
  }

  override streamError(error: Error, request: FastifyRequest): void {
    const isClientGone = Reflect.get(error, 'code') === 'ERR_STREAM_PREMATURE_CLOSE'
    if (!isClientGone) request.log.error({ err: error }, 'The answer broke off')
  }
}

/**
 * The HTTP application over the collections. It does not listen, and does not close them. Every way to
 * fail is answered as application/problem+json, those that Node finds before there is a request included.
 */
export const buildApp = async (collections: Collections, options: AppOptions): Promise<FastifyInstance> => {
  const reader = new DocumentReader(options.bodyLimitBytes, options.requestTimeoutMs)
  const access = new Access(collections, options.keys)
  const answerMemory = new AnswerMemory()
  /** The answer under way on each connection, or the last one. */
  const answers = new WeakMap<Duplex, ServerResponse>()

  const observeAnswer = (request: FastifyRequest, reply: FastifyReply): void => {
    const { method } = request
    const route = request.routeOptions.url ?? 'none'
    const status = reply.statusCode
    const milliseconds = reply.elapsedTime
    if (access.isAdmitted(request))
      access.metricsOf(request).observe(route, method, status, milliseconds / 1000)
    request.log.debug({ route, method, status, milliseconds }, 'A request was answered')
  }

  const checkIntervalMs = Math.min(5000, options.requestTimeoutMs)
  const serverOptions: FastifyHttpOptions<Server> = {
    ...(options.logger === false ? { logger: false } : { loggerInstance: options.logger }),
    logController: new RequestLog(),
    genReqId: requestIdOf,
    requestTimeout: options.requestTimeoutMs,
    // A little longer: a request that stops in the middle is answered before its connection is closed.
    connectionTimeout: options.requestTimeoutMs + 2 * checkIntervalMs,
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.idCharacters * charactersPerCodePoint },
    http: {
      maxHeaderSize: headBytes,
      headersTimeout: Math.min(60_000, options.requestTimeoutMs),
      connectionsCheckingInterval: checkIntervalMs,
      requireHostHeader: false, // Node would answer without a body; `checkTarget` does it instead
    },
    frameworkErrors: (error, request, reply) => {
      reply.raw.once('finish', () => observeAnswer(request, reply)) // here Fastify runs no hooks
      reply.headers(answerHeaders(request.id))
      sendProblem(reply, access.admit(request, reply) ?? problemOfError(error, request.id))
    },
    clientErrorHandler: (error, socket) => {
      const answer = answers.get(socket)
      const timedOut = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      if (timedOut && reader.isStreaming(socket)) return
      app.log.debug({ code: error.code }, 'A connection could not be understood')
      const isAnswering = answer?.headersSent === true && !answer.writableFinished
      if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) socket.destroy()
      else if (timedOut) endWith(socket, rawAnswer('request_timeout', 'The request did not arrive in time'))
      else if (error.code === 'HPE_HEADER_OVERFLOW')
        endWith(socket, rawAnswer('header_too_large', `The head may have at most ${headBytes} bytes`))
      else endWith(socket, rawAnswer('invalid_request', 'This is not HTTP, or it is cut short'))
    },
  }
  const app: FastifyInstance = fastify(serverOptions)
  app.setValidatorCompiler(buildParameterValidator())
  // A route that names no query parameter takes none: those of the user interface would pass over them.
  app.addHook('onRoute', (route) => {
    route.schema = { querystring: NoQuery, ...route.schema }
  })

  if (options.connectionLimit !== undefined) app.server.maxConnections = options.connectionLimit
  app.server.on('checkExpectation', app.routing)
  app.server.on('connect', (_request, socket) =>
    endWith(socket, rawAnswer('method_not_allowed', 'This service is no proxy')),
  )

  // Bodies are read by the handlers, after path and query were found valid; see DocumentReader.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  app.addHook('onRequest', async (request, reply) => {
    answers.set(request.raw.socket, reply.raw)
    reply.headers(answerHeaders(request.id))
    const refusal = access.admit(request, reply)
    if (refusal !== null) return sendProblem(reply, refusal)
    checkTarget(request)
  })
  app.addHook('onRequest', async () => answerMemory.check())
  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) answerMemory.hold(payload.length, reply.raw)
  })
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onResponse', async (request, reply) => {
    // An answer that was under way has promised to keep its connection, which would keep the server open.
    if (isClosing) setImmediate(() => app.server.closeIdleConnections())
    observeAnswer(request, reply)
  })

  app.setErrorHandler((error, request, reply) => {
    const problem = problemOfError(error, request.id)
    if (problem.status === 500) request.log.error({ err: error }, 'The request failed')
    else if (problem.status > 500) request.log.warn({ err: error }, 'The request could not be served')
    return sendProblem(reply, problem)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = app.supportedMethods.filter((method) => app.findRoute({ method, url: path }) !== null)
    if (allowed.length === 0 || allowed.includes(request.method))
      return sendProblem(reply, problemOf('route_not_found', 'There is nothing at this path', request.id))
    const allow = allowed.join(', ')
    reply.header('allow', allow)
    return sendProblem(
      reply,
      problemOf('method_not_allowed', `This path has the methods ${allow}`, request.id),
    )
  })

  await registerOpenapi(app, options.version)
  await app.register(documentRoutes(access.servicesOf, reader, options.exactMinThreshold))
  await app.register(nearDuplicateRoutes(access.servicesOf, reader, options.exactMinThreshold))
  await app.register(comparisonRoutes(access.servicesOf, reader))
  await app.register(jobRoutes(access.servicesOf, reader, options.exactMinThreshold))
  await app.register(evaluationRoutes(access.servicesOf, reader))
  await app.register(operationRoutes(collections, access))
  return app
}
