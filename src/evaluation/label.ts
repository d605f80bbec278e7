export const labels = ['correct', 'incorrect', 'undecided'] as const

/** What a person says of a pair that an algorithm returned. Source: Henzinger 2006, section 3.1. */
export type Label = (typeof labels)[number]

/** How many pairs have each label; `unjudged` are those that nobody has labelled. */
export type LabelCounts = Readonly<Record<Label | 'unjudged', number>>

export const noCounts: LabelCounts = { correct: 0, incorrect: 0, undecided: 0, unjudged: 0 }

/** Position of a label in a counter array; pairs without one come last. */
export const labelIndex = (label: Label | null): number =>
  label === null ? labels.length : labels.indexOf(label)

/** The counts of four counters, from `at`, in the order of `labelIndex`. */
export const labelCountsAt = (counters: Float64Array, at: number): LabelCounts => ({
  correct: counters[at] ?? 0,
  incorrect: counters[at + 1] ?? 0,
  undecided: counters[at + 2] ?? 0,
  unjudged: counters[at + 3] ?? 0,
})

export const addCounts = (a: LabelCounts, b: LabelCounts): LabelCounts => ({
  correct: a.correct + b.correct,
  incorrect: a.incorrect + b.incorrect,
  undecided: a.undecided + b.undecided,
  unjudged: a.unjudged + b.unjudged,
})

export const judgedOf = ({ correct, incorrect, undecided }: LabelCounts): number =>
  correct + incorrect + undecided
