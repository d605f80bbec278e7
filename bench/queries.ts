/**
 * npm run bench:queries
 *
 * Probes (19 posting lists) with signatures and verification by Algorithms B and C, in process, against the same 19
 * look-ups in one table of another SQLite file that holds the same postings, `PRIMARY KEY (key, doc) WITHOUT ROWID`,
 * with the signatures by number beside it. Half of the queries are signatures that are stored, with some bits
 * of the simhash changed; the others are new. The contestants take turns on the same queries: the memory tier
 * within its budget, runs without any memory (past it), and the table. Then one supershingle that many
 * sets share, cap 1,000.
 *
 * Prints for each size and each contestant microseconds of CPU a query, p50 and p99 of wall time, and how many times
 * as fast as the table it is. The same over HTTP: bench/http-queries.ts.
 *
 * BENCH_SIZES: numbers of documents (10000,100000,1000000); BENCH_HOT: sets of the hot posting list (100000);
 * BENCH_QUERIES: queries in a round (400); BENCH_ROUNDS (7); BENCH_DIRECTORY: where the databases lie;
 * BENCH_PROGRESS=1 prints each size to stderr as it ends.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { defaultThresholds } from '../src/detect/decide.ts'
import { bSimilarity, cSimilarity } from '../src/detect/similarity.ts'
import type { Signature } from '../src/signature/signature.ts'
import { signedOfHalves } from '../src/store/codec.ts'
import { postingKeysOf } from '../src/store/posting.ts'
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { PutOperation } from '../src/store/store.ts'
import { cpuMicroseconds } from './process-usage.ts'
import { median, quantile, report, rounded } from './report.ts'
import { settle, storeSynthetic, syntheticDocuments } from './synthetic-documents.ts'

const sizes = (process.env.BENCH_SIZES ?? '10000,100000,1000000').split(',').map(Number)
const hotCount = Number(process.env.BENCH_HOT ?? 100_000)
const queryCount = Number(process.env.BENCH_QUERIES ?? 400)
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)
const cap = 1000
const sampleShare = 50

/** Numbers of near-duplicates found. */
type Search = (signature: Signature) => Promise<number> | number
type Contestant = { readonly name: string; readonly search: Search }

const isNear = (a: Signature, b: Signature): boolean =>
  bSimilarity(a, b) >= defaultThresholds.minSupershingles ||
  cSimilarity(a, b) >= defaultThresholds.minAgreeingBits

const searchStore =
  (store: SqliteStore): Search =>
  async (signature) => {
    const { candidates } = await store.probe({
      signature,
      minSupershingles: defaultThresholds.minSupershingles,
      bands: true,
      after: 0,
      limit: cap,
    })
    let near = 0
    for (const candidate of candidates) if (isNear(signature, candidate.signature)) near++
    return near
  }

/** The table that an index in SQLite is at its simplest; slot and value make one key of 64 bits. */
class PlainTable {
  readonly #db: Database.Database
  readonly #add: Database.Statement<[bigint, number]>
  readonly #addSignature: Database.Statement<[number, Uint8Array, Uint8Array]>
  readonly #lookUp: Database.Statement<[bigint, number], number>
  readonly #signature: Database.Statement<[number], Signature>

