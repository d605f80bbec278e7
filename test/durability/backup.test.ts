import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { seededRandom } from '../fixture/pages.ts'
import { mainFile, type Server, startServer } from '../fixture/server.ts'
import { inTemporaryDirectory } from '../store/sqlite/temporary.ts'
import { checkService } from './check.ts'
import { Workload } from './workload.ts'

const servers: Server[] = []
const start = async (path: string): Promise<Server> => {
  const server = await startServer({ DATABASE_URL: `sqlite:${path}` })
  servers.push(server)
  return server
}
afterEach(async () => {
  for (const server of servers.splice(0)) if (server.process.exitCode === null) await server.stop('SIGKILL')
})

const workloadOf = (name: string): Workload =>
  new Workload({ name, random: seededRandom(name.charCodeAt(0)), ids: 60, families: 8 })

const backup = (path: string, file: string): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [mainFile, 'backup', file], {
    env: { ...process.env, DATABASE_URL: `sqlite:${path}` },
  })

const getJson = async (url: string): Promise<unknown> => (await fetch(url)).json()

/** Judges two stored pages after a job was started, and gives the judgement. */
const judgeTwo = async (url: string): Promise<unknown> => {
  const send = (method: string, path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await send('POST', '/jobs', { kind: 'join', algorithm: 'identical' })
  const { documents } = (await getJson(`${url}/documents?limit=2`)) as { documents: { id: string }[] }
  const [a, b] = documents.map(({ id }) => id)
  return (await send('PUT', '/judgements', { a, b, label: 'incorrect' })).json()
}

/** All files but those that every reader of a database makes beside it. */
const filesIn = (directory: string): string[] =>
  readdirSync(directory).filter((name) => !/-(wal|shm)$/.test(name))

/** Rejects where the backup is not refused with exit code 1 and one line that matches, or leaves something behind. */
const expectRefused = async (path: string, file: string, reason: RegExp): Promise<void> => {
  const before = filesIn(join(file, '..'))
  await expect(backup(path, file)).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(reason) })
  expect(filesIn(join(file, '..'))).toEqual(before)
}

describe('A backup', { timeout: 180_000 }, () => {
  test('of a service that stores meanwhile has all that was acknowledged before, whole and found', async () => {
    await inTemporaryDirectory(async (directory) => {
      const [path, file] = [join(directory, 'test.db'), join(directory, 'backup.db')]
      const server = await start(path)
      const workloads = ['a', 'b'].map(workloadOf)
      for (const workload of workloads) for (let i = 0; i < 15; i++) await workload.step(server.url)
      for (const workload of workloads) workload.remember()
      const before = workloads.map(({ acknowledgements }) => acknowledgements)
      const stopping = new AbortController()
      const load = Promise.all(workloads.map((workload) => workload.run(server.url, stopping.signal)))
      await backup(path, file)
      stopping.abort()
      await load
      for (const [i, { acknowledgements }] of workloads.entries())
        expect(acknowledgements).toBeGreaterThan(before[i] ?? 0)
      expect(filesIn(directory).filter((name) => name.startsWith('backup'))).toEqual([
        'backup.db',
        'backup.db-jobs',
      ])
      const restored = await start(file)
      expect(await checkService(restored.url, workloads)).toBeGreaterThan(20)
      await workloads[0]?.step(restored.url)
    })
  })

  test('needs no service, and has what a killed one left in its log', async () => {
    await inTemporaryDirectory(async (directory) => {
      const [path, file] = [join(directory, 'test.db'), join(directory, 'backup.db')]
      const server = await start(path)
      const workload = workloadOf('a')
      for (let i = 0; i < 10; i++) await workload.step(server.url)
      const judgement = await judgeTwo(server.url)
      await server.stop('SIGKILL')
      await backup(path, file)
      const restored = await start(file)
      expect(await getJson(`${restored.url}/judgements`)).toEqual({
        judgements: [judgement],
        nextCursor: null,
      })
      expect(await getJson(`${restored.url}/jobs`)).toEqual({ jobs: [], nextCursor: null })
      expect(await checkService(restored.url, [workload])).toBeGreaterThan(10)
      const again = await start(path)
      expect(await checkService(again.url, [workload])).toBeGreaterThan(10)
    })
  })

  test('replaces no file, makes none of what is no database, and leaves none that is damaged', async () => {
    await inTemporaryDirectory(async (directory) => {
      const path = join(directory, 'test.db')
      const file = join(directory, 'backup.db')
      await expectRefused(path, file, /There is no database to copy/)
      const server = await start(path)
      const workload = workloadOf('a')
      for (let i = 0; i < 20; i++) await workload.step(server.url)
      await server.stop('SIGTERM')
      writeFileSync(file, 'precious')
      await expectRefused(path, file, /a backup replaces nothing/)
      expect(readFileSync(file, 'utf8')).toBe('precious')
      const letter = join(directory, 'letter.db')
      writeFileSync(letter, 'This is a letter.\n'.repeat(1000))
      await expectRefused(letter, join(directory, 'other.db'), /no SQLite database/)
      const bytes = readFileSync(path)
      bytes.fill(0xa5, bytes.length / 2, bytes.length / 2 + 3 * 8192)
      writeFileSync(path, bytes)
      await expectRefused(path, join(directory, 'other.db'), /damaged/)
      expect(existsSync(join(directory, 'other.db'))).toBe(false)
    })
  })
})
