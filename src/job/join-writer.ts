import type Database from 'better-sqlite3'
import type { Snapshot, SnapshotSource } from '../store/snapshot.ts'
import { createResultFile } from './result-file.ts'

/** Which document pairs of two identity sets belong to the result, as bits. */
export const pairsOnSameSite = 1
export const pairsOnDifferentSites = 2
export const pairsOnAnySites = pairsOnSameSite | pairsOnDifferentSites

/** By what a request asks for. */
export const pairsOn = {
  any: pairsOnAnySites,
  same: pairsOnSameSite,
  different: pairsOnDifferentSites,
} as const

/**
 * Two identity sets of a snapshot, whose documents are pairs of the result: all with all, or those on one site, or those
 * on different sites. `a === b` for the pairs within one set.
 */
export type SetPair = {
  readonly a: number
  readonly b: number
  readonly bSimilarity: number
  readonly cSimilarity: number
  readonly sites: number
  /** Of an exact measure; null where it follows from the sketches. */
  readonly similarity: number | null
}

const schema = `
  -- Places are those of the snapshot: members of one set and one site are neighbours.
  CREATE TABLE identity_set (
    set_place INTEGER NOT NULL PRIMARY KEY,
    first_member INTEGER NOT NULL,
    members INTEGER NOT NULL,
    token_count INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE member (
    member INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    url TEXT,
    site TEXT,
    fetched_at TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  -- Members of a set on one site (null: those without).
  CREATE TABLE cell (
    first_member INTEGER NOT NULL PRIMARY KEY,
    set_place INTEGER NOT NULL,
    site TEXT,
    members INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE pair (
    pair INTEGER NOT NULL PRIMARY KEY,
    a INTEGER NOT NULL,
    b INTEGER NOT NULL,
    b_similarity INTEGER NOT NULL,
    c_similarity INTEGER NOT NULL,
    sites INTEGER NOT NULL, -- 1: document pairs on one site, 2: on different sites, 3: all
    similarity REAL, -- null: by the sketches
    same_site_pairs INTEGER NOT NULL, -- document pairs of the result on one site
    different_site_pairs INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE about (request TEXT NOT NULL) STRICT -- JSON`

/** Takes the pairs that a join finds, and makes them the result: the sink of every kind of join. */
export class JoinWriter {
  readonly #db: Database.Database
  readonly #source: SnapshotSource
  readonly #insertPair: Database.Statement<unknown[]>
  /** 1 for sets that are in a pair. */
  readonly #isUsed: Uint8Array
  #setPairs = 0
  #pairs = 0
  #sameSitePairs = 0
  #identicalPairs = 0

  constructor(file: string, mostBytes: number, source: SnapshotSource) {
    this.#db = createResultFile(file, mostBytes, schema)
    this.#source = source
    this.#isUsed = new Uint8Array(source.snapshot.sketches.count)
    this.#db.exec('BEGIN')
    this.#insertPair = this.#db.prepare('INSERT INTO pair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  }

  /** Each two sets once, in either order. Pairs of sets none of whose documents make a pair are left out. */
  add({ a, b, bSimilarity, cSimilarity, sites, similarity }: SetPair): void {
    const { same, different } = documentPairs(this.#source.snapshot, a, b)
    const onSame = sites & pairsOnSameSite ? same : 0
    const onDifferent = sites & pairsOnDifferentSites ? different : 0
    const count = onSame + onDifferent
    if (count === 0) return
    this.#insertPair.run(
      this.#setPairs,
      a,
      b,
      bSimilarity,
      cSimilarity,
      // What cannot be wrong needs no look at the sites when it is read.
      same === 0 || different === 0 ? pairsOnAnySites : sites,
      similarity,
      onSame,
      onDifferent,
    )
    this.#setPairs++
    this.#pairs += count
    this.#sameSitePairs += onSame
    if (a === b) this.#identicalPairs += count
    this.#isUsed[a] = 1
    this.#isUsed[b] = 1
  }

  /** Writes the documents of all pairs, and closes the file. `report` learns how many of all sets were looked at. */
  finish(request: unknown, report: (done: number, total: number) => void) {
    this.#writeMembers(report)
    const summary = {
      documents: this.#source.snapshot.documents,
      pairs: this.#pairs,
      sameSitePairs: this.#sameSitePairs,
      identicalPairs: this.#identicalPairs,
    }
    this.#db.exec('CREATE INDEX cell_of_site ON cell (set_place, site)')
    this.#db.prepare('INSERT INTO about VALUES (?)').run(JSON.stringify(request))
    this.#db.exec('COMMIT')
    this.#db.close()
    return summary
  }

  #writeMembers(report: (done: number, total: number) => void): void {
    const { firstMember, memberSites, memberNumbers, tokenCounts, sketches } = this.#source.snapshot
    const insertSet = this.#db.prepare('INSERT INTO identity_set VALUES (?, ?, ?, ?)')
    const insertCell = this.#db.prepare('INSERT INTO cell VALUES (?, ?, ?, ?)')
    const insertMember = this.#db.prepare('INSERT INTO member VALUES (?, ?, ?, ?, ?, ?)')
    for (let set = 0; set < sketches.count; set++) {
      if (set % 4096 === 0) report(set, sketches.count)
      if (this.#isUsed[set] === 0) continue
      const first = firstMember[set] as number
      const end = firstMember[set + 1] as number
      insertSet.run(set, first, end - first, tokenCounts[set])
      for (let member = first; member < end; ) {
        const cellEnd = endOfCell(memberSites, member, end)
        let site: string | null = null
        for (let place = member; place < cellEnd; place++) {
          const document = this.#source.document(memberNumbers[place] as number)
          insertMember.run(
            place,
            document.id,
            document.url,
            document.site,
            document.fetchedAt,
            document.createdAt,
          )
          site = document.site
        }
        insertCell.run(member, set, site, cellEnd - member)
        member = cellEnd
      }
    }
  }
}

/** The end of the members, from the given one up to `end`, that are on its site. */
const endOfCell = (memberSites: Uint32Array, member: number, end: number): number => {
  let next = member + 1
  while (next < end && memberSites[next] === memberSites[member]) next++
  return next
}

/** How many pairs of documents two sets make, or one set in itself, on the same site and on different ones. */
const documentPairs = (
  { firstMember, memberSites }: Snapshot,
  a: number,
  b: number,
): { same: number; different: number } => {
  const endA = firstMember[a + 1] as number
  const endB = firstMember[b + 1] as number
  let i = firstMember[a] as number
  let j = firstMember[b] as number
  const [sizeA, sizeB] = [endA - i, endB - j]
  let same = 0
  if (a === b) {
    while (i < endA) {
      const cellEnd = endOfCell(memberSites, i, endA)
      if (memberSites[i] !== 0) same += ((cellEnd - i) * (cellEnd - i - 1)) / 2
      i = cellEnd
    }
    return { same, different: (sizeA * (sizeA - 1)) / 2 - same }
  }
  while (i < endA && j < endB) {
    const siteA = memberSites[i] as number
    const siteB = memberSites[j] as number
    const cellEndA = siteA <= siteB ? endOfCell(memberSites, i, endA) : i
    const cellEndB = siteB <= siteA ? endOfCell(memberSites, j, endB) : j
    if (siteA === siteB && siteA !== 0) same += (cellEndA - i) * (cellEndB - j)
    i = cellEndA
    j = cellEndB
  }
  return { same, different: sizeA * sizeB - same }
}
