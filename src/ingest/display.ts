import type { InputState } from './progress.ts'

const intervalMs = 100
const barCells = 24

export type Sums = { readonly doneBytes: number; readonly documents: number; readonly failed: number }

/**
 * Shows how far a run is: on a terminal a bar that is drawn over again, elsewhere a line for each input that has
 * been finished.
 */
export class Display {
  readonly #out: NodeJS.WriteStream
  /** Null where it is not known. */
  readonly #totalBytes: number | null
  readonly #startedAt: number
  #drawnAt = 0

  constructor(out: NodeJS.WriteStream, totalBytes: number | null, now: number) {
    this.#out = out
    this.#totalBytes = totalBytes
    this.#startedAt = now
  }

  update(name: string, sums: Sums, now: number): void {
    if (!this.#out.isTTY || now - this.#drawnAt < intervalMs) return
    this.#drawnAt = now
    const perSecond = Math.round(sums.documents / Math.max(0.001, (now - this.#startedAt) / 1000))
    const counts = `${sums.documents} documents, ${perSecond}/s, ${sums.failed} failed`
    const text = `${this.#bar(sums.doneBytes)}${counts}  ${name}`
    this.#out.write(`\r${text.slice(0, Math.max(20, this.#out.columns - 1))}\u001b[K`)
  }

  finishInput(name: string, { done, rest }: InputState): void {
    const skipped = Object.values(rest?.skipped ?? {}).reduce((sum, count) => sum + count, 0)
    const line = `${name}: ${done} documents, ${skipped} records skipped, ${rest?.damaged.length ?? 0} places damaged`
    this.#out.write(`${this.#out.isTTY ? '\r\u001b[K' : ''}${line}\n`)
  }

  /** A line of its own. */
  note(line: string): void {
    this.#out.write(`${this.#out.isTTY ? '\r\u001b[K' : ''}${line}\n`)
  }

  #bar(doneBytes: number): string {
    if (this.#totalBytes === null) return ''
    const share = this.#totalBytes === 0 ? 1 : Math.min(1, doneBytes / this.#totalBytes)
    const cells = Math.round(share * barCells)
    return `[${'#'.repeat(cells)}${'.'.repeat(barCells - cells)}] ${Math.floor(100 * share)} %  `
  }
}

/** Rows of a name and a number as a table, the numbers below each other. */
const tableOf = (rows: readonly (readonly [name: string, count: number])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length))
  const digits = Math.max(...rows.map(([, count]) => String(count).length))
  return rows.map(([name, count]) => `${name.padEnd(width)}  ${String(count).padStart(digits)}\n`).join('')
}

/** The outcome of a run: documents by what became of them, records by why they were skipped, and damage by place. */
export const reportOf = (
  states: readonly (readonly [name: string, state: InputState])[],
  otherFiles: number,
): string => {
  const sum = (name: keyof InputState['counts']) =>
    states.reduce((total, [, { counts }]) => total + counts[name], 0)
  const skipped = new Map<string, number>()
  for (const [, { rest }] of states)
    for (const [reason, count] of Object.entries(rest?.skipped ?? {}))
      skipped.set(reason, (skipped.get(reason) ?? 0) + count)
  const damaged = states.flatMap(([name, { rest }]) =>
    (rest?.damaged ?? []).map(({ offset, detail }) => `  ${name}, byte ${offset}: ${detail}\n`),
  )
  const table = tableOf([
    ['stored (new)', sum('created')],
    ['replaced', sum('replaced')],
    ['unchanged', sum('unchanged')],
    ['failed', sum('failed')],
    ...[...skipped].sort().map(([reason, count]) => [`skipped: ${reason}`, count] as const),
    ...(otherFiles === 0 ? [] : [['skipped: files of other kinds', otherFiles] as const]),
    ['damaged', damaged.length],
  ])
  return table + damaged.join('')
}
