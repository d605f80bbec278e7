import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { Analysis, Comparison, comparisonParts, PagePair } from './schema/comparison.ts'
import { Document, DocumentList, NewDocument, Page, StoredDocument } from './schema/document.ts'
import {
  Evaluation,
  Judgement,
  JudgementList,
  NewJudgement,
  Precision,
  Proportion,
  Sample,
  Statistics,
} from './schema/evaluation.ts'
import {
  Cluster,
  ClusterList,
  Job,
  JobList,
  NewClusters,
  NewJob,
  NewJoin,
  Pair,
  PairList,
} from './schema/job.ts'
import { Duplicate, Duplicates } from './schema/near-duplicates.ts'
import { Problem } from './schema/problem.ts'

/** The named schemas, each before those that refer to it. */
const components = [
  Problem,
  Duplicate,
  Page,
  NewDocument,
  StoredDocument,
  Document,
  DocumentList,
  Duplicates,
  PagePair,
  ...comparisonParts,
  Comparison,
  Analysis,
  NewJoin,
  NewClusters,
  NewJob,
  Job,
  JobList,
  Pair,
  PairList,
  Cluster,
  ClusterList,
  Proportion,
  Precision,
  Sample,
  Statistics,
  Evaluation,
  NewJudgement,
  Judgement,
  JudgementList,
]

const tags = [
  { name: 'documents', description: 'Storing pages and reading them back' },
  { name: 'near-duplicates', description: 'Finding near-duplicates and explaining them' },
  { name: 'jobs', description: 'All pairs and clusters of the whole collection' },
  { name: 'evaluation', description: 'Whether a threshold is right: samples, judgements, precision' },
  { name: 'service', description: 'Health, metrics and documentation' },
]

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key, made with `dittograph keys add`. It opens one collection. Where the service has no keys ' +
      '(API_KEYS_FILE is not set), every request is let in without.',
  },
} as const

/** Where the document can be read by people. */
export const documentationPath = '/docs'

// The UI sets styles from its scripts; everything else it loads comes from this service.
const uiContentSecurityPolicy =
  "default-src 'none'; connect-src 'self'; font-src 'self'; img-src 'self' data:; script-src 'self'; " +
  "style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** Collects the routes registered from now on into the OpenAPI document, and shows it to people. */
export const registerOpenapi = async (app: FastifyInstance, version: string): Promise<void> => {
  for (const schema of components) app.addSchema(schema)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Dittograph',
        description:
          'Near-duplicate detection for web pages. Every error is answered as application/problem+json; every ' +
          'answer carries x-request-id. A service with API keys lets no request in without one, those about its health ' +
          'apart, and a key opens one collection: nothing of another shows. Bodies may be sent with Content-Encoding gzip, deflate or br.',
        version,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This service' }],
      components: { securitySchemes },
      security: [{ bearer: [] }],
      tags,
    },
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, i) =>
        typeof json.$id === 'string' ? json.$id : `schema-${i}`,
    },
  })
  await app.register(fastifySwaggerUi, {
    routePrefix: documentationPath,
    staticCSP: uiContentSecurityPolicy,
    uiConfig: { deepLinking: true, validatorUrl: null },
  })
}

/** The OpenAPI document of an application that is ready. */
export const openapiDocument = (app: FastifyInstance): object => app.swagger()
