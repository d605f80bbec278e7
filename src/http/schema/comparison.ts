import { type Static, Type } from 'typebox'
import { contentHashSchema, idSchema, rawUrlSchema, simhashSchema, supershinglesSchema } from './common.ts'
import { closed, component, nullableNumber, nullableText, ref } from './component.ts'
import { Page } from './document.ts'

export const PagePair = component(
  'PagePair',
  closed(
    { a: ref(Page), b: ref(Page) },
    {
      description: 'Two pages to compare',
      examples: [{ a: { text: 'A kettle of steel' }, b: { text: 'A kettle of copper' } }],
    },
  ),
)

export type PagePair = Static<typeof PagePair>

export const ComparisonQuery = closed({ with: idSchema })

export const AnalysisQuery = closed({ url: Type.Optional(rawUrlSchema) })

const Verdict = component(
  'Verdict',
  closed(
    {
      nearDuplicate: Type.Boolean(),
      bounds: Type.Array(
        closed({
          name: Type.String({ description: 'The bound, by the name of its query parameter' }),
          value: Type.Number(),
          required: Type.Number(),
          margin: Type.Number({ description: 'value - required: negative where the bound was missed' }),
          met: Type.Boolean(),
        }),
      ),
    },
    { description: 'What one algorithm says of the two pages, and by how much' },
  ),
)

const Diff = component(
  'Diff',
  Type.Unsafe<object | null>({
    type: ['object', 'null'],
    properties: {
      hunks: Type.Array(
        closed({
          aStart: Type.Integer(),
          aCount: Type.Integer({ description: 'How many were removed; `removed` can show fewer' }),
          bStart: Type.Integer(),
          bCount: Type.Integer({ description: 'How many were inserted; `inserted` can show fewer' }),
          removed: Type.Array(Type.String()),
          inserted: Type.Array(Type.String()),
        }),
      ),
      truncated: Type.Boolean({ description: 'Whether the diff was cut at its bound' }),
    },
    required: ['hunks', 'truncated'],
    additionalProperties: false,
    description: 'Token diff from a to b; null where a text is not kept',
  }),
)

export const Comparison = component(
  'Comparison',
  closed(
    {
      bSimilarity: Type.Integer({ minimum: 0, maximum: 6, description: 'Agreeing supershingles of 6' }),
      cSimilarity: Type.Integer({ minimum: 0, maximum: 384, description: 'Agreeing bits of 384' }),
      resemblance: nullableNumber({ description: 'Exact Jaccard similarity of the sets of shingles' }),
      jaccard: nullableNumber({ description: 'Jaccard similarity of the bags of tokens' }),
      cosine: nullableNumber({ description: 'Cosine similarity of the bags of tokens' }),
      containment: closed({
        aInB: nullableNumber({ description: 'Share of the shingles of a that b has too' }),
        bInA: nullableNumber({ description: 'Share of the shingles of b that a has too' }),
      }),
      termDifference: closed({
        count: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
        exact: Type.Boolean({ description: 'false where the count is a bound' }),
      }),
      sameSite: Type.Boolean(),
      identical: Type.Boolean(),
      verdicts: Type.Record(Type.String(), ref(Verdict), { description: 'By algorithm' }),
      diff: ref(Diff),
    },
    {
      description:
        'Why two pages are or are not near-duplicates. What needs a text that is not kept is null.',
      examples: [
        {
          bSimilarity: 4,
          cSimilarity: 379,
          resemblance: 0.93,
          jaccard: 0.97,
          cosine: 0.98,
          containment: { aInB: 0.96, bInA: 0.97 },
          termDifference: { count: 6, exact: true },
          sameSite: true,
          identical: false,
          verdicts: {
            shingling: {
              nearDuplicate: true,
              bounds: [{ name: 'minSupershingles', value: 4, required: 2, margin: 2, met: true }],
            },
          },
          diff: {
            hunks: [{ aStart: 3, aCount: 1, bStart: 3, bCount: 1, removed: ['steel'], inserted: ['copper'] }],
            truncated: false,
          },
        },
      ],
    },
  ),
)

export const Analysis = component(
  'Analysis',
  closed(
    {
      site: nullableText(),
      tokens: Type.Array(Type.String(), {
        description:
          'The token sequence of the page: the first 100,000, as far as they have together at most 1,048,576 characters',
      }),
      truncated: Type.Boolean({ description: 'Whether the page has more tokens than are shown' }),
      tokenCount: Type.Integer(),
      shingleCount: Type.Integer({ description: 'Shingles of 8 tokens, repeated ones counted each time' }),
      contentHash: contentHashSchema,
      supershingles: supershinglesSchema,
      simhash: simhashSchema,
    },
    {
      description: 'What the service makes of a page',
      examples: [
        {
          site: 'example.com',
          tokens: ['kettle', 'a', 'kettle', 'of', 'steel'],
          truncated: false,
          tokenCount: 5,
          shingleCount: 1,
          contentHash: '0f3a6c1d9b2e4857a1b2c3d4e5f60718',
          supershingles: Array.from({ length: 6 }, (_, i) => `${i}123456789abcdef`),
          simhash: '0123456789abcdef'.repeat(6),
        },
      ],
    },
  ),
)

export const comparisonParts = [Verdict, Diff]
