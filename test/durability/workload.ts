import { editWords, randomWords } from '../fixture/pages.ts'

/** A document as it was sent. */
export type Version = {
  readonly version: number
  readonly text: string
  readonly url: string | null
}

/** What storing a version over another one is answered: edits may come out as what is there already. */
const statusOf = (before: Version | null, { text, url }: Version): 'created' | 'replaced' | 'unchanged' => {
  if (before === null) return 'created'
  return before.text === text && before.url === url ? 'unchanged' : 'replaced'
}

/** What is stored under an id: null is nothing. */
export type Known = {
  acknowledged: Version | null
  /** What may be stored instead, because it was sent and not answered. */
  possible: (Version | null)[]
}

export type WorkloadOptions = {
  readonly random: () => number
  /** Names the ids of this workload. */
  readonly name: string
  /** So many ids at most; beyond that, documents are replaced and stored again. */
  readonly ids: number
  /** Pages of one family are near-duplicates of one another. */
  readonly families: number
}

type Sent<V = Version | null> = { readonly id: string; readonly version: V; readonly known: Known }

/** The service did something else than to store what it was sent, or to break off. */
class WrongAnswer extends Error {}

const json = 'application/json'
const ndjson = 'application/x-ndjson'
const sites = 5

const bodyOf = (id: string, { version, text, url }: Version): string =>
  JSON.stringify({ id, text, metadata: { version }, ...(url === null ? {} : { url }) })

/**
 * One client of the service that stores, replaces and deletes documents, one at a time and in batches, and knows at every
 * moment what must be stored and what may be. It has ids of its own, so that several can work at once.
 */
export class Workload {
  readonly known = new Map<string, Known>()
  readonly #options: WorkloadOptions
  readonly #families: string[][]
  readonly #ids: string[] = []
  #lastVersion = 0
  /** Documents that were acknowledged, and deletes. */
  acknowledgements = 0
  #remembers = false

  constructor(options: WorkloadOptions) {
    this.#options = options
    const { random, families } = options
    this.#families = Array.from({ length: families }, () =>
      randomWords(random, 120 + Math.floor(250 * random())),
    )
  }

  /** Works until the connection breaks, or `signal` says so between two requests. Throws `WrongAnswer`. */
  async run(url: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.step(url)
      } catch (error) {
        if (error instanceof WrongAnswer) throw error
        return
      }
    }
  }

  /** From now on all that was stored in between stays possible, as it is in a copy that is made meanwhile. */
  remember(): void {
    this.#remembers = true
  }

  /** Sends one request. Rejects where the connection breaks; what it was about may then be stored or not. */
  async step(url: string): Promise<void> {
    const { random } = this.#options
    const kind = random()
    if (kind < 0.4) await this.#storeOne(url)
    else if (kind < 0.7) await this.#storeMany(url, 2 + Math.floor(60 * random()))
    else await this.#deleteOne(url)
  }

  async #storeOne(url: string): Promise<void> {
    const id = this.#someId()
    const version = this.#nextVersion()
    const sent = this.#send(id, version)
    const response =
      this.#options.random() < 0.5
        ? await fetch(`${url}/documents`, {
            method: 'POST',
            headers: { 'content-type': json },
            body: bodyOf(id, version),
          })
        : await fetch(`${url}/documents/${id}`, {
            method: 'PUT',
            headers: { 'content-type': json },
            body: bodyOf(id, version),
          })
    const expected = sent.known.acknowledged === null ? 201 : 200
    await this.#settle(response, response.status === expected, sent)
    await response.arrayBuffer()
  }

  async #storeMany(url: string, count: number): Promise<void> {
    const ids = new Set(Array.from({ length: count }, () => this.#someId()))
    const sent = [...ids].map((id) => this.#send(id, this.#nextVersion()))
    const body = sent.map(({ id, version }) => bodyOf(id, version)).join('\n')
    const response = await fetch(`${url}/documents`, {
      method: 'POST',
      headers: { 'content-type': ndjson },
      body,
    })
    if (response.status !== 200)
      throw new WrongAnswer(`A batch was answered ${response.status}: ${await response.text()}`)
    let rest = ''
    let answered = 0
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const result = JSON.parse(line)
        const one = sent[answered++]
        if (one === undefined) continue // the summary
        const status = statusOf(one.known.acknowledged, one.version)
        if (result.id !== one.id || result.status !== status)
          throw new WrongAnswer(`A line about ${one.id} (${status}) was answered ${line}`)
        this.#acknowledge(one)
      }
    }
  }

  async #deleteOne(url: string): Promise<void> {
    const id = this.#someId()
    const sent = this.#send(id, null)
    const response = await fetch(`${url}/documents/${id}`, { method: 'DELETE' })
    await this.#settle(response, response.status === (sent.known.acknowledged === null ? 404 : 204), sent)
  }

  async #settle(response: Response, isExpected: boolean, sent: Sent): Promise<void> {
    if (!isExpected)
      throw new WrongAnswer(`${response.url} was answered ${response.status}: ${await response.text()}`)
    this.#acknowledge(sent)
  }

  #send<V extends Version | null>(id: string, version: V): Sent<V> {
    const known = this.known.get(id) ?? { acknowledged: null, possible: [] }
    known.possible.push(version)
    this.known.set(id, known)
    return { id, version, known }
  }

  #acknowledge({ known, version }: Sent): void {
    known.possible = this.#remembers ? [...known.possible, known.acknowledged] : []
    known.acknowledged = version
    this.acknowledgements++
  }

  /** A new one, or one that is or was stored. */
  #someId(): string {
    const { random, ids, name } = this.#options
    const chosen = Math.floor(random() * ids)
    const known = this.#ids[chosen]
    if (known !== undefined) return known
    const id = `${name}-${this.#ids.length}`
    this.#ids.push(id)
    return id
  }

  #nextVersion(): Version {
    const { random } = this.#options
    const family = this.#families[Math.floor(random() * this.#families.length)] ?? []
    const edits = Math.floor(7 * random())
    const words =
      edits === 0 ? family : editWords(random, family, edits, random() < 0.5 ? 'block' : 'scattered')
    const version = ++this.#lastVersion
    const site = Math.floor(sites * random())
    return {
      version,
      text: words.join(' '),
      url: site === 0 ? null : `https://www.site-${site}.example/${this.#options.name}/${version}`,
    }
  }
}
