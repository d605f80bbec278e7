import { type AddressInfo, connect, type Socket } from 'node:net'
import Database from 'better-sqlite3'
import type { FastifyInstance } from 'fastify'
import { DittographError } from '../../src/errors.ts'
import { type AppOptions, buildApp } from '../../src/http/app.ts'
import type { DocumentInput, DuplicatesOptions, Services } from '../../src/service/service.ts'
import { toDittographError } from '../../src/store/sqlite/sqlite-error.ts'
import { only, openInMemory } from '../fixture/services.ts'

/** What the HTTP layer handed to the services, in order. */
type Calls = {
  batches: (readonly DocumentInput[])[]
  options: (DuplicatesOptions | null)[]
}

type RecordingServices = {
  readonly services: Services
  readonly calls: Calls
  /** What the disk does to every write from now on, as the store reports it; null: nothing. */
  diskFailure: Error | null
  /** The last document that was handed over with this id. */
  input(id: string): DocumentInput | undefined
  /** Holds every call of `store` back, after it was recorded, until the returned function is called. */
  hold(): () => void
  /** Documents that are stored. */
  count(): Promise<number>
  closeServices(): Promise<void>
}

export const diskFull = toDittographError(new Database.SqliteError('database or disk is full', 'SQLITE_FULL'))
export const diskBroken = toDittographError(new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC'))

/** Real services over a database in memory, which record what they are given. */
const recordingServices = async (settings: Readonly<Record<string, string>>): Promise<RecordingServices> => {
  const { services, close } = await openInMemory(settings)
  const { documents, nearDuplicates, operations } = services
  const calls: Calls = { batches: [], options: [] }
  let gate: Promise<void> | null = null
  const recording: RecordingServices = {
    calls,
    diskFailure: null,
    services: {
      ...services,
      documents: {
        store: async (inputs, options) => {
          calls.batches.push(inputs)
          calls.options.push(options)
          await gate
          const failure = recording.diskFailure
          if (failure instanceof DittographError) return inputs.map(() => failure)
          if (failure !== null) throw failure
          return documents.store(inputs, options)
        },
        get: (id) => documents.get(id),
        text: (id) => documents.text(id),
        delete: (id) => documents.delete(id),
        list: (query) => documents.list(query),
      },
      nearDuplicates: {
        ofDocument: (id, options) => {
          calls.options.push(options)
          return nearDuplicates.ofDocument(id, options)
        },
        ofPage: (page, options) => {
          calls.options.push(options)
          return nearDuplicates.ofPage(page, options)
        },
      },
      operations: {
        ready: async () => {
          if (recording.diskFailure !== null) throw recording.diskFailure
          return operations.ready()
        },
        renderMetrics: () => operations.renderMetrics(),
      },
    },
    input: (id) => calls.batches.flat().findLast((input) => input.id === id),
    hold: () => {
      let release = () => {}
      gate = new Promise((resolve) => {
        release = resolve
      })
      return () => release()
    },
    count: async () => {
      const text = await operations.renderMetrics()
      return Number(/^dittograph_documents (\d+)$/m.exec(text)?.[1])
    },
    closeServices: close,
  }
  return recording
}

export const bodyLimitBytes = 64 * 1024

export type RecordingApp = RecordingServices & {
  readonly app: FastifyInstance
  /** Closes the application and then its services. */
  close(): Promise<void>
}

/** An application over recording services, with a small body limit. */
export const recordingApp = async (
  changes: Partial<Pick<AppOptions, 'requestTimeoutMs' | 'connectionLimit' | 'logger'>> & {
    readonly settings?: Readonly<Record<string, string>>
  } = {},
): Promise<RecordingApp> => {
  const { settings = {}, ...options } = changes
  const recording = await recordingServices(settings)
  const app = await buildApp(only(recording.services), {
    keys: null,
    bodyLimitBytes,
    exactMinThreshold: 0.5,
    requestTimeoutMs: 60_000,
    logger: false,
    version: '0.0.0',
    ...options,
  })
  const close = async () => {
    await app.close()
    await recording.closeServices()
  }
  return Object.assign(recording, { app, close })
}

/** Listens on a free port of the loopback address. */
export const listen = async (app: FastifyInstance): Promise<number> => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port // a TCP server
}

export type RawAnswer = { status: number; headers: Record<string, string>; body: string }

/** Cuts the first answer with a Content-Length off the bytes that came over a connection. */
export const parseAnswer = (bytes: Buffer): { answer: RawAnswer; rest: Buffer } => {
  const text = bytes.toString('latin1')
  const headEnd = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0)
  return {
    answer: {
      status: Number(statusLine.split(' ')[1]),
      headers,
      body: bytes.subarray(headEnd + 4, bodyEnd).toString('utf8'),
    },
    rest: bytes.subarray(bodyEnd),
  }
}

export type Connection = {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  /** What has come back so far. */
  received(): Buffer
}

/** A connection that collects what comes back. */
export const open = (port: number): Connection => {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {}) // a reset after the answer is as good as a close
  // Not `once`, which an error before the close would reject.
  const closed = new Promise((resolve) => socket.once('close', resolve))
  return { socket, closed, received: () => Buffer.concat(chunks) }
}

/** Sends bytes over one connection and gives what comes back until the other side closes it. */
export const exchange = async (
  port: number,
  parts: readonly (string | Buffer)[],
  options: { end?: boolean } = {},
): Promise<Buffer> => {
  const { socket, closed, received } = open(port)
  for (const part of parts) socket.write(part)
  if (options.end) socket.end()
  await closed
  return received()
}
