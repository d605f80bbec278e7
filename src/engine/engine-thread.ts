import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { configOfCollection, openServices, type RunningServices } from '../compose.ts'
import type { Config } from '../config.ts'
import { DittographError } from '../errors.ts'
import { JobTurns } from '../job/job-turns.ts'
import type { Services } from '../service/service.ts'
import { OpenCollections } from './open-collections.ts'
import { Outbox } from './outbox.ts'
import {
  type Answer,
  type Call,
  type CollectionMethods,
  type EngineData,
  putPageBytesBack,
  toSend,
  type WholeMethods,
} from './protocol.ts'

type MethodsOfServices = {
  readonly [M in keyof CollectionMethods]: (
    services: Services,
    ...args: Parameters<CollectionMethods[M]>
  ) => ReturnType<CollectionMethods[M]>
}

const collectionMethods: MethodsOfServices = {
  store: ({ documents }, inputs, duplicates) => documents.store(inputs, duplicates),
  get: ({ documents }, id) => documents.get(id),
  text: ({ documents }, id) => documents.text(id),
  delete: ({ documents }, id) => documents.delete(id),
  list: ({ documents }, query) => documents.list(query),
  duplicatesOfDocument: ({ nearDuplicates }, id, options) => nearDuplicates.ofDocument(id, options),
  duplicatesOfPage: ({ nearDuplicates }, page, options) => nearDuplicates.ofPage(page, options),
  compareDocuments: ({ comparison }, a, b) => comparison.ofDocuments(a, b),
  comparePages: ({ comparison }, a, b) => comparison.ofPages(a, b),
  analyze: ({ comparison }, page) => comparison.analyze(page),
  createJob: ({ jobs }, request) => jobs.create(request),
  getJob: ({ jobs }, id) => jobs.get(id),
  listJobs: ({ jobs }, query) => jobs.list(query),
  deleteJob: ({ jobs }, id) => jobs.delete(id),
  pairsOfJob: ({ jobs }, id, query) => jobs.pairs(id, query),
  clustersOfJob: ({ jobs }, id, query) => jobs.clusters(id, query),
  sampleOfJob: ({ evaluation }, job, query) => evaluation.sample(job, query),
  statisticsOfJob: ({ evaluation }, job) => evaluation.statistics(job),
  evaluationOfJob: ({ evaluation }, job) => evaluation.evaluation(job),
  judge: ({ evaluation }, a, b, verdict) => evaluation.judge(a, b, verdict),
  judgements: ({ evaluation }, query) => evaluation.judgements(query),
  forgetJudgement: ({ evaluation }, a, b) => evaluation.forget(a, b),
  ready: ({ operations }) => operations.ready(),
  renderMetrics: ({ operations }) => operations.renderMetrics(),
}

/** So many collections may be open at once. Without keys there is only one. */
const mostOpen = (config: Config): number => (config.API_KEYS_FILE === null ? 1 : config.OPEN_COLLECTIONS)

/** The collections of a configuration, none of which is open yet. */
const collectionsOf = (config: Config): OpenCollections => {
  const limit = mostOpen(config)
  // Each has its share for good: what one does must not change what there is for another.
  const indexMemory = Math.max(1, Math.floor(config.INDEX_MEMORY_MB / limit))
  const turns = new JobTurns()
  const open = async (collection: string): Promise<RunningServices> => {
    const own = { ...configOfCollection(config, collection), INDEX_MEMORY_MB: indexMemory }
    try {
      return await openServices(own, { turns })
    } catch (cause) {
      if (!(cause instanceof DittographError) || config.API_KEYS_FILE === null) throw cause
      throw new DittographError(cause.code, `Collection "${collection}": ${cause.message}`, { cause })
    }
  }
  return new OpenCollections({ limit, open })
}

type AnyMethod = (...args: readonly unknown[]) => Promise<unknown>

/** The thread of the engine: services and stores, answering calls from the port. See `Engine.start`. */
const serve = async (port: MessagePort, data: EngineData<Config>): Promise<void> => {
  const { config, sharedMemory } = data
  const collections = collectionsOf(config)
  try {
    for (const collection of data.collections.slice(0, mostOpen(config)))
      await collections.use(collection, async () => undefined)
  } catch (reason) {
    await collections.close()
    throw reason
  }
  const wholeMethods: WholeMethods = {
    allReady: () => collections.ready(),
    close: () => collections.close(),
  }
  const outbox = new Outbox<Answer>((answers) => port.postMessage(answers))
  const run = async ({ collection, method, args, pageBytes }: Call): Promise<unknown> => {
    if (collection === null) return wholeMethods[method as keyof WholeMethods]()
    const [bytes, start] =
      typeof pageBytes === 'number' ? [sharedMemory, pageBytes] : [pageBytes.buffer, pageBytes.byteOffset]
    const implementation = collectionMethods[method as keyof CollectionMethods] as AnyMethod
    const ownArgs = putPageBytesBack(method, args, bytes, start)
    return collections.use(collection, (services) => implementation(services, ...ownArgs))
  }
  port.on('message', (calls: readonly Call[]) => {
    for (const call of calls)
      run(call).then(
        (value) => outbox.add({ call: call.call, value: Array.isArray(value) ? value.map(toSend) : value }),
        (error) => outbox.add({ call: call.call, error: toSend(error) }),
      )
  })
  port.postMessage('ready')
}

if (parentPort !== null) {
  const port = parentPort
  serve(port, workerData).catch((reason) => port.postMessage({ refused: toSend(reason) }))
}
