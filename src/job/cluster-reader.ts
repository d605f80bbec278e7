import Database from 'better-sqlite3'
import type { ClusterItem } from '../service/job-service.ts'

/** Members of one cluster that are shown, and of all clusters of a page. */
const mostMembersShown = 1000
const mostMembersInPage = 20_000

type Row = Omit<ClusterItem, 'members' | 'sites' | 'warning'> & {
  readonly sites: string
  readonly found: number
}

/** Reads the result of a job of the kind clusters. */
export class ClusterReader {
  readonly #db: Database.Database
  readonly #clusters: Database.Statement<[number, number], Row>
  readonly #members: Database.Statement<[number, number], string>

  constructor(file: string) {
    this.#db = new Database(file, { readonly: true, fileMustExist: true })
    this.#clusters = this.#db.prepare(`
      SELECT f.found, canonical, size, sites, site_count AS siteCount, pairs, least_similarity AS leastSimilarity,
        median_similarity AS medianSimilarity, not_near_canonical AS notNearCanonical
      FROM cluster c JOIN found f ON f.found = c.found
      WHERE c.cluster >= ? ORDER BY c.cluster LIMIT ?`)
    this.#members = this.#db
      .prepare<[number, number], string>('SELECT id FROM member WHERE found = ? ORDER BY position LIMIT ?')
      .pluck()
  }

  close(): void {
    this.#db.close()
  }

  /** Clusters from one on, at most `limit` and fewer where they are large, and where to go on (null at the end). */
  page(from: number, limit: number): { clusters: ClusterItem[]; next: number | null } {
    const clusters: ClusterItem[] = []
    const rows = this.#clusters.all(from, limit + 1)
    let members = 0
    for (const { found, sites, ...row } of rows) {
      if (clusters.length === limit || members > mostMembersInPage) break
      const ids = this.#members.all(found, mostMembersShown)
      members += ids.length
      clusters.push({
        ...row,
        members: ids,
        sites: JSON.parse(sites),
        warning: row.notNearCanonical > 0 ? 'chain' : null,
      })
    }
    return { clusters, next: clusters.length < rows.length ? from + clusters.length : null }
  }
}
