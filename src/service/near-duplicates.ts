import type { PageInput } from '../analysis/analyze.ts'
import type { Analyzer } from '../analysis/analyzer.ts'
import { bandRecall } from '../detect/band.ts'
import {
  type Algorithm,
  decide,
  decidingSimilarity,
  isResemblanceEnough,
  type Thresholds,
  usesBands,
  usesSupershingles,
} from '../detect/decide.ts'
import { resemblance } from '../detect/resemblance.ts'
import { bSimilarity, cSimilarity } from '../detect/similarity.ts'
import { DittographError } from '../errors.ts'
import { sameSite } from '../page/site.ts'
import { k } from '../signature/scheme.ts'
import { shingleSet } from '../signature/shingle.ts'
import type { Signature } from '../signature/signature.ts'
import type { Candidate, DocumentNumber, Member, SetNumber, Store } from '../store/store.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { createPacer } from './pacer.ts'
import type { DuplicateItem, DuplicatesAnswer, DuplicatesOptions, NearDuplicateService } from './service.ts'
import type { ShingleSets } from './shingle-sets.ts'
import type { StageTimer } from './stage-timer.ts'

const setsInProbePage = 512
const membersInPage = 512
/** Texts read for one answer; where it is reached the page ends early, with a cursor. */
const mostCharactersRead = 16 * 1024 * 1024

/**
 * What site-aware asks of a pair beyond its sketches, unless the query says what resemblance it wants. Across
 * sites simhash alone decides, and it does not see the order of words: pages with the same words in another
 * order, or ruled by one word that is repeated thousands of times, agree in nearly all bits and share no text.
 */
export const leastCommonShingles = 1

/** The page that near-duplicates are sought of, stored or not. */
export type Subject = {
  readonly id: string | null
  readonly set: SetNumber | null
  readonly site: string | null
  readonly signature: Signature | null
  /** Known for a page that came with the query; a stored one's is made from its kept text when needed. */
  readonly shingles: Float64Array | null
  /** Only documents with a lower number count; null for no bound. */
  readonly storedBefore: DocumentNumber | null
}

/** A near-duplicate as found: everything but its resemblance. */
type Found = Omit<DuplicateItem, 'resemblance'> & { readonly set: SetNumber; readonly number: DocumentNumber }

type Position = { readonly set: SetNumber; readonly number: DocumentNumber }

/** What is left of the work that one page of an answer may do. */
type Budget = { examined: number; readonly limit: number }

/** The thresholds that an algorithm looks at, in the order in which they are documented. */
export const thresholdsOf = (algorithm: Algorithm, thresholds: Thresholds): Record<string, number> => {
  const { minSupershingles, minAgreeingBits, combinedMinAgreeingBits } = thresholds
  if (algorithm === 'shingling') return { minSupershingles }
  if (algorithm === 'simhash') return { minAgreeingBits }
  if (algorithm === 'combined') return { minSupershingles, combinedMinAgreeingBits }
  if (algorithm === 'site-aware') return { minSupershingles, minAgreeingBits, combinedMinAgreeingBits }
  return {}
}

const compareIds = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const bestFirst = (a: Found, b: Found): number => b.similarity - a.similarity || compareIds(a.id, b.id)

/**
 * Index-probe and verify: candidates are the identity sets that share a posting with the subject, in set
 * order; each is verified by its stored signature, and what depends on the site is decided for each member.
 */
export class NearDuplicates implements NearDuplicateService {
  readonly #store: Store
  readonly #analyzer: Analyzer
  readonly #shingleSets: ShingleSets
  readonly #stages: StageTimer
  readonly #workLimit: number

  constructor(parts: {
    store: Store
    analyzer: Analyzer
    shingleSets: ShingleSets
    stages: StageTimer
    workLimit: number
  }) {
    this.#store = parts.store
    this.#analyzer = parts.analyzer
    this.#shingleSets = parts.shingleSets
    this.#stages = parts.stages
    this.#workLimit = parts.workLimit
  }

  async ofDocument(id: string, options: DuplicatesOptions): Promise<DuplicatesAnswer> {
    const record = await this.#store.get(id)
    if (record === null) throw new DittographError('document_not_found', 'No document has this id')
    const { set, site, signature } = record
    return this.find({ id, set, site, signature, shingles: null, storedBefore: null }, options)
  }

  async ofPage(page: PageInput, options: DuplicatesOptions): Promise<DuplicatesAnswer> {
    const { site, signature, tokens, contentHash } = this.#analyzer.sketchWithTokens(page)
    const set = await this.#store.findSet(contentHash)
    const shingles = shingleSet(tokens, k)
    return this.find({ id: null, set, site, signature, shingles, storedBefore: null }, options)
  }

