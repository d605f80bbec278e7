import { readFile, rename, writeFile } from 'node:fs/promises'
import { DittographError } from '../errors.ts'
import type { Input } from './input.ts'

/** What has become of the documents of one input. */
type Counts = { created: number; replaced: number; unchanged: number; failed: number }

export type InputState = {
  readonly sizeBytes: number
  readonly modifiedMs: number
  /** Documents, those that failed included, of which it is known what became of them. */
  done: number
  readonly counts: Counts
  /** What else the input held; null until its end was reached. */
  rest: {
    readonly skipped: Readonly<Record<string, number>>
    readonly damaged: readonly { readonly offset: number; readonly detail: string }[]
  } | null
}

type Saved = { readonly version: 1; readonly inputs: Readonly<Record<string, InputState>> }

const savingIntervalMs = 1000

/**
 * How far each input has been stored, kept in a file so that a run that was ended can be taken up again. The file
 * is replaced as a whole, and says less than is stored at most: what is stored twice is unchanged the second time.
 */
export class Progress {
  readonly #file: string | null
  readonly #inputs: Map<string, InputState>
  #savedAt = 0

  private constructor(file: string | null, inputs: Map<string, InputState>) {
    this.#file = file
    this.#inputs = inputs
  }

  /** `file` null: nothing is kept. Throws `invalid_configuration` where the file is something else. */
  static async open(file: string | null): Promise<Progress> {
    if (file === null) return new Progress(null, new Map())
    let text: string
    try {
      text = await readFile(file, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Progress(file, new Map())
      throw new DittographError('invalid_configuration', `${file} cannot be read`, { cause })
    }
    try {
      const saved = JSON.parse(text) as Saved
      if (saved.version !== 1) throw new Error('another version')
      return new Progress(file, new Map(Object.entries(saved.inputs)))
    } catch (cause) {
      const detail = `${file} is not what --resume left: name another file, or remove it to start anew`
      throw new DittographError('invalid_configuration', detail, { cause })
    }
  }

  /** How far an input is; from the start where it is new, or another one by size or time. */
  of(input: Input): InputState {
    const key = input.path ?? '-'
    const known = this.#inputs.get(key)
    if (known?.sizeBytes === input.sizeBytes && known.modifiedMs === input.modifiedMs) return known
    const state: InputState = {
      sizeBytes: input.sizeBytes,
      modifiedMs: input.modifiedMs,
      done: 0,
      counts: { created: 0, replaced: 0, unchanged: 0, failed: 0 },
      rest: null,
    }
    this.#inputs.set(key, state)
    return state
  }

  /** Keeps all that was noted in the states, if that was not done in the last second. */
  async save(now: number): Promise<void> {
    if (this.#file === null || now - this.#savedAt < savingIntervalMs) return
    this.#savedAt = now
    const saved: Saved = { version: 1, inputs: Object.fromEntries(this.#inputs) }
    await writeFile(`${this.#file}-new`, JSON.stringify(saved))
    await rename(`${this.#file}-new`, this.#file)
  }
}
