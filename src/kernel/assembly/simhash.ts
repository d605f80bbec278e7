/*
 * The 384-bit simhash. Equals src/signature/simhash.ts.
 */
import { PLANES, SIMHASH, SIMHASH_MASKS, SIMHASH_MULTIPLIERS } from './layout'
import { mix32x4, writeKeys } from './mix'

const WORDS: i32 = 12
const PLANE_BYTES: usize = 16
const MAX_PLANES: usize = 32

export function initializeSimhash(): void {
  writeKeys(SIMHASH_MULTIPLIERS, WORDS, 0x73696d61, 1)
  writeKeys(SIMHASH_MASKS, WORDS, 0x73696d62, 0)
}

export function writeSimhash(low: usize, high: usize, count: i32): void {
  for (let group: usize = 0; group < 48; group += 16) {
    const multiplier = v128.load(SIMHASH_MULTIPLIERS + group)
    const mask = v128.load(SIMHASH_MASKS + group)
    memory.fill(PLANES, 0, MAX_PLANES * PLANE_BYTES)
    addUp(low, high, count, multiplier, mask)
    v128.store(SIMHASH + group, bigEndian(columnsAbove(count)))
  }
}

/** 128 of the coordinates of the token at `low` and `high`: four words of 32. */
@inline
function project(low: usize, high: usize, multiplier: v128, mask: v128): v128 {
  const product = i32x4.mul(v128.load_splat<u32>(low), multiplier)
  return mix32x4(v128.xor(v128.xor(product, v128.load_splat<u32>(high)), mask))
}

/** Of three bits of one weight, the bit of that weight in their sum … */
@inline
function sumOf(a: v128, b: v128, c: v128): v128 {
  return v128.xor(v128.xor(a, b), c)
}

/** … and the bit of twice the weight. */
@inline
function carryOf(a: v128, b: v128, c: v128): v128 {
  return v128.or(v128.and(a, b), v128.and(v128.xor(a, b), c))
}

/**
 * Adds the coordinates of all tokens up, column by column, into bit planes: plane p holds bit p of each sum. Eight
 * tokens go through seven carry-save adders; only the carry of weight eight goes on into the planes above:
 *
 *     ones  + x0 + x1 -> ones, a      twos + a + b -> twos, e      fours + e + f -> fours, eights
 *     ones  + x2 + x3 -> ones, b      twos + c + d -> twos, f
 *     ones  + x4 + x5 -> ones, c
 *     ones  + x6 + x7 -> ones, d
 */
function addUp(low: usize, high: usize, count: i32, multiplier: v128, mask: v128): void {
  let ones = i32x4.splat(0)
  let twos = i32x4.splat(0)
  let fours = i32x4.splat(0)
  const end = low + ((<usize>count) << 2)
  for (; low + 32 <= end; low += 32, high += 32) {
    let x = project(low, high, multiplier, mask)
    let y = project(low + 4, high + 4, multiplier, mask)
    const a = carryOf(x, y, ones)
    ones = sumOf(x, y, ones)
    x = project(low + 8, high + 8, multiplier, mask)
    y = project(low + 12, high + 12, multiplier, mask)
    const b = carryOf(x, y, ones)
    ones = sumOf(x, y, ones)
    const e = carryOf(a, b, twos)
    twos = sumOf(a, b, twos)
    x = project(low + 16, high + 16, multiplier, mask)
    y = project(low + 20, high + 20, multiplier, mask)
    const c = carryOf(x, y, ones)
    ones = sumOf(x, y, ones)
    x = project(low + 24, high + 24, multiplier, mask)
    y = project(low + 28, high + 28, multiplier, mask)
    const d = carryOf(x, y, ones)
    ones = sumOf(x, y, ones)
    const f = carryOf(c, d, twos)
    twos = sumOf(c, d, twos)
    addToPlanes(PLANES + 3 * PLANE_BYTES, carryOf(e, f, fours))
    fours = sumOf(e, f, fours)
  }
  v128.store(PLANES, ones)
  v128.store(PLANES + PLANE_BYTES, twos)
  v128.store(PLANES + 2 * PLANE_BYTES, fours)
  for (; low < end; low += 4, high += 4) addToPlanes(PLANES, project(low, high, multiplier, mask))
}

/** Adds a bit to each column, from `plane` upwards until nothing is carried. */
function addToPlanes(plane: usize, carry: v128): void {
  while (v128.any_true(carry)) {
    const bits = v128.load(plane)
    v128.store(plane, v128.xor(bits, carry))
    carry = v128.and(bits, carry)
    plane += PLANE_BYTES
  }
}

/** A 1 in each column whose sum is greater than half of `count`, compared plane by plane from the top. */
function columnsAbove(count: i32): v128 {
  const bound = count >> 1
  let above = i32x4.splat(0)
  let equal = i32x4.splat(-1)
  for (let p = 31 - clz(count); p >= 0; p--) {
    const plane = v128.load(PLANES + <usize>p * PLANE_BYTES)
    const boundBits = i32x4.splat(-((bound >> p) & 1))
    above = v128.or(above, v128.and(equal, v128.andnot(plane, boundBits)))
    equal = v128.andnot(equal, v128.xor(plane, boundBits))
  }
  return above
}

/** Each of the four words with its most significant byte first. */
@inline
function bigEndian(words: v128): v128 {
  return i8x16.shuffle(words, words, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
}
