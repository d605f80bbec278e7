import type { ClustersRequest, ClustersSummary } from '../service/job-service.ts'
import { publishFile } from '../store/publish-file.ts'
import { type CanonicalTraits, canonicalOrder } from './canonical.ts'
import { ClusterWriter } from './cluster-writer.ts'
import { Edges } from './edges.ts'
import { JoinReader } from './join-reader.ts'
import { pairsOnAnySites } from './join-writer.ts'
import { type Cell, SetPairGraph } from './set-pair-graph.ts'

/** Share of the progress that is made when the pairs are read. */
const pairsShare = 0.4

type Document = CanonicalTraits & {
  readonly member: number
  readonly site: string | null
  readonly cell: Cell
}

/**
 * Pairs of a join -> clusters -> result file, which has its name only when it is whole. The documents of one component
 * are in memory at a time. `report` is called with a share of 1.
 */
export const runClusters = (
  request: ClustersRequest,
  parts: {
    readonly joinFile: string | null
    readonly resultFile: string
    readonly mostBytes: number
    readonly report: (share: number) => void
  },
): ClustersSummary => {
  if (parts.joinFile === null) throw new Error('Clusters need the file of a join')
  const begun = `${parts.resultFile}-begun`
  const reader = new JoinReader(parts.joinFile)
  const graph = new SetPairGraph(reader, (done, total) => parts.report((pairsShare * done) / total))
  const writer = new ClusterWriter(begun, parts.mostBytes)
  const clusters = new Clusters(reader, graph, request)
  let done = 0
  for (const cells of cellsByComponent(graph)) {
    if (request.linkage === 'star') clusters.addStars(cells, writer)
    else clusters.addComponent(cells, writer)
    done += cells.length
    parts.report(pairsShare + ((1 - pairsShare) * done) / graph.cellCount)
  }
  reader.close()
  const summary = writer.finish()
  publishFile(begun, parts.resultFile)
  return summary
}

/** The cells of one component after the other. */
function* cellsByComponent(graph: SetPairGraph): Generator<readonly Cell[]> {
  const components = graph.components()
  const roots = Uint32Array.from({ length: graph.cellCount }, (_, cell) => components.rootOf(cell))
  const order = Uint32Array.from(roots.keys()).sort(
    (p, q) => (roots[p] as number) - (roots[q] as number) || p - q,
  )
  for (let from = 0; from < order.length; ) {
    const root = roots[order[from] as number]
    let to = from + 1
    while (to < order.length && roots[order[to] as number] === root) to++
    yield Array.from(order.subarray(from, to), (cell) => graph.cell(cell))
    from = to
  }
}

class Clusters {
  readonly #reader: JoinReader
  readonly #graph: SetPairGraph
  readonly #order: (a: CanonicalTraits, b: CanonicalTraits) => number

  constructor(reader: JoinReader, graph: SetPairGraph, { policy }: ClustersRequest) {
    this.#reader = reader
    this.#graph = graph
    this.#order = canonicalOrder(policy)
  }

  /** All documents of the cells as one cluster. */
  addComponent(cells: readonly Cell[], writer: ClusterWriter): void {
    const edges = this.#edgesOf(cells)
    if (edges.isEmpty()) return // documents without a site, where pairs are to be on the same one
    const documents = this.#documentsOf(cells)
    const canonical = documents.reduce((best, one) => (this.#order(one, best) < 0 ? one : best))
    let near = 0
    for (const row of this.#graph.rowsOf(canonical.cell.set)) {
      const { same, different } = this.#graph.partnersOfOne(canonical.cell, this.#graph.row(row))
      near += same + different
    }
    writer.add({
      canonical: canonical.id,
      ids: documents.map(({ id }) => id),
      sites: sitesOf(documents),
      edges,
      notNearCanonical: documents.length - 1 - near,
    })
  }

  /**
   * The best document by the policy with all near-duplicates that it has, then the best one of those that are left, and so
   * on. What has no near-duplicate left is in no cluster.
   */
  addStars(cells: readonly Cell[], writer: ClusterWriter): void {
    const documents = this.#documentsOf(cells).sort(this.#order)
    const left = new Map<number, Map<number, Document>>()
    for (const document of documents) {
      const inCell = left.get(document.cell.cell) ?? new Map<number, Document>()
      left.set(document.cell.cell, inCell.set(document.member, document))
    }
    for (const canonical of documents) {
      if (!left.get(canonical.cell.cell)?.delete(canonical.member)) continue
      const members: Document[] = [canonical]
      const edges = new Edges()
      for (const number of this.#graph.rowsOf(canonical.cell.set)) {
        const row = this.#graph.row(number)
        for (const { cell, site } of this.#graph.partnerCells(canonical.cell, row)) {
          const partners = left.get(cell)
          if (partners === undefined || partners.size === 0) continue
          const isSameSite = site !== 0 && site === canonical.cell.site
          edges.add(this.#reader.similarityOf(row, isSameSite), partners.size)
          for (const partner of partners.values()) members.push(partner)
          partners.clear()
        }
      }
      if (members.length === 1) continue
      writer.add({
        canonical: canonical.id,
        ids: members.map(({ id }) => id),
        sites: sitesOf(members),
        edges,
        notNearCanonical: 0,
      })
    }
  }

  #documentsOf(cells: readonly Cell[]): Document[] {
    const documents: Document[] = []
    for (const cell of cells) {
      for (const { member, id, url, site, fetchedAt, createdAt } of this.#reader.membersBetween(
        cell.first,
        cell.first + cell.members,
      ))
        documents.push({
          member,
          id,
          url,
          site,
          cell,
          tokenCount: cell.tokenCount,
          fetchedAt: fetchedAt === null ? createdAt : Date.parse(fetchedAt),
        })
    }
    return documents
  }

  /** The pairs of a component, each counted from the first of its two sets. */
  #edgesOf(cells: readonly Cell[]): Edges {
    const edges = new Edges()
    let lastSet = -1
    for (const cell of cells) {
      for (const number of this.#graph.rowsOf(cell.set)) {
        const row = this.#graph.row(number)
        if (row.a !== cell.set) continue
        if (row.sites === pairsOnAnySites) {
          // All cells of the set are in this component.
          if (cell.set === lastSet) continue
          edges.add(this.#reader.similarityOf(row, true), row.sameSitePairs)
          edges.add(this.#reader.similarityOf(row, false), row.differentSitePairs)
          continue
        }
        const { same, different } = this.#graph.partnersOfOne(cell, row)
        // Within a set both documents of a pair count it.
        const share = row.a === row.b ? cell.members / 2 : cell.members
        edges.add(this.#reader.similarityOf(row, true), share * same)
        edges.add(this.#reader.similarityOf(row, false), share * different)
      }
      lastSet = cell.set
    }
    return edges
  }
}

const sitesOf = (documents: readonly Document[]): Set<string> =>
  new Set(documents.flatMap(({ site }) => (site === null ? [] : [site])))
