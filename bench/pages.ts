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

const paragraphCount = 2000
const typography: readonly string[] = [
  '\u201c',
  '\u201d',
  '\u2019',
  '\u2013',
  '\u2014',
  '\u2026',
  '\u2192',
  '\u2022',
]

/**
 * Of 12,500 crawled pages 45 % hold a character beyond Latin-1 (typographic quotes, dashes, arrows; half of them 26 or
 * more), 50 % of those within 20 % of 10 KB and 60 % of those within 20 % of 50 KB. It matters: one such
 * character makes a JavaScript string of the page twice as large, and slower to decode, parse and copy.
 */
const beyondLatin1Share = (bytes: number): number => (bytes < 30_000 ? 0.5 : 0.6)

/**
 * Made pages with about so many bytes of HTML, every one another, about half of it markup, as on crawled pages. They are
 * put together from paragraphs, so that making them costs little beside sending them; two pages share few of these.
 */
export const pageMaker = (seed: number): ((bytes: number) => string) => {
  const random = seededRandom(seed)
  const words = randomWords(random, paragraphCount * 24)
  const plain: string[] = []
  const typographic: string[] = []
  for (let i = 0; i < paragraphCount; i++) {
    const parts = words
      .slice(24 * i, 24 * i + 24)
      .map((word, at) =>
        at % 6 === 0
          ? `<li class="menu-item level-two"><a href="/section/${word}/${i}.html" title="go">${word}</a></li>`
          : word,
      )
    plain.push(`<p class="text" data-part="${i}">${parts.join(' ')}.</p>`)
    parts[i % 24] += typography[i % typography.length] ?? ''
    typographic.push(`<p class="text" data-part="${i}">${parts.join(' ')}.</p>`)
  }
  let number = 0
  return (bytes) => {
    const paragraphs = random() < beyondLatin1Share(bytes) ? typographic : plain
    let body = `<p>Page number ${seed}n${number++}</p>`
    while (body.length < bytes - 400) body += `${paragraphs[Math.floor(random() * paragraphCount)]}\n`
    return htmlPage('A page', []).replace('</main>', `${body}</main>`)
  }
}
