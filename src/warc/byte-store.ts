/**
 * Where the bytes of one record are gathered. Whoever reads an archive hands in how one is made, so that the
 * memory of all of them counts against one limit; `append` throws where there is none left.
 */
export interface ByteStore {
  readonly length: number
  append(part: Uint8Array): void
  /** The bytes so far, valid until the next call of another method. */
  view(): Buffer
  /** Gives the memory back. */
  clear(): void
}

/** The largest record that is read, both as it is stored and decoded, and how its bytes are kept. */
export type RecordLimits = {
  readonly limitBytes: number
  readonly createStore: () => ByteStore
}
