import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { editWords, htmlPage, randomWords, seededRandom } from './fixture/pages.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const run = promisify(execFile)

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dittograph-'))
})
afterEach(() => rm(directory, { recursive: true }))

const evaluate = (...args: string[]) =>
  run(process.execPath, [main, 'evaluate', '--hash-families', '2', ...args], { cwd: directory })

/** Twenty pages with a copy each on another host, of which ten are edited beyond recognition. */
const writeCollection = async (): Promise<void> => {
  const random = seededRandom(31)
  const pages: string[] = []
  const pairs = ['a\tb\tlabel\treason\tstratum']
  for (let i = 0; i < 20; i++) {
    const words = randomWords(random, 900)
    const copy = i < 10 ? editWords(random, words, 1, 'block') : editWords(random, words, 700, 'scattered')
    for (const [id, host, text] of [
      [`p${i}`, 'one.example', words],
      [`q${i}`, 'two.example', copy],
    ] as const)
      pages.push(JSON.stringify({ id, url: `https://${host}/secret-path/${i}`, html: htmlPage('a', text) }))
    pairs.push(`p${i}\tq${i}\tcorrect\t${i < 10 ? 'a <b> copy' : 'far'}\tmirror`)
    if (i > 0) pairs.push(`p${i}\tp0\tincorrect\tother\tsibling`)
  }
  await writeFile(join(directory, 'pages.ndjson.gz'), gzipSync(pages.join('\n')))
  await writeFile(join(directory, 'pairs.tsv'), pairs.join('\n'))
}

describe('dittograph evaluate', () => {
  test('measures pages from a file, prints the main table and writes a report with plots and numbers', async () => {
    await writeCollection()
    const { stdout } = await evaluate(
      ...['--pages', 'pages.ndjson.gz', '--pairs', 'pairs.tsv', '--title', "It's <mine>", '--out', 'report'],
    )
    expect(stdout).toMatch(/site-aware +all +10 +1\.000 +1\.000 +0\.500 +0\.667/)
    expect(stdout).toMatch(/identical +all +0 +–/)
    const report = await readFile(join(directory, 'report', 'report.md'), 'utf8')
    expect(report).toContain("# It's &lt;mine&gt;")
    expect(report).toContain("--title 'It'\\''s <mine>'")
    expect(report).toContain('| different sites | 10 | 10 | 0 | 0 | 0 | 1.000 (0.722–1.000) |')
    expect(report).toContain('correct: a &lt;b&gt; copy')
    const files = await readdir(join(directory, 'report'))
    const pictures = [...report.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)].map(([, name]) => name)
    expect(pictures).toHaveLength(10)
    expect(files.sort()).toEqual(['numbers.json', 'report.md', ...pictures].sort())
    const numbers = await readFile(join(directory, 'report', 'numbers.json'), 'utf8')
    const { algorithms, collection } = JSON.parse(numbers)
    expect(collection).toMatchObject({ pages: 40, sites: 2, pairsCompared: 780 })
    expect(algorithms.simhash.all.recall).toMatchObject({ value: 0.5, sampleSize: 20 })
    for (const text of [report, numbers, stdout]) {
      expect(text).not.toContain('secret-path')
      expect(text).not.toContain(directory)
    }
  })

  test('gives the same report again', async () => {
    await writeCollection()
    const reports: string[] = []
    for (const name of ['first', 'second']) {
      await evaluate('--pages', 'pages.ndjson.gz', '--pairs', 'pairs.tsv', '--out', name)
      reports.push(await readFile(join(directory, name, 'numbers.json'), 'utf8'))
    }
    expect(reports[0]).toBe(reports[1])
  })

  test('ends with exit code 1 and one line that names the file and the line of what is wrong', async () => {
    await writeFile(join(directory, 'pages.ndjson'), '{"id": "a", "html": "x"}\n{"id": "b"}\n')
    await writeFile(join(directory, 'pairs.tsv'), 'a\tb\tlabel\na\tb\tcorrect\n')
    await writeFile(join(directory, 'wrong.tsv'), 'a\tb\tlabel\na\tb\tsure\n')
    const fault = async (pages: string, pairs: string) => {
      const failed = await evaluate('--pages', pages, '--pairs', pairs).catch((reason) => reason)
      expect(failed.code).toBe(1)
      return failed.stderr
    }
    expect(await fault('pages.ndjson', 'pairs.tsv')).toMatch(
      /^[^\n]*pages\.ndjson, line 2: [^\n]*exactly one of html[^\n]*\n$/s,
    )
    expect(await fault('pages.ndjson', 'wrong.tsv')).toMatch(
      /^[^\n]*wrong\.tsv, line 2: label must be one of[^\n]*\n$/,
    )
    expect(await fault('none.ndjson', 'pairs.tsv')).toMatch(/^[^\n]*none\.ndjson cannot be read[^\n]*\n$/)
    await writeFile(join(directory, 'cut.ndjson.gz'), gzipSync('{"id": "a", "html": "x"}\n').subarray(0, 20))
    expect(await fault('cut.ndjson.gz', 'pairs.tsv')).toMatch(
      /^[^\n]*cut\.ndjson\.gz cannot be read[^\n]*\n$/,
    )
  })
})
