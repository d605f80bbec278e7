/**
 * npm run bench:http -- [FILE.ndjson[.gz] …]
 *
 * Starts the built service on an empty database, posts all pages of the files (or 5,000 made ones) as NDJSON
 * over one connection, then asks for the near-duplicates of 500 random documents one after another, and
 * compares every algorithm's whole answer with brute force over the signatures that the service reports.
 *
 * Prints documents and MiB a second, p50 and p99 of the queries and of GET /health/live, and which answers differ from
 * brute force; ends with 1 where one does.
 *
 * BENCH_PAGES: how many pages to make (5000); BENCH_SAMPLE: how many documents to ask for (500).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Algorithm, algorithms, decide, defaultThresholds } from '../src/detect/decide.ts'
import { bSimilarity, cSimilarity } from '../src/detect/similarity.ts'
import { seededRandom } from '../test/fixture/pages.ts'
import { startServer } from '../test/fixture/server.ts'
import { readPages } from './pages.ts'
import { median, quantile, report } from './report.ts'

type View = {
  id: string
  site: string | null
  contentHash: string
  supershingles: string[] | null
  simhash: string | null
}

const sampleSize = Number(process.env.BENCH_SAMPLE ?? 500)
const made = { count: Number(process.env.BENCH_PAGES ?? 5000), bytes: 10_000 }
const files = process.argv.slice(2)

const post = async (
  url: string,
): Promise<{ lines: number; bytes: number; seconds: number; summary: unknown }> => {
  const started = performance.now()
  let lines = 0
  let bytes = 0
  const answer = new Promise<unknown>((resolve, reject) => {
    const outgoing = request(`${url}/documents`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
    })
    outgoing.on('error', reject)
    outgoing.on('response', async (response) => {
      let last = ''
      for await (const line of createInterface({ input: response })) last = line
      resolve(JSON.parse(last).summary)
    })
    const send = async (): Promise<void> => {
      for await (const page of readPages(files, made)) {
        const line = `${JSON.stringify(page)}\n`
        lines++
        bytes += Buffer.byteLength(line)
        if (!outgoing.write(line)) await new Promise((resume) => outgoing.once('drain', resume))
      }
      outgoing.end()
    }
    send().catch(reject)
  })
  const summary = await answer
  return { lines, bytes, seconds: (performance.now() - started) / 1000, summary }
}

const getJson = async <T>(url: string): Promise<T> => {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

const allDocuments = async (url: string): Promise<View[]> => {
  const views: View[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { documents: View[]; nextCursor: string | null } = await getJson(
      `${url}/documents?limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`,
    )
    views.push(...page.documents)
    cursor = page.nextCursor
  }
  return views
}

const signatureOf = (view: View) =>
  view.supershingles === null || view.simhash === null
    ? null
    : {
        supershingles: Buffer.from(view.supershingles.join(''), 'hex'),
        simhash: Buffer.from(view.simhash, 'hex'),
      }

type Signed = View & { readonly signature: NonNullable<ReturnType<typeof signatureOf>> }

/** Ids of all near-duplicates by algorithm, by comparing the stored signatures of all documents. */
const bruteForce = (documents: readonly Signed[], of: View): Map<Algorithm, string[]> => {
  const found = new Map<Algorithm, string[]>(algorithms.map((algorithm) => [algorithm, []]))
  const own = signatureOf(of)
  if (own === null) return found
  for (const other of documents) {
    if (other.id === of.id) continue
    const evidence = {
      bSimilarity: bSimilarity(own, other.signature),
      cSimilarity: cSimilarity(own, other.signature),
      sameSite: of.site !== null && of.site === other.site,
      identical: of.contentHash === other.contentHash,
    }
    for (const [algorithm, ids] of found)
      if (decide(algorithm, evidence, defaultThresholds)) ids.push(other.id)
  }
  return found
}

const walk = async (url: string, id: string, algorithm: Algorithm): Promise<string[]> => {
  const ids: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query = `algorithm=${algorithm}&order=id&minResemblance=0&limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`
    const page: { duplicates: { id: string }[]; nextCursor: string | null } = await getJson(
      `${url}/documents/${encodeURIComponent(id)}/duplicates?${query}`,
    )
    ids.push(...page.duplicates.map((one) => one.id))
    cursor = page.nextCursor
  }
  return ids.sort()
}

const directory = await mkdtemp(join(tmpdir(), 'dittograph-bench-'))
const server = await startServer({ DATABASE_URL: `sqlite:${join(directory, 'bench.db')}`, LOG_LEVEL: 'info' })
try {
  const posted = await post(server.url)
  const views = await allDocuments(server.url)
  const random = seededRandom(11)
  const sample = Array.from({ length: sampleSize }, () => views[Math.floor(random() * views.length)] as View)

  const milliseconds: number[] = []
  const live: number[] = []
  for (const view of sample) {
    const path = `${server.url}/documents/${encodeURIComponent(view.id)}/duplicates`
    let started = performance.now()
    await getJson(path)
    milliseconds.push(performance.now() - started)
    started = performance.now()
    await getJson(`${server.url}/health/live`)
    live.push(performance.now() - started)
  }

  const signed = views.flatMap((view) => {
    const signature = signatureOf(view)
    return signature === null ? [] : [{ ...view, signature }]
  })
  const differences: string[] = []
  let pairs = 0
  for (const view of sample)
    for (const [algorithm, expected] of bruteForce(signed, view)) {
      const actual = await walk(server.url, view.id, algorithm)
      pairs += expected.length
      if (expected.sort().join() !== actual.join()) differences.push(`${algorithm} of ${view.id}`)
    }

  report('http', {
    pages: posted.lines,
    bytes: posted.bytes,
    summary: posted.summary,
    documentsPerSecond: posted.lines / posted.seconds,
    mebibytesPerSecond: posted.bytes / posted.seconds / 2 ** 20,
    duplicatesMs: { p50: median(milliseconds), p99: quantile(milliseconds, 0.99) },
    healthLiveMs: { p50: median(live), p99: quantile(live, 0.99) },
    answersComparedWithBruteForce: sample.length * algorithms.length,
    pairsCompared: pairs,
    differingAnswers: differences,
  })
  if (differences.length > 0) process.exitCode = 1
} finally {
  await server.stop()
  await rm(directory, { recursive: true })
}