  constructor(path: string) {
    this.#db = new Database(path)
    this.#db.pragma('page_size = 8192')
    this.#db.pragma('journal_mode = WAL')
    this.#db.pragma('synchronous = OFF')
    this.#db.pragma('cache_size = -65536')
    this.#db.exec(`
      CREATE TABLE posting (key INTEGER NOT NULL, doc INTEGER NOT NULL, PRIMARY KEY (key, doc)) STRICT, WITHOUT ROWID;
      CREATE TABLE signature (doc INTEGER PRIMARY KEY, supershingles BLOB NOT NULL, simhash BLOB NOT NULL) STRICT`)
    this.#add = this.#db.prepare('INSERT INTO posting VALUES (?, ?)')
    this.#addSignature = this.#db.prepare('INSERT INTO signature VALUES (?, ?, ?)')
    this.#lookUp = this.#db
      .prepare<[bigint, number], number>('SELECT doc FROM posting WHERE key = ? ORDER BY doc LIMIT ?')
      .pluck()
    this.#signature = this.#db.prepare('SELECT supershingles, simhash FROM signature WHERE doc = ?')
  }

  static #keysOf(signature: Signature): bigint[] {
    return postingKeysOf(signature).map(({ slot, high, low }) =>
      signedOfHalves((high ^ Math.imul(slot + 1, 0x9e37_79b1)) >>> 0, low),
    )
  }

  /** All at once and in the order of the keys: a table that is in better order than one that grew. */
  fill(signatures: readonly { readonly doc: number; readonly signature: Signature }[]): void {
    const count = signatures.length * 19
    const keys = new BigInt64Array(count)
    const docs = new Float64Array(count)
    signatures.forEach(({ doc, signature }, i) => {
      PlainTable.#keysOf(signature).forEach((key, slot) => {
        keys[19 * i + slot] = key
        docs[19 * i + slot] = doc
      })
    })
    // 43 bits of the key in front of the index: enough of an order for filling leaves one after the other.
    const order = new BigUint64Array(count)
    for (let i = 0; i < count; i++) order[i] = (((keys[i] ?? 0n) + 2n ** 63n) & ~0x1ff_ffffn) | BigInt(i)
    order.sort()
    this.#db.transaction(() => {
      for (const { doc, signature } of signatures)
        this.#addSignature.run(doc, signature.supershingles, signature.simhash)
      for (const packed of order) {
        const i = Number(packed & 0x1ff_ffffn)
        this.#add.run(keys[i] ?? 0n, docs[i] ?? 0)
      }
    })()
  }

  search(signature: Signature): number {
    const docs = new Set<number>()
    for (const key of PlainTable.#keysOf(signature))
      for (const doc of this.#lookUp.all(key, cap)) docs.add(doc)
    let near = 0
    for (const doc of docs) {
      const stored = this.#signature.get(doc)
      if (stored !== undefined && isNear(signature, stored)) near++
    }
    return near
  }

  close(): void {
    this.#db.close()
  }
}

const withChangedBits = (signature: Signature, count: number): Signature => {
  const simhash = Uint8Array.from(signature.simhash)
  for (let i = 0; i < count; i++) simhash[(37 * i) % 48] = (simhash[(37 * i) % 48] ?? 0) ^ 1
  return { ...signature, simhash }
}

const signatureOf = ({ signature }: PutOperation): Signature => {
  if (signature === null) throw new Error('A synthetic document has a signature')
  return signature
}

/**
 * `isCut`: the posting lists are longer than the cap. Then the store cuts the merged lists and the table each
 * list, and they rightly find different parts of the whole.
 */
const compete = async (contestants: readonly Contestant[], queries: readonly Signature[], isCut: boolean) => {
  const cpu = new Map(contestants.map(({ name }) => [name, [] as number[]]))
  const wall = new Map(contestants.map(({ name }) => [name, [] as number[]]))
  const found = new Map<string, number>()
  for (let round = -1; round < rounds; round++) {
    for (const { name, search } of contestants) {
      let near = 0
      const before = cpuMicroseconds()
      const times: number[] = []
      for (const query of queries) {
        const started = performance.now()
        near += await search(query)
        times.push(1000 * (performance.now() - started))
      }
      found.set(name, near)
      // The first round is to warm up.
      if (round < 0) continue
      cpu.get(name)?.push((cpuMicroseconds() - before) / queries.length)
      wall.get(name)?.push(...times)
    }
  }
  const results = contestants.map(({ name }) => ({
    name,
    cpuMicroseconds: rounded(median(cpu.get(name) ?? []), 2),
    p50Microseconds: rounded(median(wall.get(name) ?? []), 2),
    p99Microseconds: rounded(quantile(wall.get(name) ?? [], 0.99), 2),
    nearDuplicates: found.get(name),
  }))
  const slowest = results.find(({ name }) => name === 'table')
  const timesAsFast = Object.fromEntries(
    results.map(({ name, cpuMicroseconds }) => [
      name,
      rounded((slowest?.cpuMicroseconds ?? 0) / cpuMicroseconds),
    ]),
  )
  if (!isCut && new Set(results.map(({ nearDuplicates }) => nearDuplicates)).size > 1)
    throw new Error(`The contestants do not find the same: ${JSON.stringify(results)}`)
  return { results, timesAsFast }
}

/** Fills a store and a table with the same documents and lets all compete. */
const measure = async (
  name: string,
  count: number,
  change: (one: PutOperation) => PutOperation,
  queriesOf: (stored: readonly Signature[]) => Signature[],
  isCut = false,
) => {
  const directory = await mkdtemp(join(process.env.BENCH_DIRECTORY ?? tmpdir(), 'dittograph-bench-'))
  try {
    const options = { path: join(directory, 'store.db'), scheme: 'bench', synchronous: 'normal' as const }
    // A quarter of the documents in a run, so that there are several and none is left out.
    const filling = await openSqliteStore({ ...options, flushSets: Math.ceil(count / 8) })
    const stored: { doc: number; signature: Signature }[] = []
    await storeSynthetic(filling, count, change, (batch, results) =>
      results.forEach((result, i) => {
        const operation = batch[i]
        if (result.kind === 'put' && operation !== undefined)
          stored.push({ doc: result.set, signature: signatureOf(operation) })
      }),
    )
    await settle(filling, options.path)
    await filling.close()
    const table = new PlainTable(join(directory, 'table.db'))
    table.fill(stored)
    const queries = queriesOf(
      stored
        .filter((_, i) => i % Math.ceil(stored.length / (sampleShare * queryCount)) === 0)
        .map((one) => one.signature),
    )
    stored.length = 0
    const competition = async (indexMemoryBytes: number, label: string) => {
      const store = await openSqliteStore({ ...options, indexMemoryBytes, flushSets: count * 2 })
      const outcome = await compete(
        [
          { name: label, search: searchStore(store) },
          { name: 'table', search: (signature) => table.search(signature) },
        ],
        queries,
        isCut,
      )
      await store.close()
      return outcome
    }
    const within = await competition(2 ** 31, 'within the budget')
    const past = await competition(0, 'past the budget')
    table.close()
    const result = { name, documents: count, within, past }
    if (process.env.BENCH_PROGRESS) process.stderr.write(`${JSON.stringify(result)}\n`)
    return result
  } finally {
    await rm(directory, { recursive: true })
  }
}

const results = []
for (const size of sizes)
  results.push(
    await measure(
      `${size} documents`,
      size,
      (one) => one,
      (stored) =>
        Array.from({ length: queryCount }, (_, i) => {
          if (i % 2 === 1) return signatureOf(syntheticDocuments(0, 1)[0] as PutOperation)
          return withChangedBits(stored[(i * 7919) % stored.length] as Signature, i % 8)
        }),
    ),
  )
const hot = Buffer.from('0123456789abcdef', 'hex')
results.push(
  await measure(
    'hot posting list',
    hotCount,
    (one) => {
      const { supershingles, simhash } = signatureOf(one)
      return {
        ...one,
        signature: { supershingles: Buffer.concat([hot, supershingles.subarray(8)]), simhash },
      }
    },
    (stored) =>
      Array.from(
        { length: Math.ceil(queryCount / 8) },
        (_, i) => stored[(i * 31) % stored.length] as Signature,
      ),
    hotCount > cap,
  ),
)
report('queries', { rounds, queries: queryCount, cap, measured: results })