  async find(subject: Subject, options: DuplicatesOptions): Promise<DuplicatesAnswer> {
    const thresholds = thresholdsOf(options.algorithm, options.thresholds)
    const query = JSON.stringify([
      subject.id,
      subject.signature === null ? null : Buffer.from(subject.signature.simhash).toString('hex'),
      options.algorithm,
      thresholds,
      options.minResemblance,
      options.site,
      options.order,
    ])
    const budget: Budget = { examined: 0, limit: this.#workLimit }
    const page =
      options.order === 'id'
        ? await this.#pageInSetOrder(subject, options, query, budget)
        : await this.#pageBestFirst(subject, options, query, budget)
    if (!page.complete) this.#stages.countIncomplete()
    return {
      document: subject.id,
      algorithm: options.algorithm,
      thresholds,
      ...page,
      examined: budget.examined,
      recall: usesBands(options.algorithm, options.site) ? bandRecall(options.thresholds.minAgreeingBits) : 1,
    }
  }

  async #pageInSetOrder(subject: Subject, options: DuplicatesOptions, query: string, budget: Budget) {
    let position: Position = { set: 0, number: 0 }
    if (options.cursor !== null) {
      const [set, number] = decodeCursor(query, options.cursor, ['number', 'number'])
      position = { set: Number(set), number: Number(number) }
    }
    const duplicates: DuplicateItem[] = []
    const reader = this.#resemblanceReader(subject, options)
    for await (const step of this.#walk(subject, options, position, budget)) {
      if (step.found === null) {
        const nextCursor = encodeCursor(query, [step.frontier.set, step.frontier.number])
        return { duplicates, complete: false, nextCursor }
      }
      const { set, number } = step.found
      if (duplicates.length === options.limit || reader.isExhausted()) {
        // One more follows: the cursor stands right before it.
        return { duplicates, complete: true, nextCursor: encodeCursor(query, [set, number - 1]) }
      }
      const item = await reader.complete(step.found)
      if (item !== null) duplicates.push(item)
    }
    return { duplicates, complete: true, nextCursor: null }
  }

