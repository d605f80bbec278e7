import type { Analyzer } from '../analysis/analyzer.ts'
import { DittographError } from '../errors.ts'
import { normalizeUrl } from '../page/url.ts'
import type { DocumentRecord, PutOperation, Store, WriteResult } from '../store/store.ts'
import { noteYoungGarbage } from '../young-garbage.ts'
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

/** Characters of metadata in one page of a list, which ends early where there is more. */
const mostMetadataInPage = 4 * 1024 * 1024

/** How many records, at least one, have no more metadata than that. */
const countWithin = (records: readonly DocumentRecord[], characters: number): number => {
  let left = characters
  const end = records.findIndex((record, i) => {
    left -= record.metadata?.length ?? 0
    return left < 0 && i > 0
  })
  return end < 0 ? records.length : end
}

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
  readonly #analyzer: Analyzer
  readonly #keepText: boolean
  readonly #stages: StageTimer

  constructor(parts: {
    store: Store
    writes: WriteQueue
    nearDuplicates: NearDuplicates
    analyzer: Analyzer
    keepText: boolean
    stages: StageTimer
  }) {
    this.#store = parts.store
    this.#writes = parts.writes
    this.#nearDuplicates = parts.nearDuplicates
    this.#analyzer = parts.analyzer
    this.#keepText = parts.keepText
    this.#stages = parts.stages
  }

  async store(
    inputs: readonly DocumentInput[],
    duplicates: DuplicatesOptions | null,
  ): Promise<readonly (StoredDocument | DittographError)[]> {
    const prepared: (PutOperation | DittographError)[] = []
    const pace = createPacer()
    for (const input of inputs) {
      prepared.push(this.#tryToPrepare(input))
      await pace()
    }
    const stored: (StoredDocument | DittographError)[] = []
    for (const group of duplicates === null ? [prepared] : await this.#groupByReplacement(prepared))
      stored.push(...(await this.#storeGroup(group, duplicates)))
    return stored
  }

  /**
   * Groups that can be written before the near-duplicates of their members are sought: what replaces a document
   * begins a new one, since those before it have to be answered by the document as it was.
   */
  async #groupByReplacement(
    prepared: readonly (PutOperation | DittographError)[],
  ): Promise<(PutOperation | DittographError)[][]> {
    const groups: (PutOperation | DittographError)[][] = [[]]
    const seen = new Set<string>()
    for (const one of prepared) {
      if (!(one instanceof DittographError)) {
        if (seen.has(one.id) || (await this.#store.get(one.id)) !== null) groups.push([])
        seen.add(one.id)
      }
      groups.at(-1)?.push(one)
    }
    return groups
  }

  async #storeGroup(
    group: readonly (PutOperation | DittographError)[],
    duplicates: DuplicatesOptions | null,
  ): Promise<(StoredDocument | DittographError)[]> {
    const operations = group.filter((one) => !(one instanceof DittographError))
    let results: readonly WriteResult[] = []
    try {
      if (operations.length > 0) results = await this.#writes.write(operations)
    } catch (reason) {
      if (!(reason instanceof DittographError)) throw reason
      return group.map((one) => (one instanceof DittographError ? one : reason))
    }
    const pace = createPacer()
    const stored: (StoredDocument | DittographError)[] = []
    let written = 0
    for (const one of group) {
      if (one instanceof DittographError) stored.push(one)
      else {
        stored.push(await this.#viewOfStored(one, results[written++], duplicates))
        await pace()
      }
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
    return Buffer.from(kept.text).toString()
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
    const page = records.slice(0, Math.min(limit, countWithin(records, mostMetadataInPage)))
    const last = page.at(-1)
    const nextCursor = records.length > page.length && last ? encodeCursor(name, [last.number]) : null
    return { documents: page.map(viewOf), nextCursor }
  }

  async #viewOfStored(
    operation: PutOperation,
    result: WriteResult | undefined,
    duplicates: DuplicatesOptions | null,
  ): Promise<StoredDocument> {
    if (result?.kind !== 'put') throw new Error('The store answered a put with something else')
    const { id, url, site, tokenCount, signature } = operation
    const { status, identicalTo, set, sequence } = result
    const view: StoredDocument = { id, url, site, status, tokenCount, identicalTo }
    if (duplicates === null) return view
    const subject = { id, set, site, signature, tokens: null, storedBefore: sequence }
    return { ...view, duplicates: (await this.#nearDuplicates.find(subject, duplicates)).duplicates }
  }

  /** What is wrong with one page is the result of that page alone. */
  #tryToPrepare(input: DocumentInput): PutOperation | DittographError {
    try {
      return this.#prepare(input)
    } catch (reason) {
      if (reason instanceof DittographError) return reason
      throw reason
    }
  }

  #prepare(input: DocumentInput): PutOperation {
    const started = performance.now()
    const { text, ...sketch } = this.#analyzer.sketch(input.page)
    this.#stages.observe('analyze', (performance.now() - started) / 1000)
    noteYoungGarbage(text.byteLength)
    return {
      kind: 'put',
      ...sketch,
      id: input.id ?? deriveDocumentId(sketch.urlKey),
      text: this.#keepText ? text : null,
      fetchedAt: input.fetchedAt,
      metadata: input.metadata === null ? null : JSON.stringify(input.metadata),
      now: Date.now(),
    }
  }
}
