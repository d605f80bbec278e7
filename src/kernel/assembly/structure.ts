/*
 * Where the bytes are that markup is made of: a list of the positions of all '<', '>', '=' and quotation marks.
 *
 * To look for each of them when it is due would be a chain of searches, each of which starts where the one before it
 * ended and has to wait for it. Of the list, the processor reads ahead.
 */
import { allBytes } from './bytes'
import { STRUCTURAL } from './layout'

/** Writes the list of [at, end), each position as u32, and `end` behind them; `4 * (end - at)` bytes and PADDING. */
export function writeStructure(at: usize, end: usize, to: usize): void {
  for (; at < end; at += 64) {
    let bits = structuralIn(at) | (structuralIn(at + 16) << 16) | (structuralIn(at + 32) << 32) | (structuralIn(at + 48) << 48)
    let next = to
    to += <usize>popcnt(bits) << 2
    // Eight at a time, since hardly a block has more; what is written too much is overwritten by the next ones.
    while (true) {
      store<u32>(next, <u32>(at + <usize>ctz(bits)))
      bits &= bits - 1
      store<u32>(next, <u32>(at + <usize>ctz(bits)), 4)
      bits &= bits - 1
      store<u32>(next, <u32>(at + <usize>ctz(bits)), 8)
      bits &= bits - 1
      store<u32>(next, <u32>(at + <usize>ctz(bits)), 12)
      bits &= bits - 1
      store<u32>(next, <u32>(at + <usize>ctz(bits)), 16)
      bits &= bits - 1
      store<u32>(next, <u32>(at + <usize>ctz(bits)), 20)
      bits &= bits - 1
      store<u32>(next, <u32>(at + <usize>ctz(bits)), 24)
      bits &= bits - 1
      store<u32>(next, <u32>(at + <usize>ctz(bits)), 28)
      bits &= bits - 1
      if (bits == 0) break
      next += 32
    }
  }
  store<u32>(to, <u32>end)
}

/** As in `whiteSpaceIn`, the low four bits tell which one it can be. */
@inline
function structuralIn(at: usize): u64 {
  const block = v128.load(at)
  return <u64>i8x16.bitmask(i8x16.eq(block, i8x16.swizzle(v128.load(STRUCTURAL), v128.and(block, allBytes(0x0f)))))
}
