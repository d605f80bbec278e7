/**
 * npm run bench:join -- [--features shingles|tokens] [--verify] [FILE.ndjson[.gz] … | --records [FILE …]]
 *
 * Joins a collection with itself by All-Pairs (prefix), PPJoin (positional) and PPJoin+ (suffix), in turns, and prints
 * for each threshold how many pairs came how far and the CPU milliseconds of each (median over rounds); then PPJoin at
 * 0.8 on halves, quarters, … of the collection, with the exponent by which its time grows.
 *
 * All three share a verification that resumes behind the prefixes and ends as soon as the threshold is out of reach. What
 * PPJoin was first compared with is All-Pairs that merges both records of a candidate from end to end: `classic`, once a
 * threshold.
 *
 * The collection: features of the pages of NDJSON files (or of made ones), or with --records the words of the lines of
 * text files, without their first column (or made titles of 6 to 14 words, one in five an edited copy). `--verify` compares every join with one by counting all common features.
 *
 * BENCH_PAGES: most pages or records (20,000); BENCH_ROUNDS: rounds (5); BENCH_THRESHOLDS: 0.5 0.6 … by default.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Analyzer } from '../src/analysis/analyzer.ts'
import { boundsOf, reaches } from '../src/join/bounds.ts'
import { finish, selfJoin } from '../src/join/join.ts'
import type { PairBlock } from '../src/join/pair-sink.ts'
import type { Filter, JoinCounts } from '../src/join/prober.ts'
import { type Records, recordsOfBags, recordsOfSets } from '../src/join/records.ts'
import { thresholdOf } from '../src/join/threshold.ts'
import { type Features, featureSet } from '../src/signature/features.ts'
import { seededRandom } from '../test/fixture/pages.ts'
import { readPages } from './pages.ts'
import { cpuMicroseconds, mebibytes } from './process-usage.ts'
import { median, report, rounded } from './report.ts'

const filters: readonly Filter[] = ['prefix', 'positional', 'suffix']
const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    features: { type: 'string', default: 'shingles' },
    records: { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
  },
})
const most = Number(process.env.BENCH_PAGES ?? 20_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const thresholds = (process.env.BENCH_THRESHOLDS ?? '0.5 0.6 0.7 0.8 0.9 0.95').split(' ')

/** Lower-case words of a line behind its first column (`%`, tab or comma), which is its key. */
const wordsOfLine = (line: string): string[] =>
  line
    .slice(line.search(/[%\t,]/) + 1)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

const madeTitles = (count: number): number[][] => {
  const random = seededRandom(3)
  const vocabulary = 200_000
  const word = (): number => Math.floor(vocabulary * random() ** 3)
  const titles: number[][] = []
  for (let i = 0; i < count; i++) {
    const copied = random() < 0.2 ? titles[Math.floor(random() * titles.length)] : undefined
    const title =
      copied === undefined ? Array.from({ length: 6 + Math.floor(random() * 9) }, word) : [...copied]
    if (copied !== undefined) title[Math.floor(random() * title.length)] = word()
    titles.push(title)
  }
  return titles
}

const readBags = async (): Promise<readonly Float64Array[] | readonly Iterable<string | number>[]> => {
  if (options.records && files.length === 0) return madeTitles(most)
  if (options.records)
    return files
      .flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean))
      .slice(0, most)
      .map(wordsOfLine)
  const analyzer = new Analyzer({ tokenizer: 'practical', siteRule: 'public-suffix' })
  const bags: Float64Array[] = []
  for await (const { url, html } of readPages(files, { count: most, bytes: 8000 })) {
    if (bags.length === most) break
    const page = { url, content: { kind: 'html', characters: html } } as const
    bags.push(featureSet(analyzer.sketchWithTokens(page).tokens, options.features as Features))
  }
  return bags
}

/** All pairs, counted one feature after the other: every record meets each one before it as often as they agree. */
const countAll = ({ tokens, offsets, ids, vocabularySize }: Records, threshold: string): number => {
  const bounds = boundsOf('jaccard', thresholdOf(threshold))
  const lists: number[][] = Array.from({ length: vocabularySize }, () => [])
  const common = new Int32Array(ids.length)
  const sizeOf = (record: number): number => (offsets[record + 1] ?? 0) - (offsets[record] ?? 0)
  let pairs = 0
  for (let x = 0; x < ids.length; x++) {
    const met: number[] = []
    for (const token of tokens.subarray(offsets[x], offsets[x + 1])) {
      for (const y of lists[token] ?? []) {
        if (common[y] === 0) met.push(y)
        common[y] = (common[y] ?? 0) + 1
      }
      lists[token]?.push(x)
    }
    for (const y of met) {
      if (reaches(bounds, common[y] ?? 0, sizeOf(x), sizeOf(y))) pairs++
      common[y] = 0
    }
  }
  return pairs
}

const timed = (
  records: Records,
  threshold: string,
  filter: Filter,
): { counts: JoinCounts; cpuMs: number } => {
  const bounds = boundsOf('jaccard', thresholdOf(threshold))
  let checksum = 0
  const sink = ({ overlaps, count }: PairBlock): void => {
    checksum += (overlaps[0] ?? 0) + count
  }
  const before = cpuMicroseconds()
  const counts = finish(selfJoin(records, { bounds, filter, sink }))
  const cpuMs = (cpuMicroseconds() - before) / 1000
  if (counts.results > 0 && checksum === 0) throw new Error('The join gave no pair to its sink')
  return { counts, cpuMs }
}

const overlapOf = (tokens: Uint32Array, x: number, xEnd: number, y: number, yEnd: number): number => {
  let overlap = 0
  while (x < xEnd && y < yEnd) {
    const [a, b] = [tokens[x] as number, tokens[y] as number]
    if (a === b) overlap++
    if (a <= b) x++
    if (b <= a) y++
  }
  return overlap
}

