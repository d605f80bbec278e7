import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServices } from '../../src/compose.ts'
import { loadConfig } from '../../src/config.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { DocumentInput } from '../../src/service/service.ts'
import { htmlPage, randomWords, seededRandom } from '../fixture/pages.ts'
import { openInMemory, options, textInput } from '../fixture/services.ts'
import { temporaryDirectory } from '../store/sqlite/temporary.ts'

let engine: Engine
let direct: RunningServices
beforeAll(async () => {
  engine = await Engine.start(loadConfig({ DATABASE_URL: 'sqlite::memory:' }))
  direct = await openInMemory()
})
afterAll(async () => {
  await engine.close()
  await direct.close()
})

const bytesInput = (id: string, bytes: Uint8Array, contentType: string): DocumentInput => ({
  id,
  page: { url: `https://example.com/${id}`, content: { kind: 'html', bytes, contentType } },
  fetchedAt: null,
  metadata: { id },
})

const random = seededRandom(21)
const pages = Array.from({ length: 40 }, (_, i) => {
  const words = randomWords(random, i === 39 ? 400_000 : 300)
  return bytesInput(
    `p${i}`,
    Buffer.from(htmlPage(`Café ${i}`, words), i % 2 ? 'utf8' : 'latin1'),
    'text/html',
  )
})
// A view into a larger buffer, as bodies often are.
const large = Buffer.concat([
  Buffer.alloc(1000, 'x'),
  Buffer.from('<p>Just these five words here'),
  Buffer.alloc(1000, 'y'),
])
const inputs: readonly DocumentInput[] = [
  ...pages,
  bytesInput('view', large.subarray(1000, large.length - 1000), 'text/html; charset=utf-8'),
  bytesInput('nothing', new Uint8Array(0), 'text/html'),
  textInput('text', randomWords(seededRandom(22), 100).join(' ')),
]

const timeless = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return JSON.parse(text.replaceAll(/"(created|updated)At":"[^"]*"/g, '"$1At":""'))
}

describe('the engine in its thread', () => {
  test('gives the answers that the services give in this thread', async () => {
    const services = engine.services()
    const stored = await services.documents.store(inputs, options({ limit: 3 }))
    expect(stored).toEqual(await direct.services.documents.store(inputs, options({ limit: 3 })))
    for (const { id, page } of inputs) {
      if (id === null) throw new Error('no id')
      const both = async (ask: (from: typeof services) => Promise<unknown>) => {
        const [there, here] = [await ask(services), await ask(direct.services)]
        expect(timeless(there)).toEqual(timeless(here))
      }
      await both((from) => from.documents.get(id))
      await both((from) => from.documents.text(id))
      await both((from) => from.nearDuplicates.ofDocument(id, options()))
      await both((from) => from.nearDuplicates.ofPage(page, options()))
      await both((from) => from.comparison.ofDocuments(id, 'p0'))
      await both((from) => from.comparison.ofPages(page, pages[0]?.page ?? page))
      await both((from) => from.comparison.analyze(page))
    }
    expect(await services.operations.renderMetrics()).toContain(`dittograph_documents ${inputs.length}\n`)
    await services.operations.ready()
  })

  test('throws the errors that the services throw', async () => {
    const { documents } = engine.services()
    await expect(documents.get('unknown')).rejects.toMatchObject({
      code: 'document_not_found',
      kind: 'not-found',
    })
    await expect(documents.list({ limit: 1, cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_cursor' })
  })

  test('answers a thousand calls at once, each its own, and bytes beyond the shared memory too', async () => {
    const { documents } = engine.services()
    const words = (i: number) => randomWords(seededRandom(i), 40).join(' ')
    const calls = Array.from({ length: 1000 }, (_, i) =>
      documents.store([bytesInput(`c${i}`, Buffer.from(words(i) + ' '.repeat(60_000)), 'text/html')], null),
    )
    for (const [i, results] of (await Promise.all(calls)).entries())
      expect(results).toMatchObject([{ id: `c${i}` }])
    for (const i of [0, 255, 256, 999]) expect(await documents.text(`c${i}`)).toBe(words(i))
  })

  test('refuses what would take too much memory, and goes on', async () => {
    const { documents } = engine.services()
    const page = Buffer.alloc(64 * 1024 * 1024, '<p>')
    const calls = Array.from({ length: 6 }, (_, i) =>
      documents.store([bytesInput(`big${i}`, page, 'text/html')], null),
    )
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map((one) => one.status)).toEqual([
      ...Array(4).fill('fulfilled'),
      ...Array(2).fill('rejected'),
    ])
    expect(outcomes[5]).toMatchObject({ reason: { code: 'overloaded' } })
    expect((await documents.store([textInput('after', 'more words')], null))[0]).toMatchObject({
      id: 'after',
    })
  })

  test('does not start where the store cannot be opened, and says why', async () => {
    const { directory, remove } = temporaryDirectory()
    const file = join(directory, 'notes.txt')
    writeFileSync(file, 'no database')
    const config = loadConfig({ DATABASE_URL: `sqlite:${file}` })
    await expect(Engine.start(config)).rejects.toMatchObject({ code: 'database_unusable' })
    remove()
  })
})
