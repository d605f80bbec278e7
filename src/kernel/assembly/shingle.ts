/*
 * Shingle fingerprints. Equals src/signature/shingle.ts with k = 8.
 */
import { SHINGLE_HIGH, SHINGLE_LOW } from './layout'
import { mix32, mix32x4, rotateLeft4 } from './mix'

/** Tokens in a shingle. */
export const K: i32 = 8

const SEED_A: u32 = 0x73686c6f
const SEED_B: u32 = 0x73686869
const STEP_A: u32 = 0x9e3779b1
const STEP_B: u32 = 0x85ebca77

/**
 * Writes `count` shingles of K tokens each, the first one beginning with the token at `low` and `high`. Four
 * neighbouring windows at a time:
 *
 *     lane            0    1    2    3
 *     step 0 takes   t0   t1   t2   t3
 *     step 1 takes   t1   t2   t3   t4    …
 *
 * Up to three more are written, made from what lies behind the tokens.
 */
export function writeShingles(low: usize, high: usize, count: i32): void {
  const startA = i32x4.splat(mix32(SEED_A + K))
  const startB = i32x4.splat(mix32(SEED_B + K))
  const end = (<usize>count) << 2
  for (let at: usize = 0; at < end; at += 16) {
    let a = startA
    let b = startB
    for (let j: usize = 0; j < 4 * K; j += 4) {
      a = i32x4.mul(v128.xor(rotateLeft4(a, 13), v128.load(low + at + j)), i32x4.splat(STEP_A))
      b = i32x4.mul(v128.xor(rotateLeft4(b, 17), v128.load(high + at + j)), i32x4.splat(STEP_B))
    }
    a = v128.xor(a, mix32x4(v128.xor(b, i32x4.splat(0x243f6a88))))
    b = v128.xor(b, mix32x4(v128.xor(a, i32x4.splat(0x85a308d3))))
    a = v128.xor(a, mix32x4(v128.xor(b, i32x4.splat(0x13198a2e))))
    v128.store(SHINGLE_LOW + at, a)
    v128.store(SHINGLE_HIGH + at, b)
  }
}

/** Writes the one shingle of a page with fewer than K tokens. */
export function writeShortShingle(low: usize, high: usize, size: i32): void {
  let a = mix32(SEED_A + size)
  let b = mix32(SEED_B + size)
  for (let j = 0; j < size; j++) {
    a = (rotl(a, 13) ^ load<u32>(low + (<usize>j << 2))) * STEP_A
    b = (rotl(b, 17) ^ load<u32>(high + (<usize>j << 2))) * STEP_B
  }
  a ^= mix32(b ^ 0x243f6a88)
  b ^= mix32(a ^ 0x85a308d3)
  a ^= mix32(b ^ 0x13198a2e)
  store<u32>(SHINGLE_LOW, a)
  store<u32>(SHINGLE_HIGH, b)
}
