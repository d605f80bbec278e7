/*
 * The 84 minvalues. Equals src/signature/minvalue.ts.
 */
import { MINVALUE_MULTIPLIERS, MINVALUES, SHINGLE_HIGH, SHINGLE_LOW } from './layout'
import { writeKeys } from './mix'

const MINVALUES_COUNT: i32 = 84

export function initializeMinvalues(): void {
  writeKeys(MINVALUE_MULTIPLIERS, MINVALUES_COUNT, 0x6d696e76, 1)
}

export function resetMinvalues(): void {
  memory.fill(MINVALUES, 0xff, 4 * MINVALUES_COUNT)
}

/** Takes in the first `count` shingles of the block. */
export function addToMinvalues(count: i32): void {
  minimize28(0, count)
  minimize28(112, count)
  minimize28(224, count)
}

/** 28 minima, which begin `offset` bytes from the first, stay in seven registers; lane i of register r is 4 r + i. */
function minimize28(offset: usize, count: i32): void {
  const multipliers = MINVALUE_MULTIPLIERS + offset
  const minima = MINVALUES + offset
  const a0 = v128.load(multipliers)
  const a1 = v128.load(multipliers, 16)
  const a2 = v128.load(multipliers, 32)
  const a3 = v128.load(multipliers, 48)
  const a4 = v128.load(multipliers, 64)
  const a5 = v128.load(multipliers, 80)
  const a6 = v128.load(multipliers, 96)
  let m0 = v128.load(minima)
  let m1 = v128.load(minima, 16)
  let m2 = v128.load(minima, 32)
  let m3 = v128.load(minima, 48)
  let m4 = v128.load(minima, 64)
  let m5 = v128.load(minima, 80)
  let m6 = v128.load(minima, 96)
  const end = (<usize>count) << 2
  for (let at: usize = 0; at < end; at += 4) {
    const x = v128.load_splat<u32>(SHINGLE_LOW + at)
    const y = v128.load_splat<u32>(SHINGLE_HIGH + at)
    m0 = i32x4.min_u(m0, v128.xor(i32x4.mul(x, a0), y))
    m1 = i32x4.min_u(m1, v128.xor(i32x4.mul(x, a1), y))
    m2 = i32x4.min_u(m2, v128.xor(i32x4.mul(x, a2), y))
    m3 = i32x4.min_u(m3, v128.xor(i32x4.mul(x, a3), y))
    m4 = i32x4.min_u(m4, v128.xor(i32x4.mul(x, a4), y))
    m5 = i32x4.min_u(m5, v128.xor(i32x4.mul(x, a5), y))
    m6 = i32x4.min_u(m6, v128.xor(i32x4.mul(x, a6), y))
  }
  v128.store(minima, m0)
  v128.store(minima, m1, 16)
  v128.store(minima, m2, 32)
  v128.store(minima, m3, 48)
  v128.store(minima, m4, 64)
  v128.store(minima, m5, 80)
  v128.store(minima, m6, 96)
}
