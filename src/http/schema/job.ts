import { type Static, Type } from 'typebox'
import { canonicalCriteria } from '../../service/job-service.ts'
import { cursorSchema, limitSchema, nextCursorDescription } from './common.ts'
import { choice, closed, component, nullableText, ref } from './component.ts'
import { DuplicatesQuery } from './near-duplicates.ts'

const {
  algorithm,
  minSupershingles,
  minAgreeingBits,
  combinedMinAgreeingBits,
  threshold,
  features,
  minResemblance,
  site,
} = DuplicatesQuery.properties

export const NewJoin = component(
  'NewJoin',
  closed(
    {
      kind: choice(['join']),
      algorithm,
      minSupershingles,
      minAgreeingBits,
      combinedMinAgreeingBits,
      threshold,
      features,
      minResemblance,
      site,
    },
    {
      description: 'All near-duplicate pairs; the options are those of a search for near-duplicates',
      examples: [{ kind: 'join', algorithm: 'site-aware' }],
    },
  ),
)

export const NewClusters = component(
  'NewClusters',
  closed(
    {
      kind: choice(['clusters']),
      job: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Id of a join; it may still be running',
      }),
      linkage: Type.Optional(
        choice(['components', 'star'], {
          description:
            'components (the default): documents that pairs connect, through others too. star: each member is a ' +
            'near-duplicate of the canonical document, so that no chain runs away',
        }),
      ),
      policy: Type.Optional(
        Type.Array(choice(canonicalCriteria), {
          maxItems: canonicalCriteria.length,
          uniqueItems: true,
          description:
            'What makes a document canonical, the most important first: https (rather than not), earliest (fetchedAt, else ' +
            'when it was first stored), shortUrl (in code points, none counts as longest), longText (in tokens); in the end the least id ' +
            'decides. By default https, earliest, shortUrl, longText',
        }),
      ),
    },
    {
      description: 'Clusters of the pairs that a join finds',
      examples: [{ kind: 'clusters', job: '0198c5de-3d53-7c0a-9c1f-2f6a1c2f7a10', linkage: 'star' }],
    },
  ),
)

export const NewJob = component(
  'NewJob',
  Type.Unsafe<NewJoin | NewClusters>({
    oneOf: [ref(NewJoin), ref(NewClusters)],
    description: 'A job to start',
    examples: [{ kind: 'join', algorithm: 'site-aware' }],
  }),
)

const nullableTime = (description: string) => nullableText({ format: 'date-time', description })

