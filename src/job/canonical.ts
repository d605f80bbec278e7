import type { CanonicalCriterion } from '../service/job-service.ts'

/** What makes a document canonical or not. */
export type CanonicalTraits = {
  readonly id: string
  readonly url: string | null
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  readonly tokenCount: number
}

/** Each gives a number; the document with the least one is the better one. */
const criteria: Readonly<Record<CanonicalCriterion, (document: CanonicalTraits) => number>> = {
  https: ({ url }) => (url?.toLowerCase().startsWith('https:') ? 0 : 1),
  earliest: ({ fetchedAt }) => fetchedAt,
  shortUrl: ({ url }) => url?.length ?? Number.MAX_SAFE_INTEGER,
  longText: ({ tokenCount }) => -tokenCount,
}

/** An order of documents under a policy, the canonical one first; the id decides in the end, so that it is total. */
export const canonicalOrder = (
  policy: readonly CanonicalCriterion[],
): ((a: CanonicalTraits, b: CanonicalTraits) => number) => {
  const measures = policy.map((criterion) => criteria[criterion])
  return (a, b) => {
    for (const measure of measures) {
      const difference = measure(a) - measure(b)
      if (difference !== 0) return difference
    }
    return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
  }
}
