/** 128 bits as four words of 32, the least significant first. */
export type HashKey = Uint32Array

/** v0 to v3, each as its low and its high half. */
type State = Int32Array

const V0 = 0
const V1 = 2
const V2 = 4
const V3 = 6

/**
 * SipHash-1-3 of the bytes under a key: the low and the high half of the 64-bit result. Linear in the number of bytes.
 *
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012); with one and three rounds, as languages
 * take it for their hash tables.
 */
export const sipHash = (bytes: Uint8Array, key: HashKey): { readonly low: number; readonly high: number } => {
  const [k0, k1, k2, k3] = key as unknown as readonly [number, number, number, number]
  const state = Int32Array.of(
    ...[k0 ^ 0x70736575, k1 ^ 0x736f6d65, k2 ^ 0x6e646f6d, k3 ^ 0x646f7261],
    ...[k0 ^ 0x6e657261, k1 ^ 0x6c796765, k2 ^ 0x79746573, k3 ^ 0x74656462],
  )
  const { length } = bytes
  const wholeWords = length - (length % 8)
  for (let at = 0; at < wholeWords; at += 8) compress(state, wordAt(bytes, at), wordAt(bytes, at + 4))
  compress(state, wordAt(bytes, wholeWords), wordAt(bytes, wholeWords + 4) | (length << 24))
  state[V2] = (state[V2] as number) ^ 0xff
  for (let i = 0; i < 3; i++) round(state)
  const [low0, high0, low1, high1, low2, high2, low3, high3] = state as unknown as readonly number[]
  return {
    low: ((low0 as number) ^ (low1 as number) ^ (low2 as number) ^ (low3 as number)) >>> 0,
    high: ((high0 as number) ^ (high1 as number) ^ (high2 as number) ^ (high3 as number)) >>> 0,
  }
}

/** Four bytes, little-endian; 0 for those behind the end. */
const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)

const compress = (state: State, low: number, high: number): void => {
  state[V3] = (state[V3] as number) ^ low
  state[V3 + 1] = (state[V3 + 1] as number) ^ high
  round(state)
  state[V0] = (state[V0] as number) ^ low
  state[V0 + 1] = (state[V0 + 1] as number) ^ high
}

const round = (state: State): void => {
  addTo(state, V0, V1)
  mixInto(state, V1, 13, V0)
  swapHalves(state, V0)
  addTo(state, V2, V3)
  mixInto(state, V3, 16, V2)
  addTo(state, V0, V3)
  mixInto(state, V3, 21, V0)
  addTo(state, V2, V1)
  mixInto(state, V1, 17, V2)
  swapHalves(state, V2)
}

const addTo = (state: State, to: number, from: number): void => {
  const low = ((state[to] as number) >>> 0) + ((state[from] as number) >>> 0)
  state[to] = low
  state[to + 1] = (state[to + 1] as number) + (state[from + 1] as number) + (low > 0xffffffff ? 1 : 0)
}

/** Rotates one to the left, and takes the exclusive-or with another. */
const mixInto = (state: State, to: number, bits: number, from: number): void => {
  const low = state[to] as number
  const high = state[to + 1] as number
  state[to] = ((low << bits) | (high >>> (32 - bits))) ^ (state[from] as number)
  state[to + 1] = ((high << bits) | (low >>> (32 - bits))) ^ (state[from + 1] as number)
}

const swapHalves = (state: State, at: number): void => {
  const low = state[at] as number
  state[at] = state[at + 1] as number
  state[at + 1] = low
}
