/** Bounds on the work for one pair, so that no pair of pages can hold up the others. */
export type DifferenceLimits = {
  /** Longest edit script that is looked for. */
  readonly mostEdits?: number
  /** Most comparisons of tokens and visits to diagonals. */
  readonly mostSteps?: number
}

const defaultMostEdits = 5000
const defaultMostSteps = 25_000_000

/** Adjacent tokens that differ: `a[aStart ..]` lost `removed`, in whose place `b[bStart ..]` has `inserted`. */
export type Hunk = {
  /** Index of the first token removed, or before which the others are inserted; counts from 0. */
  readonly aStart: number
  readonly aCount: number
  readonly bStart: number
  readonly bCount: number
  readonly removed: string[]
  readonly inserted: string[]
}

/**
 * How many tokens a shortest edit script removes and inserts, as diff counts: a replaced token counts twice.
 * Where the script is longer than `mostEdits` (5,000) or takes more than `mostSteps` (25 million) to find,
 * `exact` is false and `count` an upper bound. O(n + D^2) expected for D edits, memory O(n).
 *
 * Source: Henzinger 2006, where it is measured with diff.
 */
export const termDifference = (
  a: readonly string[],
  b: readonly string[],
  limits: DifferenceLimits = {},
): { count: number; exact: boolean } => {
  const { removed, inserted, exact } = markEdits(a, b, limits)
  return { count: countMarks(removed) + countMarks(inserted), exact }
}

/**
 * The same edit script as hunks, in order, with at least one common token between any two. Beyond the limits
 * a part of it, or all of it, is one hunk that replaces more than necessary, and `exact` is false.
 */
export const diffHunks = (
  a: readonly string[],
  b: readonly string[],
  limits: DifferenceLimits = {},
): { hunks: Hunk[]; exact: boolean } => {
  const { removed, inserted, exact } = markEdits(a, b, limits)
  const hunks: Hunk[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const [aStart, bStart] = [i, j]
    while (removed[i] === 1) i++
    while (inserted[j] === 1) j++
    if (i === aStart && j === bStart) {
      i++
      j++
      continue
    }
    hunks.push({
      aStart,
      aCount: i - aStart,
      bStart,
      bCount: j - bStart,
      removed: a.slice(aStart, i),
      inserted: b.slice(bStart, j),
    })
  }
  return { hunks, exact }
}

const countMarks = (marks: Uint8Array): number => {
  let count = 0
  for (const mark of marks) count += mark
  return count
}

/** A 1 for each token of `a` that is removed and each of `b` that is inserted; the rest is common, in order. */
type Edits = { readonly removed: Uint8Array; readonly inserted: Uint8Array; readonly exact: boolean }

const markEdits = (a: readonly string[], b: readonly string[], limits: DifferenceLimits): Edits => {
  const numbers = new Map<string, number>()
  const search = new Search(
    numberTerms(a, numbers),
    numberTerms(b, numbers),
    limits.mostEdits ?? defaultMostEdits,
    limits.mostSteps ?? defaultMostSteps,
  )
  search.mark(0, a.length, 0, b.length)
  return search
}

/** Equal terms get equal numbers, in `a` and in `b`. */
const numberTerms = (terms: readonly string[], numbers: Map<string, number>): Int32Array => {
  const numbered = new Int32Array(terms.length)
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i] as string
    const number = numbers.get(term) ?? numbers.size
    numbers.set(term, number)
    numbered[i] = number
  }
  return numbered
}

/**
 * The linear-space algorithm of Myers ("An O(ND) difference algorithm and its variations", 1986, section 4b).
 * A path goes from the top left of a grid, columns the tokens of `a` and rows those of `b`, to the bottom
 * right; a step to the right removes a token, a step down inserts one, a diagonal step over equal tokens is
 * free. Two searches, one from either corner, keep for every diagonal x - y = k the farthest point that d edits
 * reach; where they meet, the path is cut into two parts of half the edits.
 */
class Search {
  readonly removed: Uint8Array
  readonly inserted: Uint8Array
  exact = true
  readonly #a: Int32Array
  readonly #b: Int32Array
  readonly #mostEdits: number
  #stepsLeft: number
  /** Farthest x on diagonal k at index `#middle + k`; -1 where no path inside the grid has come. */
  readonly #farthestForward: Int32Array
  readonly #farthestBackward: Int32Array
  readonly #middle: number

