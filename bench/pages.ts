import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { editWords, htmlPage, randomWords, seededRandom } from '../test/fixture/pages.ts'

export type Line = { readonly id: string; readonly url: string; readonly html: string }

/** Made pages, one in three a near-duplicate of an earlier one, with about `bytes` of HTML each. */
const madePages = function* (count: number, bytes: number): Generator<Line> {
  const random = seededRandom(7)
  const originals: string[][] = []
  for (let i = 0; i < count; i++) {
    const source = originals[Math.floor(random() * originals.length)]
    const copies = source !== undefined && random() < 1 / 3
    const words = copies
      ? editWords(random, source, 1 + Math.floor(random() * 12), 'scattered')
      : randomWords(random, Math.round((bytes / 7) * (0.5 + random())))
    if (!copies && originals.length < 2000) originals.push(words)
    yield {
      id: `made-${i}`,
      url: `https://site${i % 97}.example/page/${i}`,
      html: htmlPage(`Page ${i}`, words),
    }
  }
}

/** Pages of NDJSON files (`{url, html}` a line, `.gz` or not), numbered in order; made ones where no file is given. */
export const readPages = async function* (
  files: readonly string[],
  made: { count: number; bytes: number },
): AsyncGenerator<Line> {
  if (files.length === 0) yield* madePages(made.count, made.bytes)
  let number = 0
  for (const file of files) {
    const bytes = createReadStream(file)
    const lines = createInterface({ input: file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes })
    for await (const line of lines) {
      const { url, html } = JSON.parse(line) as Line
      yield { id: `page-${number++}`, url, html }
    }
  }
}
