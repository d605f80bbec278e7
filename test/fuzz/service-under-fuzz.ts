import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, request as startRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Parameters } from 'fast-check'
import { htmlPage, randomWords, seededRandom } from '../fixture/pages.ts'
import { type Server, startServer } from '../fixture/server.ts'
import { Contract, type FuzzAnswer, type FuzzRequest, linesOf, mediaTypeOf, readApi } from './contract.ts'

/** Inputs of each kind; FUZZ_RUNS=20000 makes a long run. */
export const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 120)

/** The seed that fast-check prints with a counterexample; FUZZ_SEED makes other inputs. */
export const fuzzing: Parameters<unknown> = {
  seed: Number(process.env.FUZZ_SEED ?? 20_261_201),
  numRuns: fuzzRuns,
}

/** No test with so many inputs is over sooner. */
export const fuzzTimeoutMs = 60_000 + fuzzRuns * 200

export const jsonBody = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

const random = seededRandom(20_261_201)
const words = randomWords(random, 400)
const knownPage = htmlPage('Kettle', words)
const nearlyKnownPage = htmlPage('Kettle', words.with(200, 'copper'))

/**
 * The built service on a socket, with two near-duplicates stored. An answer that breaks a promise of the contract
 * throws where it was asked for.
 */
export class ServiceUnderFuzz {
  readonly server: Server
  readonly #directory: string
  readonly #contract: Contract
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 })

  private constructor(server: Server, directory: string, contract: Contract) {
    this.server = server
    this.#directory = directory
    this.#contract = contract
  }

  static async start(environment: Readonly<Record<string, string>> = {}): Promise<ServiceUnderFuzz> {
    const directory = await mkdtemp(join(tmpdir(), 'dittograph-fuzz-'))
    const server = await startServer({
      DATABASE_URL: `sqlite:${join(directory, 'fuzz.db')}`,
      SYNCHRONOUS: 'normal',
      ...environment,
    })
    const service = new ServiceUnderFuzz(server, directory, new Contract(await readApi()))
    await service.put('known', knownPage)
    await service.put('nearly-known', nearlyKnownPage)
    return service
  }

  async stop(): Promise<number | null> {
    this.#agent.destroy()
    const code = await this.server.stop()
    await rm(this.#directory, { recursive: true })
    return code
  }

  async send(request: FuzzRequest): Promise<FuzzAnswer> {
    const answer = await this.#exchange(request)
    const broken = this.#contract.brokenPromise(request, answer)
    if (broken !== null)
      throw new Error(
        `${request.method} ${request.path.slice(0, 300)}: ${broken}: ${answer.status} ${answer.body.toString().slice(0, 500)}`,
      )
    return answer
  }

  async put(id: string, html: string): Promise<FuzzAnswer> {
    return this.send({
      method: 'PUT',
      path: `/documents/${encodeURIComponent(id)}`,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: Buffer.from(html),
    })
  }

  async analysis(contentType: string, body: Buffer): Promise<FuzzAnswer> {
    return this.send({ method: 'POST', path: '/analysis', headers: { 'content-type': contentType }, body })
  }

  /** Ids of the near-duplicates of the page that was stored first: whatever came since, one is the right answer. */
  async knownDuplicates(): Promise<readonly string[]> {
    const { body } = await this.send({ method: 'GET', path: '/documents/known/duplicates' })
    return JSON.parse(body.toString()).duplicates.map(({ id }: { id: string }) => id)
  }

  /** The known document, and a join that found it, by the start of the paths that lead to them. */
  async known(): Promise<Readonly<Record<string, string>>> {
    const headers = { 'content-type': 'application/json' }
    const created = await this.send({
      method: 'POST',
      path: '/jobs',
      headers,
      body: jsonBody({ kind: 'join' }),
    })
    const { id } = JSON.parse(created.body.toString())
    const events = await this.send({ method: 'GET', path: `/jobs/${id}/events` })
    if (!events.body.toString().includes('"succeeded"')) throw new Error('The join did not succeed')
    return { '/documents': 'known', '/jobs': id, '/problems': 'invalid_body' }
  }

  /** Resident memory of the service. Linux only. */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.server.process.pid}/status`, 'utf8')
    return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])
  }

  #exchange({ method, path, headers, body }: FuzzRequest): Promise<FuzzAnswer> {
    const { hostname, port } = new URL(this.server.url)
    return new Promise((resolve, reject) => {
      const request = startRequest(
        {
          hostname,
          port,
          method,
          path,
          agent: this.#agent,
          headers: { ...(body === undefined ? {} : { 'content-length': body.length }), ...headers },
        },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk) => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              type: mediaTypeOf(answer.headers['content-type']),
              body: Buffer.concat(chunks),
              headers: answer.headers,
            }),
          )
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  }
}

/** The values of an NDJSON answer, the summary apart. */
export const resultsOf = (body: Buffer) => {
  const values = linesOf(body).map((line) => JSON.parse(line))
  return { results: values.slice(0, -1), summary: values.at(-1).summary }
}
