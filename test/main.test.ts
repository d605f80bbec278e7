import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { settings } from '../src/config.ts'
import { randomWords, seededRandom } from './fixture/pages.ts'
import { type Server, startServer } from './fixture/server.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const run = promisify(execFile)

let directory: string
let databaseUrl: string
const servers: Server[] = []
const start = async (environment: Record<string, string> = {}): Promise<Server> => {
  const server = await startServer({ DATABASE_URL: databaseUrl, ...environment })
  servers.push(server)
  return server
}
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dittograph-'))
  databaseUrl = `sqlite:${join(directory, 'data', 'main.db')}`
})
afterEach(async () => {
  for (const server of servers.splice(0)) if (server.process.exitCode === null) await server.stop('SIGKILL')
  await rm(directory, { recursive: true })
})

const post = (server: Server, id: string, text: string): Promise<Response> =>
  fetch(`${server.url}/documents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, text }),
  })

describe('the built program', () => {
  test('serve --help names every setting by variable and flag', async () => {
    const { stdout } = await run(process.execPath, [main, 'serve', '--help'])
    const help = stdout.replaceAll(/\s+/g, ' ')
    for (const name of Object.keys(settings)) {
      expect(help).toContain(`env: ${name})`)
      expect(help).toContain(`--${name.toLowerCase().replaceAll('_', '-')} <value>`)
    }
  })

  test('the checked-in OpenAPI document is what the routes say', async () => {
    const { stdout } = await run(process.execPath, [main, 'openapi'], { maxBuffer: 2 ** 24 })
    const path = new URL('../openapi/openapi.json', import.meta.url)
    expect(await readFile(path, 'utf8')).toBe(stdout)
  })

  test('refuses to start, with exit code 1 and the reason, under another scheme or without the file of keys that is set', async () => {
    await (await start()).stop()
    await expect(start({ TOKENIZER: 'literal' })).rejects.toThrow(/ended with code 1:\n.*another scheme/s)
    await expect(start({ API_KEYS_FILE: 'keys.json' })).rejects.toThrow(
      /ended with code 1:\n.*API_KEYS_FILE/s,
    )
    await expect(start({ PORT: 'http' })).rejects.toThrow(/PORT must be a whole number/)
  })

  test('refuses to start, with exit code 1 and one line, where nobody can listen', async () => {
    const { url } = await start()
    const { port } = new URL(url)
    const other = { DATABASE_URL: `sqlite:${join(directory, 'other.db')}`, PORT: port }
    await expect(start(other)).rejects.toThrow(
      /ended with code 1:\n[^\n]*Nobody can listen on 127\.0\.0\.1[^\n]*\n$/,
    )
  })

  test('SIGTERM while an upload has stalled: it is cut off in the time that is set, and the exit code is 0', async () => {
    const server = await start({ SHUTDOWN_TIMEOUT_MS: '300' })
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(
      'POST /documents HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhello',
    )
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await server.stop('SIGTERM')).toBe(0)
    socket.destroy()
  })

  test('SIGTERM during a batch: the answer is finished, nothing acknowledged is lost, the exit code is 0', async () => {
    const server = await start()
    const random = seededRandom(9)
    const lines = Array.from({ length: 3000 }, (_, i) =>
      JSON.stringify({ id: `n${i}`, text: randomWords(random, 200).join(' ') }),
    )
    const answer = fetch(`${server.url}/documents`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    }).then((response) => response.text())
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(await server.stop('SIGTERM')).toBe(0)
    const summary = JSON.parse((await answer).trimEnd().split('\n').at(-1) ?? '')
    expect(summary).toEqual({ summary: { stored: 3000, unchanged: 0, failed: 0 } })
    const again = await start()
    expect((await fetch(`${again.url}/documents/n2999`)).status).toBe(200)
  })

  test('kill -9 in the middle of a batch: every acknowledged document is there and found', async () => {
    const server = await start()
    const random = seededRandom(10)
    const texts = Array.from({ length: 4000 }, () => randomWords(random, 200).join(' '))
    const response = await fetch(`${server.url}/documents`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: texts.map((text, i) => JSON.stringify({ id: `n${i}`, text })).join('\n'),
    })
    let received = ''
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        received += decoder.decode(chunk, { stream: true })
        if (received.split('\n').length > 600 && server.process.exitCode === null)
          server.process.kill('SIGKILL')
      }
    } catch {
      // The connection breaks when the process is killed.
    }
    const acknowledged = received
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => JSON.parse(line).id ?? [])
    expect(acknowledged.length).toBeGreaterThanOrEqual(600)
    expect(acknowledged.length).toBeLessThan(texts.length)
    const again = await start()
    for (const id of acknowledged) expect((await fetch(`${again.url}/documents/${id}`)).status, id).toBe(200)
    for (const id of acknowledged.slice(-20)) {
      const query = JSON.stringify({ text: texts[Number(id.slice(1))] })
      const headers = { 'content-type': 'application/json' }
      for (const algorithm of ['shingling', 'simhash', 'combined', 'site-aware', 'identical']) {
        const url = `${again.url}/duplicates?algorithm=${algorithm}`
        const response = await fetch(url, { method: 'POST', headers, body: query })
        const found = (await response.json()) as { duplicates: { id: string }[] }
        expect(found.duplicates.map((one) => one.id)).toContain(id)
      }
    }
  })

  test('Swagger UI shows the routes in a browser, without an error on the console', async () => {
    const server = await start()
    await post(server, 'a', 'some words')
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    })
    try {
      const page = await browser.newPage()
      const errors: string[] = []
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
      page.on('pageerror', (error) => errors.push(error.message))
      await page.goto(`${server.url}/docs`)
      await page.waitForSelector('.opblock-summary-path')
      const paths = await page.locator('.opblock-summary-path').allTextContents()
      expect(paths.map((path) => path.replaceAll('\u200b', ''))).toContain('/documents/{id}/duplicates')
      expect(errors).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