/** All-Pairs (Bayardo et al. 2007) as it is found in the comparisons of the papers: prefix and length filter, whole merges. */
const classicAllPairs = (
  { tokens, offsets, ids, vocabularySize }: Records,
  threshold: string,
): { pairs: number; cpuMs: number } => {
  const before = cpuMicroseconds()
  const bounds = boundsOf('jaccard', thresholdOf(threshold))
  const offset = (record: number): number => offsets[record] as number
  const sizeOf = (record: number): number => offset(record + 1) - offset(record)
  const indexed = (record: number): Uint32Array =>
    tokens.subarray(offset(record), offset(record) + bounds.indexPrefix(sizeOf(record)))
  const starts = new Uint32Array(vocabularySize + 1)
  for (let x = 0; x < ids.length; x++)
    for (const token of indexed(x)) starts[token + 1] = (starts[token + 1] as number) + 1
  for (let token = 0; token < vocabularySize; token++)
    starts[token + 1] = (starts[token + 1] as number) + (starts[token] as number)
  const postings = new Uint32Array(starts[vocabularySize] as number)
  const ends = starts.slice()
  const metBy = new Int32Array(ids.length).fill(-1)
  let pairs = 0
  for (let x = 0; x < ids.length; x++) {
    const size = sizeOf(x)
    const leastSize = bounds.minSize(size)
    const candidates: number[] = []
    for (const token of tokens.subarray(offset(x), offset(x) + bounds.probePrefix(size))) {
      let first = starts[token] as number
      const end = ends[token] as number
      while (first < end && sizeOf(postings[first] as number) < leastSize) first++
      starts[token] = first
      for (let i = first; i < end; i++) {
        const y = postings[i] as number
        if (metBy[y] !== x) candidates.push(y)
        metBy[y] = x
      }
    }
    for (const y of candidates) {
      const overlap = overlapOf(tokens, offset(x), offset(x + 1), offset(y), offset(y + 1))
      if (overlap >= bounds.minOverlap(size, sizeOf(y))) pairs++
    }
    for (const token of indexed(x)) {
      const end = ends[token] as number
      postings[end] = x
      ends[token] = end + 1
    }
  }
  return { pairs, cpuMs: rounded((cpuMicroseconds() - before) / 1000) }
}

/** The smallest of the collection are not a sample of it: every n-th record is. */
const sampled = <T>(list: readonly T[], share: number): T[] =>
  list.filter((_, i) => Math.floor((i + 1) * share) > Math.floor(i * share))

const bags = await readBags()
const startCpu = cpuMicroseconds()
const recordsOf = (of: typeof bags): Records =>
  of[0] instanceof Float64Array ? recordsOfSets(of as Float64Array[]) : recordsOfBags(of)
const records = recordsOf(bags)
const canonicalCpuMs = (cpuMicroseconds() - startCpu) / 1000

const joins = thresholds.map((threshold) => {
  const runs = new Map<Filter, { counts: JoinCounts; cpuMs: number }[]>(filters.map((filter) => [filter, []]))
  for (let round = 0; round < rounds; round++)
    for (const filter of filters) runs.get(filter)?.push(timed(records, threshold, filter))
  const results = filters.map((filter) => {
    const of = runs.get(filter) ?? []
    return { filter, ...of[0]?.counts, cpuMs: rounded(median(of.map(({ cpuMs }) => cpuMs))) }
  })
  const expected = options.verify ? countAll(records, threshold) : null
  if (expected !== null && results.some((one) => one.results !== expected))
    throw new Error(
      `At ${threshold} there are ${expected} pairs, not ${results.map((one) => one.results).join(', ')}`,
    )
  const classic = classicAllPairs(records, threshold)
  if (results.some((one) => one.results !== classic.pairs))
    throw new Error(`At ${threshold} the classic All-Pairs finds ${classic.pairs} pairs`)
  const [allPairs, ppjoin, ppjoinPlus] = results.map(({ cpuMs }) => cpuMs)
  return {
    threshold,
    results,
    classic,
    ppjoinTimesAsFastAsClassicAllPairs: rounded(classic.cpuMs / (ppjoin ?? 0), 2),
    ...(expected === null ? {} : { pairsByCounting: expected }),
    ppjoinTimesAsFastAsAllPairs: rounded((allPairs ?? 0) / (ppjoin ?? 0), 2),
    ppjoinPlusTimesAsFastAsPpjoin: rounded((ppjoin ?? 0) / (ppjoinPlus ?? 0), 2),
  }
})

const growth = [1 / 8, 1 / 4, 1 / 2, 1].map((share) => {
  const part = recordsOf(sampled<Iterable<string | number>>(bags, share) as typeof bags)
  const times = Array.from({ length: rounds }, () => timed(part, '0.8', 'positional'))
  return {
    records: part.ids.length,
    cpuMs: rounded(median(times.map(({ cpuMs }) => cpuMs))),
    pairs: times[0]?.counts.results,
  }
})
/** Of the line through the logarithms of sizes and times. */
const exponent = (() => {
  const points = growth.map(({ records: n, cpuMs }) => [Math.log(n), Math.log(Math.max(cpuMs, 0.1))] as const)
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const slope = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return slope / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
})()

report('join', {
  features: options.records ? 'words' : options.features,
  records: records.ids.length,
  tokens: records.tokens.length,
  vocabulary: records.vocabularySize,
  canonicalFormCpuMs: rounded(canonicalCpuMs),
  recordBytes: records.tokens.byteLength + records.offsets.byteLength + records.ids.byteLength,
  rssMiB: mebibytes(process.memoryUsage.rss()),
  joins,
  growth,
  growthExponent: rounded(exponent, 2),
})
