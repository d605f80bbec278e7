import { DittographError } from '../errors.ts'
import { type Label, labels } from './label.ts'

/** A pair of pages whose label is known before anything is compared. */
export type LabelledPair = {
  readonly a: string
  readonly b: string
  readonly label: Label
  /** Why it has this label, in the words of its file; null where the file has no such column. */
  readonly reason: string | null
  /** How the pair came into the files; a pair can have come in several ways. */
  readonly strata: readonly string[]
}

const isLabel = (text: string | undefined): text is Label => labels.some((label) => label === text)

const fault = (file: string, line: number, detail: string): DittographError =>
  new DittographError('invalid_labels', `${file}, line ${line}: ${detail}`)

/**
 * The pairs of tab-separated files, each once. The first line names the columns: `a`, `b` (ids of pages) and `label`
 * are needed, `reason` and `stratum` (several joined by `+`) are used where they are, others are not looked at.
 * Throws `invalid_labels` where a column is missing, a label is none, a page is paired with itself, or
 * one pair has two labels.
 */
export const readLabelledPairs = (
  files: readonly { readonly name: string; readonly text: string }[],
): LabelledPair[] => {
  const pairs = new Map<string, LabelledPair>()
  for (const { name, text } of files) {
    const [header = '', ...lines] = text.split(/\r?\n/)
    const columns = header.split('\t')
    for (const column of ['a', 'b', 'label'])
      if (!columns.includes(column))
        throw fault(name, 1, `names the columns, separated by tabs; there is no column "${column}"`)
    lines.forEach((line, i) => {
      if (line === '') return
      const values = line.split('\t')
      const cellOf = (column: string) => values[columns.indexOf(column)]
      const [a, b, label] = [cellOf('a'), cellOf('b'), cellOf('label')]
      const at = i + 2
      if (!a || !b || a === b) throw fault(name, at, 'a and b must be the ids of two different pages')
      if (!isLabel(label)) throw fault(name, at, `label must be one of ${labels.join(', ')}`)
      const key = a < b ? `${a}\n${b}` : `${b}\n${a}`
      const before = pairs.get(key)
      if (before !== undefined && before.label !== label)
        throw fault(name, at, `this pair has been labelled ${before.label} before`)
      const strata = [...(before?.strata ?? []), ...(cellOf('stratum')?.split('+') ?? [])]
      pairs.set(key, {
        a,
        b,
        label,
        reason: before?.reason ?? cellOf('reason') ?? null,
        strata: [...new Set(strata)].filter((stratum) => stratum !== ''),
      })
    })
  }
  return [...pairs.values()]
}
