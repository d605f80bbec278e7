import { type AnalysisOptions, analyze } from '../analysis/analyze.ts'
import { DittographError } from '../errors.ts'
import { normalizeUrl } from '../page/url.ts'
import type { DocumentRecord, PutOperation, Store, WriteResult } from '../store/store.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { deriveDocumentId } from './document-id.ts'
import type { NearDuplicates } from './near-duplicates.ts'
import { createPacer } from './pacer.ts'
import type {
  DocumentInput,
  DocumentService,
  DocumentView,
  DuplicatesOptions,
  StoredDocument,
} from './service.ts'
import { viewOfSignature } from './signature-view.ts'
import type { StageTimer } from './stage-timer.ts'
import type { WriteQueue } from './write-queue.ts'

const notFound = () => new DittographError('document_not_found', 'No document has this id')

const viewOf = (record: DocumentRecord): DocumentView => ({
  id: record.id,
  url: record.url,
  site: record.site,
  title: record.title,
  tokenCount: record.tokenCount,
  contentHash: Buffer.from(record.contentHash).toString('hex'),
  identicalTo: record.identicalTo,
  ...viewOfSignature(record.signature),
  createdAt: new Date(record.createdAt).toISOString(),
  updatedAt: new Date(record.updatedAt).toISOString(),
  fetchedAt: record.fetchedAt,
  metadata: record.metadata === null ? null : JSON.parse(record.metadata),
})

export class Documents implements DocumentService {
  readonly #store: Store
  readonly #writes: WriteQueue
  readonly #nearDuplicates: NearDuplicates
  readonly #analysis: AnalysisOptions
  readonly #keepText: boolean
  readonly #stages: StageTimer

  constructor(parts: {
    store: Store
    writes: WriteQueue
    nearDuplicates: NearDuplicates
    analysis: AnalysisOptions
    keepText: boolean
    stages: StageTimer
  }) {
    this.#store = parts.store
    this.#writes = parts.writes
    this.#nearDuplicates = parts.nearDuplicates
    this.#analysis = parts.analysis
    this.#keepText = parts.keepText
    this.#stages = parts.stages
  }

  async store(
    inputs: readonly DocumentInput[],
    duplicates: DuplicatesOptions | null,
  ): Promise<readonly (StoredDocument | DittographError)[]> {
    const operations: PutOperation[] = []
    const pace = createPacer()
    for (const input of inputs) {
      operations.push(this.#prepare(input))
      await pace()
    }
    let results: readonly WriteResult[]
    try {
      results = await this.#writes.write(operations)
    } catch (reason) {
      if (!(reason instanceof DittographError)) throw reason
      return inputs.map(() => reason)
    }
    const stored: StoredDocument[] = []
    for (const [i, operation] of operations.entries()) {
      const result = results[i]
      if (result?.kind !== 'put') throw new Error('The store answered a put with something else')
      const { id, url, site, tokenCount, signature } = operation
      const { status, identicalTo, set, sequence } = result
      const view: StoredDocument = { id, url, site, status, tokenCount, identicalTo }
      if (duplicates !== null) {
        const subject = { id, set, site, signature, shingles: null, storedBefore: sequence }
        view.duplicates = (await this.#nearDuplicates.find(subject, duplicates)).duplicates
        await pace()
      }
      stored.push(view)
    }
    return stored
  }

  async get(id: string): Promise<DocumentView> {
    const record = await this.#store.get(id)
    if (record === null) throw notFound()
    return viewOf(record)
  }

  async text(id: string): Promise<string> {
    const kept = (await this.#store.texts([id])).get(id)
    if (kept === undefined) throw notFound()
    if (kept.text === null)
      throw new DittographError(
        'text_not_kept',
        'This document was stored with KEEP_TEXT=false: post it again',
      )
    return kept.text
  }

  async delete(id: string): Promise<void> {
    const [result] = await this.#writes.write([{ kind: 'delete', id }])
    if (result?.kind !== 'delete' || !result.deleted) throw notFound()
  }

  async list(query: { url?: string; site?: string; limit: number; cursor: string | null }) {
    const { limit, cursor } = query
    const filter: { url?: string; site?: string } = {}
    if (query.url !== undefined) {
      const urlKey = normalizeUrl(query.url)
      if (urlKey === null)
        throw new DittographError(
          'invalid_parameter',
          'url must be an absolute URL, such as https://example.com/a',
        )
      filter.url = urlKey
    }
    if (query.site !== undefined) filter.site = query.site.toLowerCase()
    const name = JSON.stringify(['list', filter])
    const after = cursor === null ? 0 : Number(decodeCursor(name, cursor, ['number'])[0])
    // One more than asked for tells whether there is a next page.
    const records = await this.#store.list({ ...filter, after, limit: limit + 1 })
    const page = records.slice(0, limit)
    const last = page.at(-1)
    const nextCursor = records.length > limit && last ? encodeCursor(name, [last.number]) : null
    return { documents: page.map(viewOf), nextCursor }
  }

  #prepare(input: DocumentInput): PutOperation {
    const started = performance.now()
    const { url, urlKey, site, title, text, tokens, contentHash, signature } = analyze(
      input.page,
      this.#analysis,
    )
    this.#stages.observe('analyze', (performance.now() - started) / 1000)
    return {
      kind: 'put',
      id: input.id ?? deriveDocumentId(urlKey),
      url,
      urlKey,
      site,
      title,
      tokenCount: tokens.low.length,
      contentHash,
      signature,
      text: this.#keepText ? text : null,
      fetchedAt: input.fetchedAt,
      metadata: input.metadata === null ? null : JSON.stringify(input.metadata),
      now: Date.now(),
    }
  }
}
