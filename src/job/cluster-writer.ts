import type Database from 'better-sqlite3'
import type { ClustersSummary } from '../service/job-service.ts'
import type { Edges } from './edges.ts'
import { createResultFile } from './result-file.ts'

const mostSitesShown = 100

const schema = `
  CREATE TABLE found (
    found INTEGER NOT NULL PRIMARY KEY,
    canonical TEXT NOT NULL,
    size INTEGER NOT NULL,
    sites TEXT NOT NULL, -- JSON, some of them
    site_count INTEGER NOT NULL,
    pairs INTEGER NOT NULL,
    least_similarity REAL NOT NULL,
    median_similarity REAL NOT NULL,
    not_near_canonical INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE member (
    found INTEGER NOT NULL,
    position INTEGER NOT NULL, -- 0: the canonical document, then by id
    id TEXT NOT NULL,
    PRIMARY KEY (found, position)
  ) STRICT, WITHOUT ROWID`

export type NewCluster = {
  readonly canonical: string
  /** All ids, that of the canonical document included, in any order. */
  readonly ids: readonly string[]
  readonly sites: ReadonlySet<string>
  readonly edges: Edges
  readonly notNearCanonical: number
}

/** Writes clusters to the file of a result. */
export class ClusterWriter {
  readonly #db: Database.Database
  readonly #insert: Database.Statement<unknown[]>
  readonly #insertMember: Database.Statement<unknown[]>
  #clusters = 0
  #documents = 0
  #largest = 0
  #chains = 0

  constructor(file: string, mostBytes: number) {
    this.#db = createResultFile(file, mostBytes, schema)
    this.#db.exec('BEGIN')
    this.#insert = this.#db.prepare('INSERT INTO found VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#insertMember = this.#db.prepare('INSERT INTO member VALUES (?, ?, ?)')
  }

  add({ canonical, ids, sites, edges, notNearCanonical }: NewCluster): void {
    const { pairs, least, median } = edges.summary()
    this.#insert.run(
      this.#clusters,
      canonical,
      ids.length,
      JSON.stringify([...sites].sort().slice(0, mostSitesShown)),
      sites.size,
      pairs,
      least,
      median,
      notNearCanonical,
    )
    const others = ids.filter((id) => id !== canonical).sort()
    for (const [position, id] of [canonical, ...others].entries())
      this.#insertMember.run(this.#clusters, position, id)
    this.#clusters++
    this.#documents += ids.length
    this.#largest = Math.max(this.#largest, ids.length)
    if (notNearCanonical > 0) this.#chains++
  }

  /** Numbers the clusters, largest first, and closes the file. */
  finish(): ClustersSummary {
    this.#db.exec(`
      CREATE TABLE cluster (cluster INTEGER NOT NULL PRIMARY KEY, found INTEGER NOT NULL) STRICT;
      INSERT INTO cluster SELECT row_number() OVER (ORDER BY size DESC, canonical) - 1, found FROM found;
      COMMIT`)
    this.#db.close()
    return {
      clusters: this.#clusters,
      documents: this.#documents,
      largest: this.#largest,
      chains: this.#chains,
    }
  }
}
