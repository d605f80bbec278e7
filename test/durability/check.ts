import { Analyzer } from '../../src/analysis/analyzer.ts'
import { type Algorithm, decide, defaultThresholds, type Evidence } from '../../src/detect/decide.ts'
import { bSimilarity, cSimilarity } from '../../src/detect/similarity.ts'
import type { DocumentView, DuplicatesAnswer } from '../../src/service/service.ts'
import { viewOfSignature } from '../../src/service/signature-view.ts'
import type { Signature } from '../../src/signature/signature.ts'
import { allPages } from '../fixture/services.ts'
import type { Version, Workload } from './workload.ts'

const sketchAlgorithms: readonly Algorithm[] = ['shingling', 'simhash', 'combined', 'site-aware']
const clients = 4
const mostDuplicates = 1000

type Expected = {
  readonly id: string
  readonly version: Version
  readonly site: string | null
  readonly contentHash: string
  readonly signature: Signature
}

const getJson = async <T>(url: string, init: RequestInit = {}): Promise<T> => {
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${url} was answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T // the shape that the contract promises; what is read of it is compared
}

/** Calls `work` for every item, `clients` at a time. */
const forEach = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  let next = 0
  const run = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item)
  }
  await Promise.all(Array.from({ length: clients }, run))
}

const analyzer = new Analyzer({ tokenizer: 'practical', siteRule: 'public-suffix' })

/** Fails where a stored document is not in every part what was sent. */
const expectWhole = (view: DocumentView, version: Version): Expected => {
  const { id } = view
  const { url, text } = version
  const { site, title, tokenCount, contentHash, signature } = analyzer.sketch({
    url,
    content: { kind: 'text', characters: text },
  })
  if (signature === null) throw new Error('The text is too short for a signature')
  const hash = Buffer.from(contentHash).toString('hex')
  const expected = { id, url, site, title, tokenCount, contentHash: hash, ...viewOfSignature(signature) }
  for (const [name, value] of Object.entries(expected)) {
    const stored = Reflect.get(view, name)
    if (JSON.stringify(stored) !== JSON.stringify(value))
      throw new Error(`${id} has the ${name} ${JSON.stringify(stored)} and not ${JSON.stringify(value)}`)
  }
  return { id, version, site, contentHash: hash, signature }
}

/** Which of the versions that may be there is; null where the document is not there, and may be absent. */
const settle = (id: string, workload: Workload, view: DocumentView | undefined): Version | null => {
  const known = workload.known.get(id)
  if (known === undefined) throw new Error(`${id} was never sent`)
  const possible = [known.acknowledged, ...known.possible]
  const stored = view === undefined ? undefined : Reflect.get(Object(view.metadata), 'version')
  const found = possible.find((version) => version?.version === stored)
  if (found === undefined)
    throw new Error(
      `${id} has version ${stored ?? 'none'} and may have ${possible.map((one) => one?.version ?? 'none')}`,
    )
  known.acknowledged = found
  known.possible = []
  return found
}

const evidenceOf = (a: Expected, b: Expected): Evidence => ({
  bSimilarity: bSimilarity(a.signature, b.signature),
  cSimilarity: cSimilarity(a.signature, b.signature),
  sameSite: a.site !== null && a.site === b.site,
  identical: a.contentHash === b.contentHash,
})

/** Ids of the stored documents that the page of a document finds. Fails where the answer is not complete. */
const idsFoundBy = async (url: string, { id, version }: Expected, query: string): Promise<string[]> => {
  const page = JSON.stringify({ text: version.text, ...(version.url === null ? {} : { url: version.url }) })
  const { duplicates, complete } = await getJson<DuplicatesAnswer>(
    `${url}/duplicates?${query}&limit=${mostDuplicates}`,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: page },
  )
  if (!complete) throw new Error(`What ${id} finds is not complete: ${query}`)
  return duplicates.map((one) => one.id).sort()
}

/** Fails where the page of a document does not find exactly its near-duplicates, itself among them. */
const expectFound = async (
  url: string,
  subject: Expected,
  all: readonly Expected[],
  isAll: boolean,
): Promise<void> => {
  const evidence = all.map((other) => ({ id: other.id, pair: evidenceOf(subject, other) }))
  for (const algorithm of sketchAlgorithms) {
    const found = await idsFoundBy(url, subject, `algorithm=${algorithm}&minResemblance=0`)
    const near = evidence.filter(({ pair }) => decide(algorithm, pair, defaultThresholds))
    const expected = near.map(({ id }) => id).sort()
    if (JSON.stringify(found) !== JSON.stringify(expected))
      throw new Error(`${subject.id} finds by ${algorithm} ${found} and not ${expected}`)
  }
  // Other documents have no texts, and an exact search says that it cannot tell about them.
  if (!isAll) return
  const found = await idsFoundBy(url, subject, 'algorithm=jaccard&threshold=0.9')
  const gone = found.filter((id) => !all.some((one) => one.id === id))
  if (!found.includes(subject.id) || gone.length > 0)
    throw new Error(`${subject.id} finds by jaccard ${found}, of which ${gone} are gone`)
}

const listAll = async (url: string): Promise<DocumentView[]> => {
  const pages = await allPages((cursor) =>
    getJson<{ documents: DocumentView[]; nextCursor: string | null }>(
      `${url}/documents?limit=1000${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    ),
  )
  return pages.flatMap(({ documents }) => documents)
}

export type CheckOptions = {
  /** Documents that nobody changes, and that are near-duplicates of none; all must be there. */
  readonly others?: ReadonlySet<string>
  /** Says of which documents the text is read and the near-duplicates are sought; default: all. */
  readonly isSearched?: (id: string) => boolean
}

/**
 * Fails where the service at the URL does not hold what the workloads were told that it holds: each document once, whole,
 * and found by all algorithms with its near-duplicates, and no other. What was under way may be there
 * or not, wholly; from now on it is as it was found. Returns the number of documents of the workloads.
 */
export const checkService = async (
  url: string,
  workloads: readonly Workload[],
  { others = new Set(), isSearched = () => true }: CheckOptions = {},
): Promise<number> => {
  const views = new Map<string, DocumentView>()
  let othersFound = 0
  for (const view of await listAll(url)) {
    if (others.has(view.id)) othersFound++
    else if (views.has(view.id)) throw new Error(`${view.id} is listed twice`)
    else views.set(view.id, view)
  }
  if (othersFound !== others.size)
    throw new Error(`Of ${others.size} other documents ${othersFound} are there`)
  const all: Expected[] = []
  for (const workload of workloads) {
    for (const id of workload.known.keys()) {
      const view = views.get(id)
      const version = settle(id, workload, view)
      if (view !== undefined && version !== null) all.push(expectWhole(view, version))
      views.delete(id)
    }
  }
  if (views.size > 0) throw new Error(`Nobody sent ${[...views.keys()]}`)
  const searched = all.filter(({ id }) => isSearched(id))
  await forEach(searched, async (one) => {
    const response = await fetch(`${url}/documents/${one.id}/text`)
    if (!response.ok || (await response.text()) !== one.version.text)
      throw new Error(`The text of ${one.id} is another one`)
    await expectFound(url, one, all, others.size === 0)
  })
  const counted = /^dittograph_documents (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
  if (Number(counted) !== all.length + others.size)
    throw new Error(`${counted} documents are counted, and there are ${all.length + others.size}`)
  return all.length
}
