/*
 * XXH64. Equals src/signature/xxhash.ts.
 */

const PRIME_1: u64 = 0x9e3779b185ebca87
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f
const PRIME_3: u64 = 0x165667b19e3779f9
const PRIME_4: u64 = 0x85ebca77c2b2ae63
const PRIME_5: u64 = 0x27d4eb2f165667c5

/** XXH64 of `length` bytes. */
export function xxh64(at: usize, length: usize, seed: u64): u64 {
  const end = at + length
  let hash = seed + PRIME_5
  if (length >= 32) {
    let a = seed + PRIME_1 + PRIME_2
    let b = seed + PRIME_2
    let c = seed
    let d = seed - PRIME_1
    for (; at + 32 <= end; at += 32) {
      a = round(a, load<u64>(at))
      b = round(b, load<u64>(at, 8))
      c = round(c, load<u64>(at, 16))
      d = round(d, load<u64>(at, 24))
    }
    hash = mergeLanes(a, b, c, d)
  }
  return finish(hash + <u64>length, at, end)
}

/** XXH64 of the tokens, each as 8 bytes, little-endian: `hashTokens` of src/signature/fingerprint.ts. */
export function xxh64Tokens(low: usize, high: usize, count: i32, seed: u64): u64 {
  const end = low + ((<usize>count) << 2)
  let hash = seed + PRIME_5
  if (count >= 4) {
    let a = seed + PRIME_1 + PRIME_2
    let b = seed + PRIME_2
    let c = seed
    let d = seed - PRIME_1
    for (; low + 16 <= end; low += 16, high += 16) {
      a = round(a, tokenAt(low, high))
      b = round(b, tokenAt(low + 4, high + 4))
      c = round(c, tokenAt(low + 8, high + 8))
      d = round(d, tokenAt(low + 12, high + 12))
    }
    hash = mergeLanes(a, b, c, d)
  }
  hash += (<u64>count) << 3
  for (; low < end; low += 4, high += 4) hash = take8(hash, tokenAt(low, high))
  return avalanche(hash)
}

/**
 * XXH64 of a short text under seed 0. Lengths change from term to term, so a branch on them would be guessed wrong
 * half the time: below 8 bytes all steps are computed, and those the length does not call for are passed over by mask.
 * Reads up to 8 bytes past the end.
 */
export function xxh64Short(at: usize, length: usize): u64 {
  let hash = PRIME_5 + <u64>length
  let rest = length
  while (rest >= 8) {
    hash = take8(hash, load<u64>(at))
    at += 8
    rest -= 8
  }
  const bytes = load<u64>(at)
  const isFour = (rest & 4) != 0
  hash = keepIf(isFour, take4(hash, bytes & 0xffffffff), hash)
  const tail = <u32>keepIf(isFour, bytes >> 32, bytes)
  const left = rest & 3
  hash = keepIf(left > 0, take1(hash, <u64>(tail & 0xff)), hash)
  hash = keepIf(left > 1, take1(hash, <u64>((tail >> 8) & 0xff)), hash)
  hash = keepIf(left > 2, take1(hash, <u64>((tail >> 16) & 0xff)), hash)
  return avalanche(hash)
}

/** `yes` where the condition is 1, `no` where it is 0. */
@inline
function keepIf(condition: bool, yes: u64, no: u64): u64 {
  return select(yes, no, condition)
}

function finish(hash: u64, at: usize, end: usize): u64 {
  for (; at + 8 <= end; at += 8) hash = take8(hash, load<u64>(at))
  if (at + 4 <= end) {
    hash = take4(hash, load<u32>(at))
    at += 4
  }
  for (; at < end; at++) hash = take1(hash, load<u8>(at))
  return avalanche(hash)
}

@inline
function tokenAt(low: usize, high: usize): u64 {
  return <u64>load<u32>(low) | (<u64>load<u32>(high) << 32)
}

@inline
function round(lane: u64, input: u64): u64 {
  return rotl(lane + input * PRIME_2, 31) * PRIME_1
}

@inline
function mergeLanes(a: u64, b: u64, c: u64, d: u64): u64 {
  let hash = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18)
  hash = mergeLane(hash, a)
  hash = mergeLane(hash, b)
  hash = mergeLane(hash, c)
  return mergeLane(hash, d)
}

@inline
function mergeLane(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * PRIME_1 + PRIME_4
}

@inline
function take8(hash: u64, input: u64): u64 {
  return rotl(hash ^ round(0, input), 27) * PRIME_1 + PRIME_4
}

@inline
function take4(hash: u64, input: u64): u64 {
  return rotl(hash ^ (input * PRIME_1), 23) * PRIME_2 + PRIME_3
}

@inline
function take1(hash: u64, input: u64): u64 {
  return rotl(hash ^ (input * PRIME_5), 11) * PRIME_1
}

@inline
function avalanche(hash: u64): u64 {
  hash = (hash ^ (hash >> 33)) * PRIME_2
  hash = (hash ^ (hash >> 29)) * PRIME_3
  return hash ^ (hash >> 32)
}
