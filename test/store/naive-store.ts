import { isDeepStrictEqual } from 'node:util'
import { bandValues } from '../../src/detect/band.ts'
import { intersectionSize } from '../../src/detect/resemblance.ts'
import { reaches } from '../../src/join/bounds.ts'
import type { Signature } from '../../src/signature/signature.ts'
import type { FeatureSource } from '../../src/store/feature-postings.ts'
import type {
  Candidate,
  DeleteOperation,
  DocumentRecord,
  FeaturePage,
  FeatureQuery,
  KeptText,
  ListQuery,
  Member,
  ProbePage,
  ProbeQuery,
  PutOperation,
  ScanPage,
  ScanQuery,
  SetWithText,
  Store,
  StoreCounts,
  WriteResult,
} from '../../src/store/store.ts'

type NaiveSet = { readonly set: number; readonly hash: string; readonly signature: Signature | null }
type NaiveDocument = {
  readonly number: number
  readonly put: PutOperation
  readonly createdAt: number
  readonly updatedAt: number
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const sharedSupershingles = (a: Signature, b: Signature): number =>
  [0, 8, 16, 24, 32, 40].filter(
    (at) => hex(a.supershingles.subarray(at, at + 8)) === hex(b.supershingles.subarray(at, at + 8)),
  ).length

const shareBand = (a: Signature, b: Signature): boolean => {
  const bands = bandValues(b.simhash)
  return bandValues(a.simhash).some((value, band) => value === bands[band])
}

/** What a store has to do, by looking at everything each time. */
export class NaiveStore implements Store {
  #documents: NaiveDocument[] = []
  #sets: NaiveSet[] = []
  #lastNumber = 0
  #closed = false
  readonly #source: FeatureSource | null

  /** Answers searches by features where it is told how they are made. */
  constructor(source: FeatureSource | null = null) {
    this.#source = source
  }

  async write(operations: readonly (PutOperation | DeleteOperation)[]): Promise<readonly WriteResult[]> {
    this.#refuseWhenClosed()
    const before = [this.#documents, this.#sets] as const
    try {
      return operations.map((operation) => {
        if (typeof operation.id !== 'string') throw new TypeError('An id is a string')
        return operation.kind === 'put' ? this.#put(operation) : this.#delete(operation)
      })
    } catch (reason) {
      ;[this.#documents, this.#sets] = before
      throw reason
    }
  }

  #put(put: PutOperation): WriteResult {
    const old = this.#documents.find((one) => one.put.id === put.id)
    const hash = hex(put.contentHash)
    const isSame =
      old !== undefined &&
      hex(old.put.contentHash) === hash &&
      old.put.url === put.url &&
      old.put.urlKey === put.urlKey &&
      old.put.site === put.site
    if (!this.#sets.some((one) => one.hash === hash))
      this.#sets = [...this.#sets, { set: ++this.#lastNumber, hash, signature: put.signature }]
    const sequence = ++this.#lastNumber
    const differs = (['title', 'text', 'fetchedAt', 'metadata'] as const).some(
      (one) => !isDeepStrictEqual(old?.put[one], put[one]),
    )
    const written: NaiveDocument = {
      number: isSame ? old.number : sequence,
      put,
      createdAt: old?.createdAt ?? put.now,
      updatedAt: isSame && !differs ? old.updatedAt : put.now,
    }
    this.#documents = [...this.#documents.filter((one) => one !== old), written].sort(
      (a, b) => a.number - b.number,
    )
    this.#removeEmptySets()
    const { identicalTo, set } = this.#recordOf(written)
    return {
      kind: 'put',
      status: old === undefined ? 'created' : isSame ? 'unchanged' : 'replaced',
      set,
      identicalTo,
      sequence,
    }
  }

  #delete({ id }: DeleteOperation): WriteResult {
    const left = this.#documents.filter((one) => one.put.id !== id)
    const deleted = left.length < this.#documents.length
    this.#documents = left
    this.#removeEmptySets()
    return { kind: 'delete', deleted }
  }

  #removeEmptySets(): void {
    this.#sets = this.#sets.filter((set) => this.#membersOf(set).length > 0)
  }

  #membersOf({ hash }: NaiveSet): NaiveDocument[] {
    return this.#documents.filter((one) => hex(one.put.contentHash) === hash)
  }

  #recordOf({ number, put, createdAt, updatedAt }: NaiveDocument): DocumentRecord {
    const set = this.#sets.find((one) => one.hash === hex(put.contentHash))
    if (set === undefined) throw new Error('A document without a set')
    const first = this.#membersOf(set)[0]?.put.id
    const { id, url, site, title, tokenCount, contentHash, fetchedAt, metadata } = put
    return {
      number,
      set: set.set,
      id,
      url,
      site,
      title,
      tokenCount,
      contentHash,
      identicalTo: first === undefined || first === id ? null : first,
      signature: set.signature,
      createdAt,
      updatedAt,
      fetchedAt,
      metadata,
    }
  }

  async get(id: string): Promise<DocumentRecord | null> {
    this.#refuseWhenClosed()
    const found = this.#documents.find((one) => one.put.id === id)
    return found === undefined ? null : this.#recordOf(found)
  }

  async texts(ids: readonly string[]): Promise<ReadonlyMap<string, KeptText>> {
    this.#refuseWhenClosed()
    return new Map(
      this.#documents
        .filter(({ put }) => ids.includes(put.id))
        .map((one) => [one.put.id, { set: this.#recordOf(one).set, text: one.put.text }]),
    )
  }

  async list({ url, site, after, limit }: ListQuery): Promise<readonly DocumentRecord[]> {
    this.#refuseWhenClosed()
    return this.#documents
      .filter(({ number }) => number > after)
      .filter(({ put }) => url === undefined || put.urlKey === url)
      .filter(({ put }) => site === undefined || put.site === site)
      .slice(0, limit)
      .map((one) => this.#recordOf(one))
  }

  async findSet(contentHash: Uint8Array): Promise<number | null> {
    this.#refuseWhenClosed()
    return this.#sets.find(({ hash }) => hash === hex(contentHash))?.set ?? null
  }

  /** All sets with tokens, with the text of a member. */
  #withTexts(): SetWithText[] {
    return this.#sets.flatMap((one) => {
      const text = this.#membersOf(one).find(({ put }) => put.text !== null)?.put.text ?? null
      return one.signature === null ? [] : [{ set: one.set, signature: one.signature, text }]
    })
  }

  async probeFeatures({ features, values, bounds, after, limit }: FeatureQuery): Promise<FeaturePage | null> {
    this.#refuseWhenClosed()
    const source = this.#source
    if (source === null) return null
    const all = this.#withTexts().filter(({ set, text }) => {
      if (set <= after) return false
      if (text === null) return true
      const theirs = source(text)[features]
      return reaches(bounds, intersectionSize(values, theirs), values.length, theirs.length)
    })
    const sets = all.slice(0, limit).map(({ set }) => set)
    return {
      sets,
      examined: sets.length,
      frontier: all.length > limit ? (sets.at(-1) ?? null) : null,
      scanThrough: null,
    }
  }

  async setTexts(sets: readonly number[]): Promise<readonly SetWithText[]> {
    this.#refuseWhenClosed()
    const all = this.#withTexts()
    return sets.flatMap((set) => all.filter((one) => one.set === set))
  }

  async scan({ minTokens, maxTokens, after, limit }: ScanQuery): Promise<ScanPage> {
    this.#refuseWhenClosed()
    const sets = this.#sets
      .filter(({ set }) => set > after)
      .flatMap(({ set, hash, signature }) => {
        const members = this.#documents.filter(({ put }) => hex(put.contentHash) === hash)
        const tokenCount = members[0]?.put.tokenCount ?? 0
        if (signature === null || tokenCount < minTokens || tokenCount > maxTokens) return []
        return [{ set, signature, text: members.find(({ put }) => put.text !== null)?.put.text ?? null }]
      })
    const page = sets.slice(0, limit)
    return {
      sets: page,
      examined: page.length,
      frontier: sets.length > limit ? (page.at(-1)?.set ?? null) : null,
    }
  }

  async probe({ signature, minSupershingles, bands, after, limit }: ProbeQuery): Promise<ProbePage> {
    this.#refuseWhenClosed()
    const candidates: Candidate[] = []
    let examined = 0
    let last = after
    for (const { set, signature: stored } of this.#sets) {
      if (set <= after || stored === null) continue
      const supershingles = minSupershingles === null ? 0 : sharedSupershingles(signature, stored)
      const isBanded = bands && shareBand(signature, stored)
      if (supershingles === 0 && !isBanded) continue
      if (examined === limit) return { candidates, examined, frontier: last }
      examined++
      last = set
      if (isBanded || (minSupershingles !== null && supershingles >= minSupershingles))
        candidates.push({ set, signature: stored })
    }
    return { candidates, examined, frontier: null }
  }

  async members(sets: readonly number[], after: number, limit: number): Promise<readonly Member[]> {
    this.#refuseWhenClosed()
    return sets
      .flatMap((number, i) => {
        const set = this.#sets.find((one) => one.set === number)
        const members = set === undefined ? [] : this.#membersOf(set)
        return members
          .filter((one) => i > 0 || one.number > after)
          .map(({ number: document, put: { id, url, site } }) => ({
            set: number,
            number: document,
            id,
            url,
            site,
          }))
      })
      .slice(0, limit)
  }

  async counts(): Promise<StoreCounts> {
    this.#refuseWhenClosed()
    const signed = this.#sets.filter(({ signature }) => signature !== null).length
    return { documents: this.#documents.length, sets: this.#sets.length, postings: 19 * signed }
  }

  async check(): Promise<void> {
    this.#refuseWhenClosed()
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  /** As after a restart. */
  reopened(): NaiveStore {
    this.#closed = false
    return this
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new Error('The store is closed')
  }
}
