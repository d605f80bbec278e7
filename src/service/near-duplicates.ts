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
} from '../detect/decide.ts'
import { resemblance } from '../detect/resemblance.ts'
import { DittographError } from '../errors.ts'
import { isMeasure } from '../join/measure.ts'
import { sameSite } from '../page/site.ts'
import type { DocumentNumber, Member, SetNumber, Store } from '../store/store.ts'
import type { Budget, CandidateSource, Similarities, Subject } from './candidates.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { ExactCandidates } from './exact-candidates.ts'
import type { FeatureSets } from './feature-sets.ts'
import { createPacer } from './pacer.ts'
import type { DuplicateItem, DuplicatesAnswer, DuplicatesOptions, NearDuplicateService } from './service.ts'
import { SketchCandidates } from './sketch-candidates.ts'
import type { StageTimer } from './stage-timer.ts'

const membersInPage = 512
/** Texts read for one answer; where it is reached the page ends early, with a cursor. */
const mostBytesRead = 16 * 1024 * 1024

/**
 * What site-aware asks of a pair beyond its sketches, unless the query says what resemblance it wants. Across
 * sites simhash alone decides, and it does not see the order of words: pages with the same words in another
 * order, or ruled by one word that is repeated thousands of times, agree in nearly all bits and share no text.
 */
export const leastCommonShingles = 1

/** A near-duplicate as found: everything but its resemblance. */
type Found = Omit<DuplicateItem, 'resemblance'> & { readonly set: SetNumber; readonly number: DocumentNumber }

type Position = { readonly set: SetNumber; readonly number: DocumentNumber }

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
  readonly #featureSets: FeatureSets
  readonly #sketchCandidates: CandidateSource
  readonly #exactCandidates: CandidateSource
  readonly #stages: StageTimer
  readonly #workLimit: number

  constructor(parts: {
    store: Store
    analyzer: Analyzer
    featureSets: FeatureSets
    stages: StageTimer
    workLimit: number
  }) {
    this.#store = parts.store
    this.#analyzer = parts.analyzer
    this.#featureSets = parts.featureSets
    this.#sketchCandidates = new SketchCandidates(parts.store, parts.stages)
    this.#exactCandidates = new ExactCandidates(parts.store, parts.featureSets, parts.stages)
    this.#stages = parts.stages
    this.#workLimit = parts.workLimit
  }

  async ofDocument(id: string, options: DuplicatesOptions): Promise<DuplicatesAnswer> {
    const record = await this.#store.get(id)
    if (record === null) throw new DittographError('document_not_found', 'No document has this id')
    const { set, site, signature } = record
    return this.find({ id, set, site, signature, tokens: null, storedBefore: null }, options)
  }

  async ofPage(page: PageInput, options: DuplicatesOptions): Promise<DuplicatesAnswer> {
    const { site, signature, tokens, contentHash } = this.#analyzer.sketchWithTokens(page)
    const set = await this.#store.findSet(contentHash)
    return this.find({ id: null, set, site, signature, tokens, storedBefore: null }, options)
  }

  async find(subject: Subject, options: DuplicatesOptions): Promise<DuplicatesAnswer> {
    const { algorithm, exact } = options
    const thresholds = isMeasure(algorithm)
      ? { threshold: exact.threshold }
      : thresholdsOf(algorithm, options.thresholds)
    const query = JSON.stringify([
      subject.id,
      subject.signature === null ? null : Buffer.from(subject.signature.simhash).toString('hex'),
      algorithm,
      thresholds,
      isMeasure(algorithm) ? exact.features : null,
      options.minResemblance,
      options.site,
      options.order,
    ])
    const budget: Budget = { examined: 0, limit: this.#workLimit, unverified: 0 }
    const page =
      options.order === 'id'
        ? await this.#pageInSetOrder(subject, options, query, budget)
        : await this.#pageBestFirst(subject, options, query, budget)
    const complete = page.complete && budget.unverified === 0
    if (!complete) this.#stages.countIncomplete()
    return {
      document: subject.id,
      algorithm,
      thresholds,
      ...page,
      complete,
      examined: Math.ceil(budget.examined),
      recall: usesBands(algorithm, options.site) ? bandRecall(options.thresholds.minAgreeingBits) : 1,
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
    const source = isMeasure(options.algorithm) ? this.#exactCandidates : this.#sketchCandidates
    for await (const page of source.pages(subject, options, position.set, budget)) {
      const { verified } = page
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

  #decide(
    subject: Subject,
    member: Member,
    similarities: Similarities,
    options: DuplicatesOptions,
  ): Found | null {
    if (member.id === subject.id) return null
    if (subject.storedBefore !== null && member.number >= subject.storedBefore) return null
    const onSameSite = sameSite(subject.site, member.site)
    if (options.site !== 'any' && onSameSite !== (options.site === 'same')) return null
    const { exact, ...sketched } = similarities
    const evidence = { ...sketched, sameSite: onSameSite }
    const { set, number, id, url, site } = member
    const found = { set, number, id, url, site, ...evidence }
    if (isMeasure(options.algorithm)) return exact === null ? null : { ...found, similarity: exact }
    if (!decide(options.algorithm, evidence, options.thresholds)) return null
    return { ...found, similarity: decidingSimilarity(options.algorithm, evidence) }
  }

  /**
   * Adds the exact resemblance to what was found. `complete` gives null for a pair that does not show the
   * resemblance asked for, also where no text is kept to show it.
   */
  #resemblanceReader(subject: Subject, options: DuplicatesOptions) {
    const pace = createPacer()
    let bytesRead = 0
    let own: Float64Array | null | undefined
    const ownShingles = async (): Promise<Float64Array | null> => {
      if (own === undefined) own = await this.#featureSets.ofSubject(subject, 'shingles')
      return own
    }
    const exact = async (found: Found): Promise<number | null> => {
      if (found.identical) return 1
      const a = await ownShingles()
      if (a === null) return null
      const b = await this.#featureSets.of(found.set, found.id, 'shingles')
      bytesRead += b.bytesRead
      return b.values === null ? null : resemblance(a, b.values).value
    }
    return {
      isExhausted: () => bytesRead >= mostBytesRead,
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
