import { setTimeout } from 'node:timers/promises'
import { DittographError } from '../errors.ts'
import type { DocumentInput } from '../service/service.ts'
import { type ArchivedPage, pageOfRecord, type SkipReason } from '../warc/archived-page.ts'
import type { RecordLimits } from '../warc/byte-store.ts'
import { type Damage, readRecords } from '../warc/record-reader.ts'
import { pageFromBytes } from './document-input.ts'
import { type Entry, mostBytesInBatch, mostEntriesInBatch, pauseMs } from './ndjson.ts'
import { limits as httpLimits } from './schema/common.ts'
import { bodyError } from './validation.ts'

/** Where in an archive a document comes from: offset of the record or of its gzip member, and its URL. */
export type RecordPlace = { readonly offset: number; readonly url: string | null }

const mostDamages = 1000
/** Memory for bodies is taken by so much at least, however small the record. */
const leastBytesHeld = 16 * 1024

/** What of an archive has become no document. */
export class ArchiveTally {
  readonly #skipped = new Map<SkipReason, number>()
  readonly #damaged: Pick<Damage, 'offset' | 'detail'>[] = []
  #moreDamages = 0
  #recordCount = 0

  get recordCount(): number {
    return this.#recordCount
  }

  countRecord(): void {
    this.#recordCount += 1
  }

  countSkipped(reason: SkipReason): void {
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1)
  }

  countDamage({ offset, detail }: Damage): void {
    if (this.#damaged.length < mostDamages) this.#damaged.push({ offset, detail })
    else this.#moreDamages += 1
  }

  /** Numbers by reason, and the first 1,000 places of damage; one that stands for all others is the last. */
  summary(): {
    skipped: Readonly<Record<string, number>>
    damaged: readonly { readonly offset: number; readonly detail: string }[]
  } {
    const last = this.#damaged.at(-1)
    const more =
      this.#moreDamages > 0 && last !== undefined
        ? [{ offset: last.offset, detail: `Behind this there are ${this.#moreDamages} more damaged places` }]
        : []
    return { skipped: Object.fromEntries(this.#skipped), damaged: [...this.#damaged, ...more] }
  }
}

/** Throws `invalid_body` where the URL is none that a document can have. */
const documentOf = (page: ArchivedPage): DocumentInput => {
  const { url, bytes, contentType, fetchedAt, truncated } = page
  if (url === null || url.length > httpLimits.urlCharacters || !URL.canParse(url))
    throw new DittographError(
      'invalid_body',
      `The WARC-Target-URI of a page must be an absolute URL of at most ${httpLimits.urlCharacters} characters`,
    )
  return {
    id: null,
    page: pageFromBytes(bytes, contentType, url),
    fetchedAt,
    metadata: truncated === null ? null : { warcTruncated: truncated.slice(0, 100) },
  }
}

type ArchiveEntry = {
  readonly entry: Entry<DocumentInput, RecordPlace>
  readonly bytes: number
  readonly release: () => void
}

async function* entriesOf(
  chunks: AsyncIterable<Uint8Array>,
  limits: RecordLimits,
  tally: ArchiveTally,
): AsyncGenerator<ArchiveEntry> {
  for await (const item of readRecords(chunks, limits)) {
    if (item.kind === 'damage') {
      tally.countDamage(item)
      continue
    }
    tally.countRecord()
    const { offset } = item
    let page: ArchivedPage | SkipReason
    try {
      page = await pageOfRecord(item, limits)
    } catch (error) {
      yield { entry: { offset, url: null, error }, bytes: 0, release: () => {} }
      continue
    }
    if (typeof page === 'string') {
      tally.countSkipped(page)
      continue
    }
    const { url, bytes, release } = page
    let entry: Entry<DocumentInput, RecordPlace>
    try {
      entry = { offset, url, input: documentOf(page) }
    } catch (error) {
      entry = { offset, url: url?.slice(0, httpLimits.urlCharacters) ?? null, error }
    }
    yield { entry, bytes: bytes.length, release }
  }
}

/**
 * The documents of a WARC or ARC file in batches, as `batchesOf` gives those of lines; the memory of a batch is
 * used again when the next one is asked for. What becomes no document is counted in `tally`. A file without any
 * record throws, and so does a fault of the source before the first record.
 */
export async function* batchesOfArchive(
  chunks: AsyncIterable<Uint8Array>,
  limits: RecordLimits,
  tally: ArchiveTally,
): AsyncGenerator<readonly Entry<DocumentInput, RecordPlace>[]> {
  const entries = entriesOf(chunks, limits, tally)
  let batch: ArchiveEntry[] = []
  let batchBytes = 0
  const release = () => {
    for (const one of batch) one.release()
    batch = []
    batchBytes = 0
  }
  const content = () => batch.map(({ entry }) => entry)
  let lastPlace: RecordPlace = { offset: 0, url: null }
  const mostBytes = Math.min(mostBytesInBatch, limits.limitBytes)
  let last: Entry<DocumentInput, RecordPlace>[] = []
  let next = entries.next()
  try {
    try {
      for (;;) {
        // While a batch is being stored nobody waits for `next`: a rejection is met later, not unhandled.
        next.catch(() => {})
        const result = batch.length === 0 ? await next : await Promise.race([next, setTimeout(pauseMs, null)])
        if (result?.done === true) break
        if (result !== null) {
          const { offset, url } = result.value.entry
          lastPlace = { offset, url }
          batch.push(result.value)
          batchBytes += Math.max(result.value.bytes, leastBytesHeld)
        }
        const isFull = batch.length >= mostEntriesInBatch || batchBytes >= mostBytes
        if (result === null || isFull) {
          yield content()
          release()
        }
        if (result !== null) next = entries.next()
      }
    } catch (error) {
      if (tally.recordCount === 0) throw error
      last = [{ ...lastPlace, error }]
    }
    if (tally.recordCount === 0) {
      const [damage] = tally.summary().damaged
      throw bodyError('', `has no record of WARC or ARC${damage === undefined ? '' : `: ${damage.detail}`}`)
    }
    if (batch.length + last.length > 0) yield [...content(), ...last]
  } finally {
    release()
    // Asked for while the batch before was stored, by somebody who wants no more.
    const unwanted = await next.catch(() => null)
    if (unwanted?.done === false) unwanted.value.release()
    await entries.return(undefined)
  }
}
