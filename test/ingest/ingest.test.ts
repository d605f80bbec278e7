import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Server, startServer } from '../fixture/server.ts'
import {
  arcFile,
  arcRecord,
  httpResponse,
  inMembers,
  madePage,
  responseRecord,
  urlOf,
  warcRecord,
} from '../warc/archive.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

let directory: string
let databaseFile: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dittograph-'))
  databaseFile = join(directory, 'main.db')
})
afterEach(() => rm(directory, { recursive: true }))

type Outcome = {
  readonly code: number | null
  readonly table: Record<string, number>
  readonly out: string
  readonly error: string
}

const start = (args: readonly string[]) =>
  spawn(process.execPath, [main, 'ingest', ...args], {
    env: { ...process.env, DATABASE_URL: `sqlite:${databaseFile}`, SYNCHRONOUS: 'normal' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })

/** Runs the built program to its end; the rows of its table by name. */
const run = async (args: readonly string[], input: Buffer | null = null): Promise<Outcome> => {
  const child = start(args)
  let out = ''
  let error = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    error += chunk
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input ?? undefined)
  const [code] = await once(child, 'close')
  const rows = [...out.matchAll(/^(\S.*?) {2,}(\d+)$/gm)].map(([, name = '', count]) => [name, Number(count)])
  return { code, table: Object.fromEntries(rows), out, error }
}

const storedIds = (): string[] => {
  const db = new Database(databaseFile, { readonly: true })
  try {
    return db.prepare('SELECT id FROM document ORDER BY id').pluck().all() as string[]
  } finally {
    db.close()
  }
}

const put = async (name: string, bytes: Buffer | string): Promise<string> => {
  const path = join(directory, 'in', name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, bytes)
  return path
}

const records = (from: number, to: number): Buffer[] =>
  Array.from({ length: to - from }, (_, i) => responseRecord(urlOf(from + i), madePage(from + i, 60)))
const lines = (ids: readonly string[]): string =>
  ids.map((id) => `${JSON.stringify({ id, text: id })}\n`).join('')
const clean = { failed: 0, damaged: 0, replaced: 0, unchanged: 0 }

