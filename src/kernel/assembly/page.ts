/*
 * A page in memory. Texts lie one behind the other, each with PADDING:
 *
 *     PAGE  escaped page (JSON form only) | page | page text | folded page text | low tokens | high tokens
 *
 * A text that stands alone begins with the page text. All memory is reserved here.
 */
import { PADDING, PAGE } from './layout'

const MEMORY_PAGE: usize = 0x10000

/** The most that the module may have, by tools/kernel.ts. */
const MAX_MEMORY: usize = 0x40000000

/** Where the next text may begin. */
export let free: usize = PAGE

export function clear(): void {
  free = PAGE
}

/** Room for `length` bytes and PADDING; the address is a multiple of 16. A trap where memory cannot grow so far. */
export function reserve(length: usize): usize {
  if (length > MAX_MEMORY) unreachable()
  const at = free
  free = (at + length + PADDING + 15) & ~15
  const size = <usize>memory.size() * MEMORY_PAGE
  if (free > size && memory.grow(<i32>((free - size + MEMORY_PAGE - 1) / MEMORY_PAGE)) < 0) unreachable()
  return at
}

/** Gives back what was reserved from `at` on. */
export function release(at: usize): void {
  free = at
}

/** Zeros behind a text. */
export function pad(end: usize): void {
  memory.fill(end, 0, PADDING)
}
