import type { SketchTable } from '../detect/sketch-join.ts'

/**
 * The identity sets that have a signature and their members at one moment, in typed arrays: about 120 bytes a
 * set and 12 bytes a member. Sets are known by their place in the order of their numbers; members by their place in
 * the order of set, site and number, so that members of one set and one site are neighbours.
 */
export type Snapshot = {
  /** Documents stored at that moment, those without tokens included. */
  readonly documents: number
  readonly sketches: SketchTable
  readonly tokenCounts: Uint32Array
  /** Members of set i are those from `firstMember[i]` to, not including, `firstMember[i + 1]`. */
  readonly firstMember: Uint32Array
  /** Site of each member: equal numbers for equal sites, and 0 for none. */
  readonly memberSites: Uint32Array
  /** Document number of each member. */
  readonly memberNumbers: Float64Array
}

/** What is not kept in memory of a document. Times are milliseconds since 1970. */
export type SnapshotDocument = {
  readonly id: string
  readonly url: string | null
  readonly site: string | null
  readonly fetchedAt: string | null
  readonly createdAt: number
}

/** Where a snapshot has what is too much for memory. Lookups are synchronous: the thread of a job has nobody to wait for it. */
export interface SnapshotSource {
  readonly snapshot: Snapshot
  /** The document as it was at the moment of the snapshot. */
  document(number: number): SnapshotDocument
  /** The kept text of a document by its number, in UTF-8; null where none is kept, or the document was replaced or deleted since. */
  text(number: number): Uint8Array | null
  close(): void
}
