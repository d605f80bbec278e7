import type { FastifyReply, FastifyRequest } from 'fastify'
import { defaultCollection } from '../access/collection-name.ts'
import type { KeyRecord } from '../access/key-file.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { RateLimit } from '../access/rate-limit.ts'
import type { Collections, Services } from '../service/service.ts'
import { documentationPath } from './openapi.ts'
import { problemOf } from './problem.ts'
import { RequestMetrics } from './request-metrics.ts'
import type { Problem } from './schema/problem.ts'

export type KeyOptions = {
  readonly ring: KeyRing
  /** For keys that have no limit of their own; 0: none. */
  readonly requestsPerMinute: number
}

/** Gives the services of the collection that a request may use. */
export type ServicesOf = (request: FastifyRequest) => Services

const bearer = 'Bearer realm="dittograph"'
const basic = 'Basic realm="dittograph", charset="UTF-8"'

/** What the OpenAPI document says of the route is what counts. */
const isOpenToAll = ({ routeOptions }: FastifyRequest): boolean => routeOptions.schema?.security?.length === 0

/** A browser can send a key as the password of Basic authentication only; with that it gets to read and no more. */
const isDocumentation = ({ method, routeOptions: { url = '' } }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (url === documentationPath || url.startsWith(`${documentationPath}/`))

/** The key that a request carries, or null. */
const keyOf = (request: FastifyRequest): string | null => {
  const [, scheme = '', credentials = ''] =
    /^([a-z]+) +([\x21-\x7e]+) *$/i.exec(request.headers.authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return credentials
  if (scheme.toLowerCase() !== 'basic' || !isDocumentation(request)) return null
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/**
 * Decides in one place what a request may use. With keys, each request but those of the open routes needs one, and
 * gets to see the collection of that key and nothing else; without, everybody gets to see the only collection.
 */
export class Access {
  readonly #collections: Collections
  readonly #keys: KeyOptions | null
  readonly #rates = new RateLimit()
  readonly #admitted = new WeakMap<FastifyRequest, string>()
  readonly #metrics = new Map<string, RequestMetrics>()

  constructor(collections: Collections, keys: KeyOptions | null) {
    this.#collections = collections
    this.#keys = keys
  }

  /** Lets a request in, or gives the problem that it is to be answered with, whose headers are set. */
  admit(request: FastifyRequest, reply: FastifyReply): Problem | null {
    if (this.#keys === null) {
      this.#admitted.set(request, defaultCollection)
      return null
    }
    if (isOpenToAll(request)) return null
    const key = keyOf(request)
    const record = key === null ? null : this.#keys.ring.find(key)
    if (record === null) {
      reply.header('www-authenticate', isDocumentation(request) ? [bearer, basic] : bearer)
      const detail = 'This service needs an API key that it knows: Authorization: Bearer KEY'
      return problemOf('unauthorized', detail, request.id)
    }
    const seconds = this.#takeTurn(record)
    if (seconds > 0) {
      reply.header('retry-after', seconds)
      const detail = `This key may send ${this.#limitOf(record)} requests a minute`
      return problemOf('rate_limited', detail, request.id)
    }
    this.#admitted.set(request, record.collection)
    return null
  }

  /** The services of the collection of a request that was let in. */
  readonly servicesOf: ServicesOf = (request) => this.#collections.services(this.#collectionOf(request))

  /** Whether a collection was found for the request; the open routes have none where there are keys. */
  isAdmitted(request: FastifyRequest): boolean {
    return this.#admitted.has(request)
  }

  /** Figures about the requests of the collection of a request that was let in. */
  metricsOf(request: FastifyRequest): RequestMetrics {
    const collection = this.#collectionOf(request)
    const known = this.#metrics.get(collection)
    if (known !== undefined) return known
    // What the process does, it does for all collections: with keys nobody gets to see that.
    const metrics = new RequestMetrics({ ofProcess: this.#keys === null })
    this.#metrics.set(collection, metrics)
    return metrics
  }

  #collectionOf(request: FastifyRequest): string {
    const collection = this.#admitted.get(request)
    if (collection === undefined) throw new Error('A request that was not let in asks for a collection')
    return collection
  }

  #limitOf({ requestsPerMinute }: KeyRecord): number {
    return requestsPerMinute ?? this.#keys?.requestsPerMinute ?? 0
  }

  #takeTurn(record: KeyRecord): number {
    const perMinute = this.#limitOf(record)
    return perMinute === 0 ? 0 : this.#rates.take(record.id, perMinute, performance.now())
  }
}
