/*
 * UTF-8 validation by table look-up, sixteen bytes at a time.
 *
 * Source: Keiser and Lemire, Validating UTF-8 In Less Than One Instruction Per Byte, 2020.
 */

// What two neighbouring bytes can have wrong with each other, one bit each.
const TOO_SHORT: u8 = 0x01 // a lead byte without the continuation it needs
const TOO_LONG: u8 = 0x02 // a continuation after an ASCII byte
const OVERLONG_3: u8 = 0x04
const TOO_LARGE: u8 = 0x08
const SURROGATE: u8 = 0x10
const OVERLONG_2: u8 = 0x20
const TOO_LARGE_1000: u8 = 0x40
const OVERLONG_4: u8 = 0x40
const TWO_CONTINUATIONS: u8 = 0x80
/** Goes with every low half of the first byte. */
const CARRY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS

/** Whether [at, end) is valid UTF-8; the bytes behind it must be 0. */
export function isValidUtf8(at: usize, end: usize): bool {
  let previous = i8x16.splat(0)
  let errors = i8x16.splat(0)
  for (; at < end; at += 64) {
    const a = v128.load(at)
    const b = v128.load(at, 16)
    const c = v128.load(at, 32)
    const d = v128.load(at, 48)
    if (i8x16.bitmask(v128.or(v128.or(a, b), v128.or(c, d))) == 0) {
      // What came before must not have ended within a sequence.
      errors = v128.or(errors, endsWithin(previous))
    } else {
      errors = v128.or(errors, errorsIn(a, previous))
      errors = v128.or(errors, errorsIn(b, a))
      errors = v128.or(errors, errorsIn(c, b))
      errors = v128.or(errors, errorsIn(d, c))
    }
    previous = d
  }
  return !v128.any_true(v128.or(errors, endsWithin(previous)))
}

/** Non-zero where the last three bytes of a block begin a sequence that is longer than they are. */
@inline
function endsWithin(block: v128): v128 {
  const most = i8x16(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, <i8>(0xf0 - 1), <i8>(0xe0 - 1), <i8>(0xc0 - 1))
  return i8x16.sub_sat_u(block, most)
}

function errorsIn(block: v128, previous: v128): v128 {
  // before1 holds for each byte the one before it, and so on.
  const before1 = i8x16.shuffle(previous, block, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)
  const before2 = i8x16.shuffle(previous, block, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29)
  const before3 = i8x16.shuffle(previous, block, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)
  const pairs = v128.and(
    v128.and(byFirstHigh(highHalf(before1)), byFirstLow(lowHalf(before1))),
    bySecondHigh(highHalf(block)),
  )
  const thirdOrFourth = v128.or(
    i8x16.sub_sat_u(before2, i8x16.splat(<i8>(0xe0 - 0x80))),
    i8x16.sub_sat_u(before3, i8x16.splat(<i8>(0xf0 - 0x80))),
  )
  // Exactly where a third or fourth byte is due must two continuations follow each other.
  return v128.xor(v128.and(thirdOrFourth, i8x16.splat(<i8>0x80)), pairs)
}

@inline
function highHalf(block: v128): v128 {
  return v128.and(i16x8.shr_u(block, 4), i8x16.splat(0x0f))
}

@inline
function lowHalf(block: v128): v128 {
  return v128.and(block, i8x16.splat(0x0f))
}

@inline
function byFirstHigh(half: v128): v128 {
  const table = i8x16(
    <i8>TOO_LONG, <i8>TOO_LONG, <i8>TOO_LONG, <i8>TOO_LONG, <i8>TOO_LONG, <i8>TOO_LONG, <i8>TOO_LONG, <i8>TOO_LONG,
    <i8>TWO_CONTINUATIONS, <i8>TWO_CONTINUATIONS, <i8>TWO_CONTINUATIONS, <i8>TWO_CONTINUATIONS,
    <i8>(TOO_SHORT | OVERLONG_2), <i8>TOO_SHORT,
    <i8>(TOO_SHORT | OVERLONG_3 | SURROGATE), <i8>(TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4),
  )
  return i8x16.swizzle(table, half)
}

@inline
function byFirstLow(half: v128): v128 {
  const large = <i8>(CARRY | TOO_LARGE | TOO_LARGE_1000)
  const table = i8x16(
    <i8>(CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4), <i8>(CARRY | OVERLONG_2), <i8>CARRY, <i8>CARRY,
    <i8>(CARRY | TOO_LARGE), large, large, large, large, large, large, large, large,
    <i8>(CARRY | TOO_LARGE | TOO_LARGE_1000 | SURROGATE), large, large,
  )
  return i8x16.swizzle(table, half)
}

@inline
function bySecondHigh(half: v128): v128 {
  const short = <i8>TOO_SHORT
  const continuation = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS
  const table = i8x16(
    short, short, short, short, short, short, short, short,
    <i8>(continuation | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4), <i8>(continuation | OVERLONG_3 | TOO_LARGE),
    <i8>(continuation | SURROGATE | TOO_LARGE), <i8>(continuation | SURROGATE | TOO_LARGE),
    short, short, short, short,
  )
  return i8x16.swizzle(table, half)
}
