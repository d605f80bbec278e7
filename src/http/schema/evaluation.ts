import { type Static, Type } from 'typebox'
import { labels } from '../../evaluation/label.ts'
import { idSchema, nextCursorDescription, otherIdSchema } from './common.ts'
import { choice, closed, component, nullableNumber, nullableText, ref } from './component.ts'
import { Pair } from './job.ts'

const whole = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) })
const perSupershingles = Type.Array(whole(), {
  minItems: 7,
  maxItems: 7,
  description: 'Pairs with a B-similarity of 0, 1, … 6',
})

export const Proportion = component(
  'Proportion',
  closed(
    {
      value: nullableNumber({ minimum: 0, maximum: 1 }),
      low: nullableNumber({ minimum: 0, maximum: 1, description: 'Lower end of the 95 % interval' }),
      high: nullableNumber({ minimum: 0, maximum: 1, description: 'Upper end of the 95 % interval' }),
      sampleSize: whole(),
    },
    {
      description: 'A share with its Wilson score interval; null where the sample is empty',
      examples: [{ value: 0.73, low: 0.64, high: 0.81, sampleSize: 100 }],
    },
  ),
)

const countProperties = {
  pairs: whole('Pairs of the join, judged or not'),
  correct: whole(),
  incorrect: whole(),
  undecided: whole(),
  unjudged: whole(),
  precision: Type.Unsafe<Static<typeof Proportion>>({
    ...ref(Proportion),
    description: 'Correct over judged pairs: an undecided one is a miss',
  }),
  decidedPrecision: Type.Unsafe<Static<typeof Proportion>>({
    ...ref(Proportion),
    description: 'Correct over the pairs judged correct or incorrect',
  }),
}

const exampleShare = { value: 0.5, low: 0.0945, high: 0.9055, sampleSize: 2 }
const exampleCounts = {
  pairs: 40,
  correct: 1,
  incorrect: 1,
  undecided: 0,
  unjudged: 38,
  precision: exampleShare,
  decidedPrecision: exampleShare,
}

export const Precision = component(
  'Precision',
  closed(countProperties, { description: 'How many pairs have each label', examples: [exampleCounts] }),
)

const rangeOf = (type: typeof Type.Integer | typeof Type.Number) => ({ from: type(), to: type() })

const TermDifferences = closed({
  pairs: whole('Judged pairs whose texts were compared'),
  mean: nullableNumber(),
  median: nullableNumber(),
  of2: ref(Proportion),
  below42: ref(Proportion),
  below44: ref(Proportion),
  over200: ref(Precision),
  buckets: Type.Array(closed({ ...rangeOf(Type.Integer), ...countProperties })),
  inexact: whole('Pairs whose difference is an upper bound'),
})

export const Evaluation = component(
  'Evaluation',
  closed(
    {
      interval: Type.String(),
      precision: closed({
        all: ref(Precision),
        sameSite: ref(Precision),
        differentSites: ref(Precision),
      }),
      bySupershingles: Type.Array(closed({ bSimilarity: whole(), ...countProperties })),
      byAgreeingBits: Type.Array(closed({ ...rangeOf(Type.Integer), ...countProperties })),
      bySimilarity: Type.Array(closed({ ...rangeOf(Type.Number), ...countProperties })),
      cutOffs: Type.Array(
        closed({
          minAgreeingBits: whole(),
          ...countProperties,
          correctKept: Type.Unsafe<Static<typeof Proportion>>({
            ...ref(Proportion),
            description: 'R: correct pairs left at this cut-off over the correct pairs without one',
          }),
        }),
      ),
      termDifferences: TermDifferences,
    },
    {
      description:
        'What the judgements say of the pairs of a join: by place, by similarity, by term difference, and for every cut-off of the ' +
        'agreeing bits (Tables 2, 5, 8 and 11, Figures 2, 4, 6 and 7 of Henzinger 2006)',
      examples: [
        {
          interval: 'Wilson score, 95 %',
          precision: { all: exampleCounts, sameSite: exampleCounts, differentSites: exampleCounts },
          bySupershingles: [{ bSimilarity: 2, ...exampleCounts }],
          byAgreeingBits: [{ from: 372, to: 375, ...exampleCounts }],
          bySimilarity: [{ from: 0.95, to: 1, ...exampleCounts }],
          cutOffs: [{ minAgreeingBits: 355, ...exampleCounts, correctKept: exampleShare }],
          termDifferences: {
            pairs: 2,
            mean: 12,
            median: 2,
            of2: exampleShare,
            below42: exampleShare,
            below44: exampleShare,
            over200: exampleCounts,
            buckets: [{ from: 2, to: 2, ...exampleCounts }],
            inexact: 0,
          },
        },
      ],
    },
  ),
)

const Mean = closed({ value: nullableNumber(), sampleSize: whole() })