  constructor(a: Int32Array, b: Int32Array, mostEdits: number, mostSteps: number) {
    this.#a = a
    this.#b = b
    this.#mostEdits = mostEdits
    this.#stepsLeft = mostSteps
    this.removed = new Uint8Array(a.length)
    this.inserted = new Uint8Array(b.length)
    this.#middle = Math.ceil(Math.min(mostEdits, a.length + b.length) / 2) + 2
    this.#farthestForward = new Int32Array(2 * this.#middle + 1)
    this.#farthestBackward = new Int32Array(2 * this.#middle + 1)
  }

  /** Marks the edits between `a[aFrom, aTo)` and `b[bFrom, bTo)`. Depth of the recursion: log2 of the edits. */
  mark(aFrom: number, aTo: number, bFrom: number, bTo: number): void {
    while (aFrom < aTo && bFrom < bTo && this.#a[aFrom] === this.#b[bFrom]) {
      aFrom++
      bFrom++
    }
    while (aFrom < aTo && bFrom < bTo && this.#a[aTo - 1] === this.#b[bTo - 1]) {
      aTo--
      bTo--
    }
    const isOneSided = aFrom === aTo || bFrom === bTo
    const cut = isOneSided ? null : this.#findCut(aFrom, aTo, bFrom, bTo)
    if (cut === null) {
      this.removed.fill(1, aFrom, aTo)
      this.inserted.fill(1, bFrom, bTo)
      if (!isOneSided) this.exact = false
      return
    }
    this.mark(aFrom, cut.a, bFrom, cut.b)
    this.mark(cut.a, aTo, cut.b, bTo)
  }

  /** A point halfway along a shortest path; null where a limit was met first. */
  #findCut(aFrom: number, aTo: number, bFrom: number, bTo: number): { a: number; b: number } | null {
    const width = aTo - aFrom
    const height = bTo - bFrom
    const forward = { farthest: this.#farthestForward, aStart: aFrom, bStart: bFrom, step: 1, width, height }
    const backward = {
      ...forward,
      farthest: this.#farthestBackward,
      aStart: aTo - 1,
      bStart: bTo - 1,
      step: -1,
    }
    // Either all paths have an odd number of edits or all an even one: so the search that meets is known.
    const isOdd = (width - height) % 2 !== 0
    if (Math.abs(width - height) > this.#mostEdits) return null
    for (let d = 0; 2 * d - 1 <= this.#mostEdits; d++) {
      const met = this.#advance(forward, d, isOdd ? backward : null, d - 1)
      if (met !== null) return { a: aFrom + met.x, b: bFrom + met.y }
      const metBackward = this.#advance(backward, d, isOdd ? null : forward, d)
      if (metBackward !== null) return { a: aTo - metBackward.x, b: bTo - metBackward.y }
      if (this.#stepsLeft < 0) return null
    }
    return null
  }

  /**
   * Brings one search from d - 1 edits to d. Where it meets the other one, which has come to `otherEdits`,
   * returns the point, counted from the corner of this search.
   */
  #advance(side: Side, d: number, other: Side | null, otherEdits: number): { x: number; y: number } | null {
    const [a, b, middle] = [this.#a, this.#b, this.#middle]
    const { farthest, aStart, bStart, step, width, height } = side
    farthest[middle - d - 1] = -1
    farthest[middle + d + 1] = -1
    for (let k = -d; k <= d && this.#stepsLeft >= 0; k += 2) {
      const from = d === 0 ? 0 : nextPoint(side, middle + k, k)
      let x = from
      if (from >= 0) {
        while (x < width && x - k < height && a[aStart + step * x] === b[bStart + step * (x - k)]) x++
      }
      farthest[middle + k] = x
      this.#stepsLeft -= 1 + x - from
      const opposite = width - height - k
      if (other === null || from < 0 || Math.abs(opposite) > otherEdits) continue
      const fromOther = other.farthest[middle + opposite] as number
      if (fromOther >= 0 && x + fromOther >= width) return { x, y: x - k }
    }
    return null
  }
}

/** One of the two searches, whose coordinates count from its own corner. */
type Side = {
  readonly farthest: Int32Array
  readonly aStart: number
  readonly bStart: number
  readonly step: number
  readonly width: number
  readonly height: number
}

/** The farther of a step to the right and a step down onto diagonal k, as far as they stay inside the grid. */
const nextPoint = ({ farthest, width, height }: Side, at: number, k: number): number => {
  const left = farthest[at - 1] as number
  const above = farthest[at + 1] as number
  const toTheRight = left >= 0 && left < width ? left + 1 : -1
  const down = above >= 0 && above - k <= height ? above : -1
  return Math.max(toTheRight, down)
}
