/*
 * The 32-bit building blocks. Equals src/signature/mix.ts.
 */

export function mix32(x: u32): u32 {
  x = (x ^ (x >> 16)) * 0x85ebca6b
  x = (x ^ (x >> 13)) * 0xc2b2ae35
  return x ^ (x >> 16)
}

/** `mix32` of four at once. */
@inline
export function mix32x4(x: v128): v128 {
  x = i32x4.mul(v128.xor(x, i32x4.shr_u(x, 16)), i32x4.splat(0x85ebca6b))
  x = i32x4.mul(v128.xor(x, i32x4.shr_u(x, 13)), i32x4.splat(0xc2b2ae35))
  return v128.xor(x, i32x4.shr_u(x, 16))
}

@inline
export function rotateLeft4(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits))
}

/** Writes `count` keys of a seed, each or-ed with `bits`. */
export function writeKeys(to: usize, count: i32, seed: u32, bits: u32): void {
  for (let i = 0; i < count; i++) store<u32>(to + (<usize>i << 2), mix32(seed + <u32>(i + 1) * 0x9e3779b9) | bits)
}