describe('dittograph ingest', () => {
  test('stores what a directory holds of every kind, and counts the rest', async () => {
    await put('b/one.warc', Buffer.concat([warcRecord('request', urlOf(0), 'x'), ...records(0, 3)]))
    await put('a.warc.gz', inMembers(records(3, 5)))
    await put('c.arc.gz', gzipSync(arcFile(arcRecord(urlOf(5), 'text/html', httpResponse(madePage(5))))))
    await put('d.ndjson', lines(['d1', 'd2']))
    await put('e.jsonl.gz', gzipSync(lines(['e1'])))
    await put('f/g/page.html', madePage(6))
    await put('notes.txt', 'none of these')
    const { code, table } = await run([join(directory, 'in')])
    expect(code).toBe(0)
    expect(table).toEqual({
      ...clean,
      'stored (new)': 10,
      'skipped: request': 1,
      'skipped: warcinfo': 1,
      'skipped: files of other kinds': 1,
    })
    expect(storedIds().filter((id) => !/^[0-9a-f]{8}-/.test(id))).toEqual(['d1', 'd2', 'e1', 'f/g/page.html'])
    expect((await run([join(directory, 'in')])).table).toMatchObject({ 'stored (new)': 0, unchanged: 10 })
  })

  test('takes the standard input, and files of any name, by what they hold', async () => {
    const archive = inMembers(records(0, 2))
    const fromInput = await run(['-'], archive)
    expect([fromInput.code, fromInput.table], fromInput.error).toEqual([0, { ...clean, 'stored (new)': 2 }])
    expect((await run([await put('made', archive)])).table).toMatchObject({ unchanged: 2 })
    const { code, error } = await run(['-'], Buffer.alloc(0))
    expect([code, error]).toEqual([1, expect.stringContaining('neither WARC, ARC, NDJSON nor HTML')])
  })

  test('ends with code 2 and the place where documents failed or a file is damaged', async () => {
    const members = inMembers(records(0, 3))
    await put('cut.warc.gz', members.subarray(0, -40))
    await put('empty.warc', '')
    await put('lines.ndjson', `${lines(['a'])}{"id": 7}\n${lines(['b'])}`)
    await put('packed.ndjson.gz', gzipSync(lines(['c', 'd'])).subarray(0, -12))
    const { code, table, out, error } = await run([join(directory, 'in')])
    expect(code).toBe(2)
    expect(table).toMatchObject({ damaged: 1, failed: 3 })
    expect(table['stored (new)']).toBeGreaterThanOrEqual(4)
    expect(out).toContain(`cut.warc.gz, byte ${inMembers(records(0, 2)).length}: The file is truncated`)
    expect(error).toContain('lines.ndjson, line 2: ')
    expect(error).toContain('The gzip data is damaged or cut short')
  })

  test('a database that a service has open is refused with a word about --url, which fills it', async () => {
    await put('a.warc.gz', inMembers(records(0, 100)))
    await put(
      'b.ndjson',
      `${lines(['a'])}${JSON.stringify({ id: 'long', text: 'a "b" \n'.repeat(2000) })}\n{"id": 7}\n`,
    )
    await put('c.html', madePage(7))
    const server: Server = await startServer({ DATABASE_URL: `sqlite:${databaseFile}` })
    try {
      const refused = await run([join(directory, 'in')])
      expect([refused.code, refused.error]).toEqual([1, expect.stringContaining('--url http://')])
      const { code, table, error } = await run([join(directory, 'in'), '--url', server.url])
      expect([code, table]).toEqual([2, { ...clean, failed: 1, 'stored (new)': 103 }])
      expect(error).toContain('b.ndjson, line 3: ')
      const text = await (await fetch(`${server.url}/documents/long/text`)).text()
      expect(text).toContain('a "b"')
    } finally {
      await server.stop()
    }
    const unanswered = await run([join(directory, 'in'), '--url', server.url])
    expect([unanswered.code, unanswered.error]).toEqual([1, expect.stringContaining('does not answer')])
  })

  test('goes on where a killed run ended, without losing or repeating much', async () => {
    const count = 6000
    const path = await put('large.warc.gz', inMembers(records(0, count)))
    const resume = join(directory, 'resume.json')
    const child = start([path, '--resume', resume])
    let done = 0
    while (done === 0 && child.exitCode === null) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const text = await readFile(resume, 'utf8').catch(() => '{"inputs":{}}')
      done = JSON.parse(text).inputs[path]?.done ?? 0
    }
    child.kill('SIGKILL')
    await once(child, 'close')
    const before = storedIds().length
    expect(before).toBeGreaterThanOrEqual(done)
    expect(before).toBeLessThan(count)
    const { code, table } = await run([path, '--resume', resume])
    expect(code).toBe(0)
    expect(table['stored (new)']).toBe(count - (table.unchanged ?? 0))
    expect(table.unchanged).toBe(before - done)
    expect(storedIds()).toHaveLength(count)
  }, 60_000)

  test('does nothing again that was finished, and all of what has changed since', async () => {
    const path = await put('a.ndjson', lines(['a', 'b']))
    const args = [path, '--resume', join(directory, 'resume.json')]
    const first = await run(args)
    expect(first.table).toEqual({ ...clean, 'stored (new)': 2 })
    expect((await run(args)).table).toEqual(first.table)
    await utimes(path, 1, 1)
    expect((await run(args)).table).toEqual({ ...clean, 'stored (new)': 0, unchanged: 2 })
  })

  test('refuses what it cannot do, and says what is allowed', async () => {
    const path = await put('a.ndjson', lines(['a']))
    const broken = await put('resume.json', '{"version":2}')
    const cases: [string[], string][] = [
      [[join(directory, 'nothing')], 'cannot be read'],
      [[await put('a.txt', 'text')], 'neither WARC, ARC, NDJSON nor HTML'],
      [['-', '--resume', 'file'], '--resume needs a file'],
      [[path, '--url', 'localhost'], 'such as http://127.0.0.1:8080'],
      [[path, '--resume', broken], 'is not what --resume left'],
    ]
    for (const [args, reason] of cases) {
      const { code, error } = await run(args)
      expect([code, error]).toEqual([1, expect.stringContaining(reason)])
    }
  })
})