  async #pageBestFirst(subject: Subject, options: DuplicatesOptions, query: string, budget: Budget) {
    const found: Found[] = []
    let complete = true
    for await (const step of this.#walk(subject, options, { set: 0, number: 0 }, budget)) {
      if (step.found === null) complete = false
      else found.push(step.found)
    }
    found.sort(bestFirst)
    let next = 0
    if (options.cursor !== null) {
      const [similarity, id] = decodeCursor(query, options.cursor, ['number', 'string'])
      next = found.findIndex(
        (one) =>
          one.similarity < Number(similarity) ||
          (one.similarity === similarity && compareIds(one.id, String(id)) > 0),
      )
      if (next < 0) next = found.length
    }
    const duplicates: DuplicateItem[] = []
    const reader = this.#resemblanceReader(subject, options)
    let last: Found | undefined
    for (; next < found.length && duplicates.length < options.limit && !reader.isExhausted(); next++) {
      last = found[next]
      const item = last === undefined ? null : await reader.complete(last)
      if (item !== null) duplicates.push(item)
    }
    const nextCursor =
      next < found.length && last !== undefined ? encodeCursor(query, [last.similarity, last.id]) : null
    return { duplicates, complete, nextCursor }
  }

  /**
   * Near-duplicates in the order of set and number, strictly after `position`. A step without a find is the
   * last one and says that the budget was spent, and where to go on.
   */
  async *#walk(
    subject: Subject,
    options: DuplicatesOptions,
    position: Position,
    budget: Budget,
  ): AsyncGenerator<{ found: Found } | { found: null; frontier: Position }> {
    if (subject.signature === null) return
    const pace = createPacer()
    let start = position
    for await (const page of this.#candidatePages(
      subject,
      subject.signature,
      options,
      position.set,
      budget,
    )) {
      const verified = this.#verify(subject, subject.signature, page.candidates, options)
      const sets = [...verified.keys()]
      await pace()
      while (sets.length > 0) {
        const after = sets[0] === start.set ? start.number : 0
        const members = await this.#store.members(sets, after, membersInPage)
        budget.examined += members.length
        for (const member of members) {
          const similarities = verified.get(member.set)
          const found = similarities && this.#decide(subject, member, similarities, options)
          if (found) yield { found }
        }
        const last = members.at(-1)
        if (last === undefined || members.length < membersInPage) break
        start = { set: last.set, number: last.number }
        while (sets[0] !== undefined && sets[0] < last.set) sets.shift()
        if (budget.examined >= budget.limit) return yield { found: null, frontier: start }
      }
      if (page.frontier !== null && budget.examined >= budget.limit)
        return yield { found: null, frontier: { set: page.frontier, number: Number.MAX_SAFE_INTEGER } }
    }
  }

  /** Pages of candidates from the set of the position on, that set included (some of its members may be left). */
  async *#candidatePages(
    subject: Subject,
    signature: Signature,
    options: DuplicatesOptions,
    fromSet: SetNumber,
    budget: Budget,
  ): AsyncGenerator<{ candidates: readonly Candidate[]; frontier: SetNumber | null }> {
    if (options.algorithm === 'identical') {
      if (subject.set !== null) yield { candidates: [{ set: subject.set, signature }], frontier: null }
      return
    }
    const { minSupershingles } = options.thresholds
    let after: SetNumber | null = Math.max(0, fromSet - 1)
    while (after !== null) {
      const started = performance.now()
      const page = await this.#store.probe({
        signature,
        minSupershingles: usesSupershingles(options.algorithm, options.site) ? minSupershingles : null,
        bands: usesBands(options.algorithm, options.site),
        after,
        limit: Math.max(1, Math.min(setsInProbePage, budget.limit - budget.examined)),
      })
      this.#stages.observe('probe', (performance.now() - started) / 1000)
      budget.examined += page.examined
      after = page.frontier
      yield { candidates: page.candidates, frontier: page.frontier }
    }
  }

  /** Exact similarities, by set, of the candidates that could be near-duplicates on one site or on two. */
  #verify(
    subject: Subject,
    signature: Signature,
    candidates: readonly Candidate[],
    options: DuplicatesOptions,
  ): Map<SetNumber, { bSimilarity: number; cSimilarity: number; identical: boolean }> {
    const started = performance.now()
    const verified = new Map<SetNumber, { bSimilarity: number; cSimilarity: number; identical: boolean }>()
    for (const candidate of candidates) {
      const similarities = {
        bSimilarity: bSimilarity(signature, candidate.signature),
        cSimilarity: cSimilarity(signature, candidate.signature),
        identical: candidate.set === subject.set,
      }
      const accepts = (onSameSite: boolean) =>
        decide(options.algorithm, { ...similarities, sameSite: onSameSite }, options.thresholds)
      if (accepts(true) || accepts(false)) verified.set(candidate.set, similarities)
    }
    this.#stages.observe('verify', (performance.now() - started) / 1000)
    return verified
  }

  #decide(
    subject: Subject,
    member: Member,
    similarities: { bSimilarity: number; cSimilarity: number; identical: boolean },
    options: DuplicatesOptions,
  ): Found | null {
    if (member.id === subject.id) return null
    if (subject.storedBefore !== null && member.number >= subject.storedBefore) return null
    const onSameSite = sameSite(subject.site, member.site)
    if (options.site !== 'any' && onSameSite !== (options.site === 'same')) return null
    const evidence = { ...similarities, sameSite: onSameSite }
    if (!decide(options.algorithm, evidence, options.thresholds)) return null
    const { set, number, id, url, site } = member
    const similarity = decidingSimilarity(options.algorithm, evidence)
    return { set, number, id, url, site, ...evidence, similarity }
  }

  /**
   * Adds the exact resemblance to what was found. `complete` gives null for a pair that does not show the
   * resemblance asked for, also where no text is kept to show it.
   */
  #resemblanceReader(subject: Subject, options: DuplicatesOptions) {
    const pace = createPacer()
    let charactersRead = 0
    let own: Float64Array | null | undefined = subject.shingles ?? undefined
    const ownShingles = async (): Promise<Float64Array | null> => {
      if (own === undefined && subject.set !== null && subject.id !== null)
        own = (await this.#shingleSets.of(subject.set, subject.id)).shingles
      return own ?? null
    }
    const exact = async (found: Found): Promise<number | null> => {
      if (found.identical) return 1
      const a = await ownShingles()
      if (a === null) return null
      const b = await this.#shingleSets.of(found.set, found.id)
      charactersRead += b.charactersRead
      return b.shingles === null ? null : resemblance(a, b.shingles).value
    }
    return {
      isExhausted: () => charactersRead >= mostCharactersRead,
      complete: async (found: Found): Promise<DuplicateItem | null> => {
        await pace()
        const started = performance.now()
        const value = await exact(found)
        this.#stages.observe('resemblance', (performance.now() - started) / 1000)
        if (!isResemblanceEnough(value, options)) return null
        const { id, url, site, sameSite: onSameSite, identical, similarity } = found
        const { bSimilarity: b, cSimilarity: c } = found
        return {
          id,
          url,
          site,
          sameSite: onSameSite,
          identical,
          bSimilarity: b,
          cSimilarity: c,
          similarity,
          resemblance: value,
        }
      },
    }
  }
}
