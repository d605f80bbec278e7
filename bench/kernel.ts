/**
 * npm run bench:kernel -- [FILE.ndjson[.gz] …]
 *
 * Times the kernel on an even sample of the pages of the files (or on made ones) against
 *
 * - htmlparser2, whose parser only collects the text of the page;
 * - the readable TypeScript, from tokens to all sketches;
 * - the packages minhash and bloom-filters (84 minvalues) and simhash-js, behind htmlparser2.
 *
 * All figures are CPU time of the process in microseconds a page, medians over rounds in which the contestants take
 * turns. Whatever is in doubt favours the others: they get the page as a string, and the packages their shingles, or
 * hashes of them, for nothing. The kernel gets bytes, which are copied into its memory.
 *
 * Prints microseconds a page of each contestant, and how many times as fast the kernel is.
 *
 * BENCH_PAGES: how many pages (400); BENCH_ROUNDS: how many rounds (7).
 */
import BloomFilters from 'bloom-filters'
import { Parser } from 'htmlparser2'
import { Minhash } from 'minhash'
import { SimHash } from 'simhash-js'
import { createKernel, type KernelInput } from '../src/kernel/kernel.ts'
import { hashTokens } from '../src/signature/fingerprint.ts'
import { k, minvalueCount } from '../src/signature/scheme.ts'
import { shingles } from '../src/signature/shingle.ts'
import { sign } from '../src/signature/sign.ts'
import type { TokenFingerprints } from '../src/signature/signature.ts'
import { type Line, readPages } from './pages.ts'
import { median, report } from './report.ts'

type Page = {
  readonly html: string
  readonly input: KernelInput
  readonly tokens: TokenFingerprints
  readonly shingleTexts: readonly string[]
  readonly shingleHashes: number[]
}
type Contestant = { readonly name: string; readonly repeats: number; readonly work: (page: Page) => unknown }

const pageCount = Number(process.env.BENCH_PAGES ?? 400)
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)
const made = { count: pageCount, bytes: 30_000 }

/** The packages take a hundred times as long: one page in so many is enough for them. */
const peerShare = 8

const kernel = createKernel()
if (kernel === null) throw new Error('no WebAssembly SIMD here')

const evenSample = (lines: readonly Line[]): Line[] =>
  lines.filter(
    (_, i) => Math.floor((i * pageCount) / lines.length) !== Math.floor(((i - 1) * pageCount) / lines.length),
  )

const prepare = ({ url, html }: Line): Page => {
  const input: KernelInput = {
    bytes: Buffer.from(html),
    form: 'utf8',
    kind: 'html',
    url,
    tokenizer: 'practical',
  }
  kernel.read(input)
  const tokens = kernel.tokens()
  const { low, high } = shingles(tokens, k)
  const shingleHashes = [...low]
  return {
    html,
    input,
    tokens,
    shingleHashes,
    shingleTexts: shingleHashes.map((hash, i) => `${hash}-${high[i]}`),
  }
}

const htmlparser2Text = (html: string): string => {
  let text = ''
  const parser = new Parser({
    ontext: (part) => {
      text += part
    },
  })
  parser.end(html)
  return text
}

const minHashes = new BloomFilters.MinHashFactory(minvalueCount, 2 ** 32 - 1)

const contestants: readonly Contestant[] = [
  { name: 'kernel: page to tokens', repeats: 4, work: ({ input }) => kernel.read(input) },
  { name: 'htmlparser2: text', repeats: 1, work: ({ html }) => htmlparser2Text(html) },
  { name: 'kernel: tokens to sketches', repeats: 8, work: ({ tokens }) => kernel.sign(tokens) },
  {
    name: 'TypeScript: tokens to sketches',
    repeats: 1,
    work: ({ tokens }) => [hashTokens(tokens), sign(tokens)],
  },
]

const contestantsWithPeers: readonly Contestant[] = [
  { name: 'kernel: page to sketches', repeats: 16, work: ({ input }) => kernel.analyze(input) },
  {
    name: 'htmlparser2 + minhash',
    repeats: 1,
    work: ({ html, shingleTexts }) => {
      const sketch = new Minhash({ numPerm: minvalueCount })
      for (const shingle of shingleTexts) sketch.update(shingle)
      return [htmlparser2Text(html), sketch]
    },
  },
  {
    name: 'htmlparser2 + bloom-filters',
    repeats: 1,
    work: ({ html, shingleHashes }) => {
      const sketch = minHashes.create()
      sketch.bulkLoad(shingleHashes)
      return [htmlparser2Text(html), sketch]
    },
  },
  {
    name: 'htmlparser2 + simhash-js',
    repeats: 1,
    work: ({ html }) => new SimHash().hash(htmlparser2Text(html)),
  },
]

/** Keeps results from being optimized away. */
let results = 0

/** CPU time in microseconds a page. */
const timed = ({ work, repeats }: Contestant, pages: readonly Page[]): number => {
  const before = process.cpuUsage()
  for (let i = 0; i < repeats; i++) {
    for (const page of pages) if (work(page) !== undefined) results++
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (repeats * pages.length)
}

const compete = (list: readonly Contestant[], pages: readonly Page[]): Map<string, number> => {
  const times = new Map(list.map(({ name }) => [name, [] as number[]]))
  for (const contestant of list) timed(contestant, pages)
  for (let round = 0; round < rounds; round++) {
    for (const contestant of list) times.get(contestant.name)?.push(timed(contestant, pages))
  }
  return new Map([...times].map(([name, values]) => [name, median(values)]))
}

const lines: Line[] = []
for await (const line of readPages(process.argv.slice(2), made)) lines.push(line)
const pages = evenSample(lines).map(prepare)
const times = compete(contestants, pages)
const withPeers = compete(
  contestantsWithPeers,
  pages.filter(({ tokens }, i) => i % peerShare === 0 && tokens.low.length > 0),
)

const ratio = (all: Map<string, number>, slow: string, fast: string): number =>
  Math.round(((all.get(slow) ?? 0) / (all.get(fast) ?? 1)) * 10) / 10
const rounded = (all: Map<string, number>): Record<string, number> =>
  Object.fromEntries([...all].map(([name, time]) => [name, Math.round(time * 10) / 10]))
const total = (count: (page: Page) => number): number => pages.reduce((sum, page) => sum + count(page), 0)

report('kernel', {
  pages: pages.length,
  rounds,
  worked: results > 0,
  bytesPerPage: Math.round(total(({ input }) => input.bytes.length) / pages.length),
  tokensPerPage: Math.round(total(({ tokens }) => tokens.low.length) / pages.length),
  cpuMicrosecondsPerPage: { ...rounded(times), ...rounded(withPeers) },
  timesAsFast: {
    'page to tokens, than htmlparser2 to text': ratio(times, 'htmlparser2: text', 'kernel: page to tokens'),
    'tokens to sketches, than TypeScript': ratio(
      times,
      'TypeScript: tokens to sketches',
      'kernel: tokens to sketches',
    ),
    'page to sketches, than htmlparser2 + minhash': ratio(
      withPeers,
      'htmlparser2 + minhash',
      'kernel: page to sketches',
    ),
    'page to sketches, than htmlparser2 + bloom-filters': ratio(
      withPeers,
      'htmlparser2 + bloom-filters',
      'kernel: page to sketches',
    ),
    'page to sketches, than htmlparser2 + simhash-js': ratio(
      withPeers,
      'htmlparser2 + simhash-js',
      'kernel: page to sketches',
    ),
  },
})
