/*
 * SipHash-1-3. Equals src/signature/siphash.ts.
 */

let key0: u64 = 0
let key1: u64 = 0

export function setKey(first: u64, second: u64): void {
  key0 = first
  key1 = second
}

let v0: u64 = 0
let v1: u64 = 0
let v2: u64 = 0
let v3: u64 = 0

/** SipHash-1-3 of `length` bytes. Reads up to 8 bytes past the end. */
export function sipHash(at: usize, length: usize): u64 {
  v0 = key0 ^ 0x736f6d6570736575
  v1 = key1 ^ 0x646f72616e646f6d
  v2 = key0 ^ 0x6c7967656e657261
  v3 = key1 ^ 0x7465646279746573
  const end = at + (length & ~7)
  for (; at < end; at += 8) compress(load<u64>(at))
  const left = <u64>length & 7
  const tail = left == 0 ? 0 : load<u64>(at) & (<u64>-1 >> (64 - (left << 3)))
  compress(tail | (<u64>length << 56))
  v2 ^= 0xff
  round()
  round()
  round()
  return v0 ^ v1 ^ v2 ^ v3
}

@inline
function compress(word: u64): void {
  v3 ^= word
  round()
  v0 ^= word
}

@inline
function round(): void {
  v0 += v1
  v1 = rotl(v1, 13) ^ v0
  v0 = rotl(v0, 32)
  v2 += v3
  v3 = rotl(v3, 16) ^ v2
  v0 += v3
  v3 = rotl(v3, 21) ^ v0
  v2 += v1
  v1 = rotl(v1, 17) ^ v2
  v2 = rotl(v2, 32)
}