export const Statistics = component(
  'Statistics',
  closed(
    {
      pairs: whole(),
      sameSite: ref(Proportion),
      bySupershingles: Type.Array(
        closed({
          bSimilarity: whole(),
          share: ref(Proportion),
          sameSite: ref(Proportion),
          meanAgreeingBits: Mean,
        }),
      ),
      byAgreeingBits: Type.Array(
        closed({
          ...rangeOf(Type.Integer),
          share: ref(Proportion),
          meanSupershingles: Mean,
          pairsBySupershingles: perSupershingles,
        }),
      ),
      agreeingBits: Type.Array(
        closed({ cSimilarity: whole(), pairs: whole(), pairsBySupershingles: perSupershingles }),
        { description: 'Each C-similarity that occurs' },
      ),
      degrees: closed({
        nodes: whole('Documents with at least one near-duplicate'),
        pairs: whole(),
        averageDegree: nullableNumber(),
        largestDegree: whole(),
        degrees: Type.Array(closed({ degree: whole(), nodes: whole() })),
        powerLaw: closed({
          leastSquares: Type.Unsafe<object | null>({
            type: ['object', 'null'],
            additionalProperties: { type: 'number' },
            description: 'exponent, r2 and points of a straight line through the log-log plot',
          }),
          maximumLikelihood: Type.Unsafe<object | null>({
            type: ['object', 'null'],
            additionalProperties: { type: 'number' },
            description: 'exponent, standardError and nodes',
          }),
        }),
      }),
    },
    {
      description:
        'What the pairs of a join look like: by B-similarity, by C-similarity, both together, and the degree distribution with ' +
        'the exponent of its power law (Tables 1, 9 and 10, Figures 1, 3 and 5 of Henzinger 2006)',
      examples: [
        {
          pairs: 40,
          sameSite: { value: 0.5, low: 0.35, high: 0.65, sampleSize: 40 },
          bySupershingles: [
            {
              bSimilarity: 2,
              share: { value: 1, low: 0.91, high: 1, sampleSize: 40 },
              sameSite: { value: 0.5, low: 0.35, high: 0.65, sampleSize: 40 },
              meanAgreeingBits: { value: 377.5, sampleSize: 40 },
            },
          ],
          byAgreeingBits: [],
          agreeingBits: [{ cSimilarity: 377, pairs: 40, pairsBySupershingles: [0, 0, 40, 0, 0, 0, 0] }],
          degrees: {
            nodes: 50,
            pairs: 40,
            averageDegree: 1.6,
            largestDegree: 4,
            degrees: [{ degree: 1, nodes: 40 }],
            powerLaw: {
              leastSquares: { exponent: 2.1, r2: 0.97, points: 4 },
              maximumLikelihood: { exponent: 2.4, standardError: 0.2, nodes: 50 },
            },
          },
        },
      ],
    },
  ),
)

const label = choice(labels, {
  description:
    'correct: near-duplicates; incorrect: not; undecided: the two cannot be judged, or people would not agree',
})

export const Sample = component(
  'Sample',
  closed(
    {
      pairs: Type.Array(
        closed({
          ...Pair.properties,
          label: Type.Unsafe<(typeof labels)[number] | null>({
            type: ['string', 'null'],
            enum: [...labels, null],
            description: 'What was said of the pair so far',
          }),
        }),
        { description: 'In random order: the first of them are a sample as well' },
      ),
      population: whole('Pairs of the join'),
      seed: whole(),
    },
    {
      description: 'A uniform random sample of the pairs of a join, to be judged by a person',
      examples: [{ pairs: [], population: 0, seed: 0 }],
    },
  ),
)

export const NewJudgement = component(
  'NewJudgement',
  closed(
    {
      a: idSchema,
      b: otherIdSchema,
      label,
      reason: Type.Optional(nullableText({ maxLength: 1000, description: 'At most 1,000 characters' })),
    },
    {
      description: 'What a person says of two documents; their order does not matter',
      examples: [{ a: 'page 1', b: 'page 2', label: 'incorrect', reason: 'two products of one shop' }],
    },
  ),
)

export const Judgement = component(
  'Judgement',
  closed(
    {
      a: Type.String({ description: 'The lower id' }),
      b: Type.String(),
      label,
      reason: nullableText(),
      judgedAt: Type.String({ format: 'date-time' }),
      current: Type.Boolean({
        description:
          'Whether both documents still have the content that was judged; if not, it counts for nothing',
      }),
    },
    {
      description: 'A judgement as it is kept',
      examples: [
        {
          a: 'page 1',
          b: 'page 2',
          label: 'incorrect',
          reason: 'two products of one shop',
          judgedAt: '2026-03-01T12:00:00.000Z',
          current: true,
        },
      ],
    },
  ),
)

export const JudgementList = component(
  'JudgementList',
  closed(
    {
      judgements: Type.Array(ref(Judgement)),
      nextCursor: nullableText({ description: nextCursorDescription }),
    },
    { description: 'A page of the judgements, by id', examples: [{ judgements: [], nextCursor: null }] },
  ),
)

export const SampleQuery = closed({
  size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, default: 100, description: 'Pairs wanted' }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'The same seed gives the same sample, a smaller size the beginning of it',
    }),
  ),
})

export const JudgedPair = closed({ a: idSchema, b: otherIdSchema })