export const Job = component(
  'Job',
  closed(
    {
      id: Type.String(),
      kind: choice(['join', 'clusters']),
      request: Type.Object(
        {},
        { additionalProperties: true, description: 'What was asked for, with all defaults' },
      ),
      state: choice(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
      progress: closed({ done: Type.Integer({ minimum: 0 }), total: Type.Integer({ minimum: 1 }) }),
      createdAt: Type.String({ format: 'date-time' }),
      startedAt: nullableTime('When it was last started: after a restart of the service it starts again'),
      finishedAt: nullableTime('When it succeeded, failed or was cancelled'),
      result: Type.Unsafe<Record<string, number> | null>({
        type: ['object', 'null'],
        additionalProperties: { type: 'number' },
        description:
          'Counts. Of a join: documents, pairs, sameSitePairs, identicalPairs, recall (as of a search), and ' +
          'pairsWithoutText (pairs of texts whose resemblance was asked for and could not be computed; of an exact measure ' +
          'the identity sets without a text). Of clusters: ' +
          'clusters, documents, largest, chains',
      }),
      reason: nullableText({ description: 'Why it failed' }),
    },
    {
      description: 'A job over the whole collection',
      examples: [
        {
          id: '0198c5de-3d53-7c0a-9c1f-2f6a1c2f7a10',
          kind: 'join',
          request: {
            kind: 'join',
            algorithm: 'site-aware',
            thresholds: { minSupershingles: 2, minAgreeingBits: 372, combinedMinAgreeingBits: 355 },
            exact: null,
            minResemblance: null,
            site: 'any',
          },
          state: 'succeeded',
          progress: { done: 1000, total: 1000 },
          createdAt: '2026-03-01T12:00:00.000Z',
          startedAt: '2026-03-01T12:00:00.004Z',
          finishedAt: '2026-03-01T12:01:07.310Z',
          result: {
            documents: 1_000_000,
            pairs: 2_104_112,
            sameSitePairs: 1_800_041,
            identicalPairs: 900_310,
            recall: 1,
            pairsWithoutText: 0,
          },
          reason: null,
        },
      ],
    },
  ),
)

export const JobList = component(
  'JobList',
  closed(
    { jobs: Type.Array(ref(Job)), nextCursor: nullableText({ description: nextCursorDescription }) },
    { description: 'A page of the jobs, newest first', examples: [{ jobs: [], nextCursor: null }] },
  ),
)

export const Pair = component(
  'Pair',
  closed(
    {
      a: Type.String({ description: 'Id of one document, the lower one' }),
      b: Type.String({ description: 'Id of the other document' }),
      bSimilarity: Type.Integer({ minimum: 0, maximum: 6 }),
      cSimilarity: Type.Integer({ minimum: 0, maximum: 384 }),
      similarity: Type.Number({
        description: 'Agreeing share of the sketch that decided, or the value of the exact measure',
      }),
      sameSite: Type.Boolean(),
    },
    {
      description: 'Two documents that are near-duplicates',
      examples: [
        {
          a: 'https://example.com/products/4711',
          b: 'https://example.com/products/4711?print=1',
          bSimilarity: 4,
          cSimilarity: 379,
          similarity: 0.67,
          sameSite: true,
        },
      ],
    },
  ),
)

export const PairList = component(
  'PairList',
  closed(
    {
      pairs: Type.Array(ref(Pair)),
      nextCursor: nullableText({
        description:
          'Cursor of the next page; null at the end, and there only: a page may be short, or empty',
      }),
    },
    { description: 'A page of the pairs of a join', examples: [{ pairs: [], nextCursor: null }] },
  ),
)

export const Cluster = component(
  'Cluster',
  closed(
    {
      canonical: Type.String({ description: 'Id of the document that stands for the cluster' }),
      size: Type.Integer({ minimum: 2, description: 'Documents' }),
      members: Type.Array(Type.String(), {
        description:
          'Ids, the canonical document first, the others by id; of a large cluster the first 1,000',
      }),
      sites: Type.Array(Type.String(), { description: 'Sites in order; of many the first 100' }),
      siteCount: Type.Integer({ minimum: 0 }),
      pairs: Type.Integer({ minimum: 1, description: 'Pairs of the join among the documents' }),
      leastSimilarity: Type.Number({ description: 'Of these pairs' }),
      medianSimilarity: Type.Number({ description: 'Of these pairs' }),
      notNearCanonical: Type.Integer({
        minimum: 0,
        description: 'Members that are no near-duplicates of the canonical document',
      }),
      warning: nullableText({
        description: 'Why not to take all members for one page; null where nothing speaks against it',
      }),
    },
    {
      description: 'Documents connected by near-duplicate pairs',
      examples: [
        {
          canonical: 'https://example.com/products/4711',
          size: 2,
          members: ['https://example.com/products/4711', 'https://example.com/products/4711?print=1'],
          sites: ['example.com'],
          siteCount: 1,
          pairs: 1,
          leastSimilarity: 0.67,
          medianSimilarity: 0.67,
          notNearCanonical: 0,
          warning: null,
        },
      ],
    },
  ),
)

export const ClusterList = component(
  'ClusterList',
  closed(
    { clusters: Type.Array(ref(Cluster)), nextCursor: nullableText({ description: nextCursorDescription }) },
    { description: 'A page of the clusters, largest first', examples: [{ clusters: [], nextCursor: null }] },
  ),
)

export const JobParameters = closed({
  id: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the job' }),
})

export const PageQuery = closed({ limit: Type.Optional(limitSchema), cursor: Type.Optional(cursorSchema) })

export type NewJoin = Static<typeof NewJoin>
export type NewClusters = Static<typeof NewClusters>
