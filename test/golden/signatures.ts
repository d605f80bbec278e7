import signatureFile from './signatures.json' with { type: 'json' }
import caseFile from './signatures-cases.json' with { type: 'json' }

/**
 * A list of terms in short: `{ range: [prefix, low, high] }` stands for prefix + low up to, not including,
 * prefix + high; `{ repeat: [list, times] }` for a list that many times over.
 */
export type TermList = readonly (
  | string
  | { readonly range: readonly [prefix: string, low: number, high: number] }
  | { readonly repeat: readonly [list: TermList, times: number] }
)[]

export const expandTerms = (list: TermList): string[] =>
  list.flatMap((item) => {
    if (typeof item === 'string') return [item]
    if ('range' in item) {
      const [prefix, low, high] = item.range
      return Array.from({ length: high - low }, (_, i) => `${prefix}${low + i}`)
    }
    const [terms, times] = item.repeat
    const once = expandTerms(terms)
    return Array.from({ length: times }, () => once).flat()
  })

export type GoldenSignature = {
  readonly contentHash: string
  readonly firstFingerprint: string | null
  readonly firstShingle: string | null
  readonly firstMinvalue: string | null
  readonly supershingles: readonly string[] | null
  readonly simhash: string | null
}

/** Values of one hash version, bit for bit, as `test/signature/oracle.ts` computes them. */
export const goldenSignatures = signatureFile as unknown as {
  readonly hashVersion: string
  readonly cases: readonly {
    readonly name: string
    readonly terms: TermList
    readonly expect: GoldenSignature
  }[]
}

type Case<Input, Expected> = { readonly id: string; readonly input: Input; readonly expect: Expected }
type Pair = { readonly a: TermList; readonly b: TermList }

/** Facts that follow from the definitions, whatever the hash functions are. `accept`: also right. */
export const goldenCases = caseFile as unknown as {
  readonly shingles: readonly Case<{ tokens: TermList; k: number }, { count: number; distinct: number }>[]
  readonly resemblance: readonly Case<
    Pair & { k: number },
    readonly [numerator: number, denominator: number]
  >[]
  readonly bc_exact: readonly Case<Pair, { B?: number; C?: number; identical?: boolean }>[]
  readonly bc_range: readonly Case<Pair, { B: readonly [number, number]; C: readonly [number, number] }>[]
  readonly cosine: readonly Case<Pair, number>[]
  readonly term_difference: readonly Case<Pair, number>[]
  readonly decide: readonly Case<
    { B: number; C: number; sameSite: boolean },
    { B: boolean; C: boolean; combined: boolean; siteAware: boolean }
  >[]
  readonly identity: readonly Case<
    { readonly pages: readonly { id: string; url: string; html: string }[] },
    readonly (readonly string[])[]
  >[]
  readonly bands: readonly (Case<
    { vectors: Readonly<Record<string, readonly number[]>>; d: number },
    readonly (readonly [string, string, number])[]
  > & { readonly accept: readonly unknown[] })[]
}
