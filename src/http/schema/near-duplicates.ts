import { type Static, Type } from 'typebox'
import { cursorSchema, limitSchema, nextCursorDescription, rawIdSchema, rawUrlSchema } from './common.ts'
import { choice, closed, component, nullableNumber, nullableText, ref } from './component.ts'

export const algorithms = [
  'shingling',
  'simhash',
  'combined',
  'site-aware',
  'jaccard',
  'cosine',
  'dice',
  'overlap',
  'identical',
] as const

/**
 * The options of a search for near-duplicates, as query parameters. Their defaults stand in words: a tool that
 * filled in and sent `default` would send options that the algorithm does not use, which are refused.
 */
const optionProperties = {
  algorithm: Type.Optional(
    choice(algorithms, {
      description:
        'site-aware (the default: combined on one site, simhash between sites), shingling (Algorithm B), simhash ' +
        '(Algorithm C), combined, jaccard, cosine, dice, overlap (exact set similarity), or identical',
    }),
  ),
  minSupershingles: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 6,
      description: 'Supershingles of 6 that must agree (shingling, combined, site-aware); 2 by default',
    }),
  ),
  minAgreeingBits: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 384,
      description: 'Bits of 384 that must agree (simhash, site-aware); 372 by default',
    }),
  ),
  combinedMinAgreeingBits: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 384,
      description:
        'Bits of 384 that must agree besides the supershingles (combined, site-aware); 355 by default',
    }),
  ),
  threshold: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description:
        'Least similarity of an exact measure: from EXACT_MIN_THRESHOLD to 1, 0.8 by default; for overlap a whole ' +
        'number of 1 or more, 1 by default',
    }),
  ),
  features: Type.Optional(
    choice(['shingles', 'tokens'], {
      description:
        'What an exact measure compares: the sets of shingles (the default), or the bags of tokens',
    }),
  ),
  minResemblance: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'Drops pairs whose exact resemblance is below this; 0 keeps all. Without it site-aware drops only pairs ' +
        'that have no shingle in common',
    }),
  ),
  site: Type.Optional(
    choice(['any', 'same', 'different'], {
      description: 'Whether near-duplicates may, must or must not be of the same site; any by default',
    }),
  ),
  order: Type.Optional(
    choice(['similarity', 'id'], {
      description:
        'similarity (the default): best first, ties by id. id: by id, to walk a cluster of any size by cursor',
    }),
  ),
}

export const DuplicatesQuery = closed({
  ...optionProperties,
  limit: Type.Optional(limitSchema),
  cursor: Type.Optional(cursorSchema),
})

export const PageDuplicatesQuery = closed({ ...DuplicatesQuery.properties, url: Type.Optional(rawUrlSchema) })

export const PutQuery = closed({
  duplicates: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 0,
      description: 'Most near-duplicates, found among the documents stored before, to put into each result',
    }),
  ),
  ...optionProperties,
  url: Type.Optional(rawUrlSchema),
})

export const PostQuery = closed({ ...PutQuery.properties, id: Type.Optional(rawIdSchema) })

export type DuplicatesQuery = Static<typeof DuplicatesQuery>
export type StoreQuery = Static<typeof PutQuery>

export const Duplicate = component(
  'Duplicate',
  closed(
    {
      id: Type.String(),
      url: nullableText(),
      site: nullableText(),
      sameSite: Type.Boolean(),
      identical: Type.Boolean({ description: 'Whether the token sequences are equal' }),
      bSimilarity: Type.Integer({ minimum: 0, maximum: 6, description: 'Agreeing supershingles of 6' }),
      cSimilarity: Type.Integer({ minimum: 0, maximum: 384, description: 'Agreeing bits of 384' }),
      similarity: Type.Number({
        description: 'Agreeing share of the sketch that decided, or the value of the exact measure',
      }),
      resemblance: nullableNumber({
        description: 'Exact Jaccard similarity of the two sets of shingles; null where texts are not kept',
      }),
    },
    {
      description: 'One near-duplicate',
      examples: [
        {
          id: 'https://example.com/products/4711?print=1',
          url: 'https://example.com/products/4711?print=1',
          site: 'example.com',
          sameSite: true,
          identical: false,
          bSimilarity: 4,
          cSimilarity: 379,
          similarity: 0.67,
          resemblance: 0.93,
        },
      ],
    },
  ),
)

export const Duplicates = component(
  'Duplicates',
  closed(
    {
      document: nullableText({
        description: 'Id of the document asked about; null for a page that is not stored',
      }),
      algorithm: choice(algorithms),
      thresholds: Type.Record(Type.String(), Type.Number(), {
        description: 'The thresholds that the algorithm used, by the name of their parameter',
      }),
      duplicates: Type.Array(ref(Duplicate)),
      examined: Type.Integer({ description: 'Candidates looked at for this answer' }),
      complete: Type.Boolean({
        description: 'false where the work bound was met first; order=id goes on with its cursor',
      }),
      recall: Type.Number({
        description: 'Share of the pairs exactly at the threshold that the index probes: 1 is certain',
      }),
      nextCursor: nullableText({ description: nextCursorDescription }),
    },
    {
      description: 'Near-duplicates of one page',
      examples: [
        {
          document: 'https://example.com/products/4711',
          algorithm: 'site-aware',
          thresholds: { minSupershingles: 2, minAgreeingBits: 372, combinedMinAgreeingBits: 355 },
          duplicates: [],
          examined: 123,
          complete: true,
          recall: 1,
          nextCursor: null,
        },
      ],
    },
  ),
)
