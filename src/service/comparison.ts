import { type AnalysisOptions, analyze, analyzeText, type PageInput } from '../analysis/analyze.ts'
import { type Algorithm, algorithms, defaultThresholds } from '../detect/decide.ts'
import { diffHunks, type Hunk } from '../detect/difference.ts'
import { containment, cosine, jaccard, resemblance } from '../detect/resemblance.ts'
import { bSimilarity, cSimilarity } from '../detect/similarity.ts'
import { DittographError } from '../errors.ts'
import { sameSite } from '../page/site.ts'
import { k } from '../signature/scheme.ts'
import { shingleSet, shingles } from '../signature/shingle.ts'
import type { Signature, TokenFingerprints } from '../signature/signature.ts'
import type { Store } from '../store/store.ts'
import { leastCommonShingles, thresholdsOf } from './near-duplicates.ts'
import type { AnalysisView, ComparisonService, ComparisonView } from './service.ts'
import { ShownTerms } from './shown-terms.ts'
import { viewOfSignature } from './signature-view.ts'

/** Beyond these a diff is cut or the term difference is an upper bound, and the answer says so. */
const mostHunks = 1000
const mostEdits = 5000

type Side = {
  readonly site: string | null
  readonly contentHash: Uint8Array
  readonly signature: Signature | null
  /** null where the text of a stored page was not kept. */
  readonly content: { readonly terms: readonly string[]; readonly tokens: TokenFingerprints } | null
}

type Bound = ComparisonView['verdicts'][string]['bounds'][number]

const bound = (name: string, value: number, required: number): Bound => ({
  name,
  value,
  required,
  margin: value - required,
  met: value >= required,
})

/** The bounds that decide, by algorithm, with how far each was met or missed. */
const boundsOf = (
  algorithm: Algorithm,
  evidence: { bSimilarity: number; cSimilarity: number; sameSite: boolean; identical: boolean },
  commonShingles: number | null,
): Bound[] => {
  const required = thresholdsOf(algorithm, defaultThresholds)
  const b = () => bound('bSimilarity', evidence.bSimilarity, required.minSupershingles ?? 0)
  const c = () => bound('cSimilarity', evidence.cSimilarity, required.minAgreeingBits ?? 0)
  const combinedC = () => bound('cSimilarity', evidence.cSimilarity, required.combinedMinAgreeingBits ?? 0)
  if (algorithm === 'identical') return [bound('identical', evidence.identical ? 1 : 0, 1)]
  if (algorithm === 'shingling') return [b()]
  if (algorithm === 'simhash') return [c()]
  if (algorithm === 'combined' || evidence.sameSite) return [b(), combinedC()]
  return commonShingles === null ? [c()] : [c(), bound('commonShingles', commonShingles, leastCommonShingles)]
}

export class Comparison implements ComparisonService {
  readonly #store: Store
  readonly #analysis: AnalysisOptions

  constructor(parts: { store: Store; analysis: AnalysisOptions }) {
    this.#store = parts.store
    this.#analysis = parts.analysis
  }

  async ofDocuments(a: string, b: string): Promise<ComparisonView> {
    return compare(await this.#stored(a), await this.#stored(b))
  }

  async ofPages(a: PageInput, b: PageInput): Promise<ComparisonView> {
    return compare(this.#given(a), this.#given(b))
  }

  async analyze(page: PageInput): Promise<AnalysisView> {
    const { site, terms, tokens, contentHash, signature } = analyze(page, this.#analysis)
    const shown = new ShownTerms()
    return {
      site,
      tokens: shown.take(terms),
      truncated: shown.isTruncated,
      tokenCount: terms.length,
      shingleCount: shingles(tokens, k).low.length,
      contentHash: Buffer.from(contentHash).toString('hex'),
      ...viewOfSignature(signature),
    }
  }

  #given(page: PageInput): Side {
    const { site, contentHash, signature, terms, tokens } = analyze(page, this.#analysis)
    return { site, contentHash, signature, content: { terms, tokens } }
  }

  async #stored(id: string): Promise<Side> {
    const record = await this.#store.get(id)
    if (record === null) throw new DittographError('document_not_found', `No document has the id "${id}"`)
    const kept = (await this.#store.texts([id])).get(id)
    const text = kept?.set === record.set ? kept.text : null
    return {
      ...record,
      content: text === null ? null : analyzeText(Buffer.from(text).toString(), this.#analysis),
    }
  }
}

const compare = (a: Side, b: Side): ComparisonView => {
  const bothSigned = a.signature !== null && b.signature !== null
  const evidence = {
    bSimilarity: bothSigned ? bSimilarity(a.signature, b.signature) : 0,
    cSimilarity: bothSigned ? cSimilarity(a.signature, b.signature) : 0,
    sameSite: sameSite(a.site, b.site),
    identical: Buffer.compare(a.contentHash, b.contentHash) === 0,
  }
  const { commonShingles, ...contents } = compareContents(a.content, b.content)
  const verdicts: ComparisonView['verdicts'] = {}
  for (const algorithm of algorithms) {
    const bounds = boundsOf(algorithm, evidence, commonShingles)
    // A page without tokens is a near-duplicate of nothing.
    verdicts[algorithm] = { nearDuplicate: bothSigned && bounds.every((one) => one.met), bounds }
  }
  return { ...evidence, ...contents, verdicts }
}

const compareContents = (a: Side['content'], b: Side['content']) => {
  if (a === null || b === null)
    return {
      resemblance: null,
      jaccard: null,
      cosine: null,
      containment: { aInB: null, bInA: null },
      termDifference: { count: null, exact: false },
      diff: null,
      commonShingles: null,
    }
  const shinglesA = shingleSet(a.tokens, k)
  const shinglesB = shingleSet(b.tokens, k)
  const { hunks, exact } = diffHunks(a.terms, b.terms, { mostEdits })
  const { value, intersection } = resemblance(shinglesA, shinglesB)
  return {
    commonShingles: intersection,
    resemblance: value,
    jaccard: jaccard(a.terms, b.terms),
    cosine: cosine(a.terms, b.terms),
    containment: { aInB: containment(shinglesA, shinglesB), bInA: containment(shinglesB, shinglesA) },
    termDifference: { count: hunks.reduce((sum, hunk) => sum + hunk.aCount + hunk.bCount, 0), exact },
    diff: shownDiff(hunks, exact),
  }
}

const shownDiff = (hunks: readonly Hunk[], exact: boolean) => {
  const shown = new ShownTerms()
  const taken = hunks
    .slice(0, mostHunks)
    .map((hunk) => ({ ...hunk, removed: shown.take(hunk.removed), inserted: shown.take(hunk.inserted) }))
  return { hunks: taken, truncated: hunks.length > mostHunks || shown.isTruncated || !exact }
}
