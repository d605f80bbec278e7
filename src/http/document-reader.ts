import type { Duplex } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { PageInput } from '../analysis/analyze.ts'
import { DittographError } from '../errors.ts'
import { kindOfPage, mediaTypeOf } from '../page/media-type.ts'
import type { DocumentInput } from '../service/service.ts'
import { ArchiveTally, batchesOfArchive, type RecordPlace } from './archive.ts'
import { BodyMemory, GrowingBytes, readChunks, withBody } from './body.ts'
import {
  documentFromJson,
  documentFromLine,
  pageFromBytes,
  pagesFromJson,
  urlParameter,
} from './document-input.ts'
import { batchesOf, type Entry, LineSplitter } from './ndjson.ts'
import { parameterError } from './validation.ts'

/** What the query says about a raw body, which cannot say it itself. */
type RawParameters = { readonly url?: string | undefined; readonly id?: string | undefined }

const json = 'application/json'
const ndjson = 'application/x-ndjson'
/** Of files that are compressed record by record, too: their bytes tell. */
const archiveTypes = ['application/warc', 'application/warc+gzip']
const documentTypes = `one of ${json}, text/html, application/xhtml+xml and text/plain, or for POST /documents ${ndjson} or ${archiveTypes[0]}`

const mediaTypeOfRequest = (request: FastifyRequest): string =>
  mediaTypeOf(request.headers['content-type'] ?? '')

const unsupported = (allowed: string): DittographError =>
  new DittographError('unsupported_media_type', `The Content-Type must be ${allowed}`)

const refuseRawParameters = (parameters: RawParameters): void => {
  for (const name of ['url', 'id'] as const)
    if (parameters[name] !== undefined)
      throw parameterError(name, 'is for raw bodies only: many documents, or one in JSON, name their own')
}

/** All bodies of many requests may take this many times the largest single one. */
const bodiesInMemory = 8

/** Turns request bodies into the inputs of the services; of one application, since its requests share memory. */
export class DocumentReader {
  readonly #streaming = new WeakSet<Duplex>()
  readonly #stallMs: number
  readonly #limits: { readonly limitBytes: number; readonly memory: BodyMemory }

  /** `stallMs`: how long a body of many documents may go without the end of a line or record. */
  constructor(limitBytes: number, stallMs: number) {
    this.#stallMs = stallMs
    this.#limits = { limitBytes, memory: new BodyMemory(bodiesInMemory * limitBytes) }
  }

  /** Reads a body that is one document, as JSON or raw, and hands it to `use`. */
  async withDocument<T>(
    request: FastifyRequest,
    parameters: RawParameters,
    use: (document: DocumentInput) => Promise<T>,
  ): Promise<T> {
    const mediaType = mediaTypeOfRequest(request)
    if (mediaType === json) {
      refuseRawParameters(parameters)
      return withBody(request.raw, this.#limits, (bytes) => use(documentFromJson(bytes)))
    }
    if (kindOfPage(mediaType) === null) throw unsupported(documentTypes)
    const url = urlParameter(parameters.url)
    const contentType = request.headers['content-type'] ?? ''
    return withBody(request.raw, this.#limits, (bytes) =>
      use({
        id: parameters.id ?? null,
        page: pageFromBytes(bytes, contentType, url),
        fetchedAt: null,
        metadata: null,
      }),
    )
  }

  /** Reads a body of two pages and hands them to `use`. */
  async withPair<T>(
    request: FastifyRequest,
    use: (pages: { a: PageInput; b: PageInput }) => Promise<T>,
  ): Promise<T> {
    return this.withJson(request, (bytes) => use(pagesFromJson(bytes)))
  }

  /** Reads a body that is JSON but no page, and hands its bytes to `use`. */
  async withJson<T>(request: FastifyRequest, use: (bytes: Buffer) => Promise<T>): Promise<T> {
    if (mediaTypeOfRequest(request) !== json) throw unsupported(json)
    return withBody(request.raw, this.#limits, use)
  }

  isNdjson(request: FastifyRequest): boolean {
    return mediaTypeOfRequest(request) === ndjson
  }

  /** The documents of an NDJSON body in batches, as `batchesOf` gives them. */
  batches(
    request: FastifyRequest,
    parameters: RawParameters,
  ): AsyncGenerator<readonly Entry<DocumentInput>[]> {
    refuseRawParameters(parameters)
    const { limitBytes, memory } = this.#limits
    const splitter = new LineSplitter(limitBytes, memory)
    return this.#whileStreaming(
      request,
      () => splitter.number,
      batchesOf(readChunks(request.raw), splitter, documentFromLine(limitBytes)),
    )
  }

  isArchive(request: FastifyRequest): boolean {
    return archiveTypes.includes(mediaTypeOfRequest(request))
  }

  /** The documents of a WARC body in batches, as `batchesOfArchive` gives them, and what else it holds. */
  archiveBatches(
    request: FastifyRequest,
    parameters: RawParameters,
  ): { batches: AsyncGenerator<readonly Entry<DocumentInput, RecordPlace>[]>; tally: ArchiveTally } {
    refuseRawParameters(parameters)
    const { limitBytes, memory } = this.#limits
    const limits = { limitBytes, createStore: () => new GrowingBytes(memory) }
    const tally = new ArchiveTally()
    const batches = batchesOfArchive(readChunks(request.raw), limits, tally)
    return { batches: this.#whileStreaming(request, () => tally.recordCount, batches), tally }
  }

  /**
   * The batches, as long as the body makes progress, which `place` counts. A client that keeps its connection busy
   * without ever ending a line would hold memory that others wait for: it is cut off.
   */
  async *#whileStreaming<T>(
    request: FastifyRequest,
    place: () => number,
    batches: AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const { raw } = request
    this.#streaming.add(raw.socket)
    let last = place()
    // While a batch is being stored it is the client that waits.
    let isReading = true
    const timer = setInterval(() => {
      if (isReading && place() === last) raw.destroy()
      last = place()
    }, this.#stallMs)
    try {
      for await (const batch of batches) {
        isReading = false
        yield batch
        isReading = true
        timer.refresh()
      }
    } finally {
      clearInterval(timer)
      this.#streaming.delete(raw.socket)
    }
  }

  /** Whether a body of many documents is being read: it may take as long as it keeps moving. */
  isStreaming(socket: Duplex): boolean {
    return this.#streaming.has(socket)
  }
}
