import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openServices } from '../compose.ts'
import type { Config } from '../config.ts'
import { Outbox } from './outbox.ts'
import {
  type Answer,
  type Call,
  type EngineData,
  type EngineMethods,
  putPageBytesBack,
  toSend,
} from './protocol.ts'

/** The thread of the engine: services and store, answering calls from the port. See `Engine.start`. */
const serve = async (port: MessagePort, { config, sharedMemory }: EngineData<Config>): Promise<void> => {
  const { services, close } = await openServices(config)
  const { documents, nearDuplicates, comparison, jobs, operations } = services
  const methods: EngineMethods = {
    store: (inputs, duplicates) => documents.store(inputs, duplicates),
    get: (id) => documents.get(id),
    text: (id) => documents.text(id),
    delete: (id) => documents.delete(id),
    list: (query) => documents.list(query),
    duplicatesOfDocument: (id, options) => nearDuplicates.ofDocument(id, options),
    duplicatesOfPage: (page, options) => nearDuplicates.ofPage(page, options),
    compareDocuments: (a, b) => comparison.ofDocuments(a, b),
    comparePages: (a, b) => comparison.ofPages(a, b),
    analyze: (page) => comparison.analyze(page),
    createJob: (request) => jobs.create(request),
    getJob: (id) => jobs.get(id),
    listJobs: (query) => jobs.list(query),
    deleteJob: (id) => jobs.delete(id),
    pairsOfJob: (id, query) => jobs.pairs(id, query),
    clustersOfJob: (id, query) => jobs.clusters(id, query),
    ready: () => operations.ready(),
    renderMetrics: () => operations.renderMetrics(),
    close,
  }
  const outbox = new Outbox<Answer>((answers) => port.postMessage(answers))
  const run = ({ method, args, pageBytes }: Call): Promise<unknown> => {
    const [bytes, start] =
      typeof pageBytes === 'number' ? [sharedMemory, pageBytes] : [pageBytes.buffer, pageBytes.byteOffset]
    const implementation = methods[method] as (...args: readonly unknown[]) => Promise<unknown>
    return implementation(...putPageBytesBack(method, args, bytes, start))
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
