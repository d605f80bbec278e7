import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openServices } from '../../src/compose.ts'
import { loadConfig } from '../../src/config.ts'
import { seededRandom } from '../fixture/pages.ts'
import { mainFile, startServer } from '../fixture/server.ts'
import { inTemporaryDirectory } from '../store/sqlite/temporary.ts'
import { checkService } from './check.ts'
import { Workload } from './workload.ts'

/** `npm run test:kills` sets more. */
const kills = Number(process.env.KILLS ?? 3)
const seed = Number(process.env.KILLS_SEED ?? 1)
/** Acknowledgements before a kill. */
const mostInLoad = 400
const longestStartMs = 400
const mostSecondsForOne = 60

const startAndKill = async (
  environment: Readonly<Record<string, string>>,
  afterMs: number,
): Promise<void> => {
  const child = spawn(process.execPath, [mainFile, 'serve'], {
    env: { ...process.env, PORT: '0', ...environment },
    stdio: 'ignore',
    timeout: Math.ceil(afterMs),
    killSignal: 'SIGKILL',
  })
  await once(child, 'exit')
}

/** Moves what is in memory only to runs, of which the service merges some when it is started, and more while it deletes. */
const writeRuns = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  const { close } = await openServices(loadConfig(settings), {
    storeOptions: { flushSets: 16, fanOut: 64, flushFeatures: 1024 },
  })
  await wait(100)
  await close()
}

const expectConsistent = (path: string): void => {
  const db = new Database(path, { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(db.pragma('foreign_key_check')).toEqual([])
  const count = (sql: string) => db.prepare(sql).pluck().get()
  expect(count('SELECT count(*) FROM document WHERE doc_no NOT IN (SELECT doc_no FROM document_text)')).toBe(
    0,
  )
  expect(count('SELECT count(*) FROM identity_set WHERE set_no NOT IN (SELECT set_no FROM document)')).toBe(0)
  expect(count('SELECT count(*) - (SELECT documents FROM total) FROM document')).toBe(0)
  expect(count('SELECT count(*) - (SELECT sets FROM total) FROM identity_set')).toBe(0)
  db.close()
}

test(
  `${kills} times kill -9 under load lose no acknowledged document and leave nothing half`,
  async () => {
    await inTemporaryDirectory(async (directory) => {
      const random = seededRandom(seed)
      const path = join(directory, 'test.db')
      const settings = { DATABASE_URL: `sqlite:${path}`, EXACT_INDEX: 'true' }
      const workloads = ['a', 'b', 'c'].map(
        (name) =>
          new Workload({
            name,
            random: seededRandom(1000 * seed + name.charCodeAt(0)),
            ids: 150,
            families: 12,
          }),
      )
      const acknowledgements = () => workloads.reduce((sum, workload) => sum + workload.acknowledgements, 0)
      let checked = 0
      await startAndKill(settings, longestStartMs * random())
      let server = await startServer(settings)
      for (let kill = 1; kill <= kills; kill++) {
        const { signal } = new AbortController()
        const load = Promise.all(workloads.map((workload) => workload.run(server.url, signal)))
        const target = acknowledgements() + Math.floor(mostInLoad * random())
        while (acknowledgements() < target)
          if ((await Promise.race([load, wait(1, 'goes on')])) !== 'goes on')
            throw new Error('The service broke off by itself')
        await wait(10 * random())
        await server.stop('SIGKILL')
        await load
        const environment = { ...settings, SYNCHRONOUS: random() < 0.5 ? 'full' : 'normal' }
        if (random() < 0.4) await startAndKill(environment, longestStartMs * random())
        server = await startServer(environment)
        checked += await checkService(server.url, workloads)
        if (kill % 2 === 1 && kill < kills) continue
        expect(await server.stop('SIGTERM')).toBe(0)
        expectConsistent(path)
        if (kill === kills) break
        await writeRuns(settings)
        server = await startServer(environment)
      }
      process.stdout.write(
        `${kills} kills (seed ${seed}): ${acknowledgements()} acknowledged, ${checked} documents checked\n`,
      )
    })
  },
  1000 * mostSecondsForOne * kills,
)
