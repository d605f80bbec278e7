import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const temporaryDirectory = (): { directory: string; remove: () => void } => {
  const directory = mkdtempSync(join(tmpdir(), 'dittograph-store-'))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** Gives a new directory to `body` and removes it afterwards. */
export const inTemporaryDirectory = async (body: (directory: string) => Promise<void>): Promise<void> => {
  const { directory, remove } = temporaryDirectory()
  try {
    await body(directory)
  } finally {
    remove()
  }
}

const childFile = fileURLToPath(new URL('./child.ts', import.meta.url))

/**
 * Runs `child.ts` and calls `onLine` with each line and a way to kill it with SIGKILL; gives all lines when it has
 * ended. No file that it writes may grow beyond `fileLimitKib`, until it lifts that limit.
 */
export const runChild = (
  argv: readonly string[],
  onLine: (line: string, kill: () => void) => void = () => undefined,
  fileLimitKib: number | 'unlimited' = 'unlimited',
): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const command = `ulimit -S -f ${fileLimitKib}; exec "$0" --import tsx "$@"`
    const child = spawn('bash', ['-c', command, process.execPath, childFile, ...argv], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    let rest = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) {
        lines.push(line)
        onLine(line, () => child.kill('SIGKILL'))
      }
    })
    child.on('error', reject)
    child.on('close', () => resolve(lines))
  })
