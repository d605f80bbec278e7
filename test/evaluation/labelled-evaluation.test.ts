import { describe, expect, test } from 'vitest'
import { analyze } from '../../src/analysis/analyze.ts'
import { decide, defaultThresholds } from '../../src/detect/decide.ts'
import { jaccard } from '../../src/detect/resemblance.ts'
import { bSimilarity, cSimilarity } from '../../src/detect/similarity.ts'
import { compareAll } from '../../src/evaluation/all-pairs.ts'
import type { EvaluatedPage } from '../../src/evaluation/collection.ts'
import type { Label } from '../../src/evaluation/label.ts'
import { evaluateLabelled } from '../../src/evaluation/labelled-evaluation.ts'
import type { LabelledPair } from '../../src/evaluation/labelled-pairs.ts'
import { labelledReport } from '../../src/evaluation/labelled-report.ts'
import { sketchAlgorithms } from '../../src/evaluation/sketch-algorithm.ts'
import { tokensOf, underAnotherFamily, Vocabulary } from '../../src/evaluation/vocabulary.ts'
import { sign } from '../../src/signature/sign.ts'
import type { Signature } from '../../src/signature/signature.ts'
import { editWords, randomWords, seededRandom } from '../fixture/pages.ts'

const analysis = { tokenizer: 'literal', siteRule: 'public-suffix' } as const

/** Families of edited copies of several lengths on a few hosts, an empty page and two equal ones. */
const madeCollection = () => {
  const random = seededRandom(23)
  const vocabulary = new Vocabulary()
  const texts: { id: string; url: string | null; text: string; family: number }[] = []
  for (let family = 0; family < 12; family++) {
    const words = randomWords(random, 40 + 120 * family)
    for (let copy = 0; copy < 6; copy++)
      texts.push({
        id: `f${family}c${copy}`,
        url: `https://w${copy % 3}.site${family % 2}.example/${family}/${copy}`,
        text: (copy < 2 ? words : editWords(random, words, copy * copy, 'block')).join(' '),
        family,
      })
  }
  texts.push({ id: 'empty', url: null, text: '', family: -1 })
  const pages: EvaluatedPage[] = texts.map(({ id, url, text }) => {
    const { terms, contentHash, signature } = analyze(
      { url, content: { kind: 'text', characters: text } },
      analysis,
    )
    return {
      id,
      url,
      contentHash: Buffer.from(contentHash).toString('hex'),
      signature,
      terms: vocabulary.encode(terms),
    }
  })
  const labelled: LabelledPair[] = []
  for (const [i, a] of texts.entries())
    for (const b of texts.slice(i + 1)) {
      const chance = random()
      if (a.family !== b.family && chance > 0.05) continue
      const label: Label = a.family !== b.family ? 'incorrect' : chance < 0.8 ? 'correct' : 'undecided'
      labelled.push({ a: b.id, b: a.id, label, reason: 'made', strata: [chance < 0.5 ? 'low' : 'high'] })
    }
  return { pages, labelled, vocabulary }
}

const made = madeCollection()
const evaluation = evaluateLabelled(made.pages, made.labelled, made.vocabulary, {
  siteRule: 'host',
  hashFamilies: 3,
})

const hostOf = (page: EvaluatedPage | undefined) => (page?.url ? new URL(page.url).host : null)

/** Every pair by the functions that the service decides with. */
const bruteForce = (algorithm: (typeof sketchAlgorithms)[number]) => {
  const labels = new Map(made.labelled.map((pair) => [[pair.a, pair.b].sort().join(' '), pair.label]))
  const counts = { correct: 0, incorrect: 0, undecided: 0, unjudged: 0 }
  made.pages.forEach((a, i) => {
    for (const b of made.pages.slice(i + 1)) {
      if (a.signature === null || b.signature === null) continue
      const evidence = {
        bSimilarity: bSimilarity(a.signature, b.signature),
        cSimilarity: cSimilarity(a.signature, b.signature),
        sameSite: hostOf(a) !== null && hostOf(a) === hostOf(b),
        identical: a.contentHash === b.contentHash,
      }
      if (decide(algorithm, evidence, defaultThresholds))
        counts[labels.get([a.id, b.id].sort().join(' ')) ?? 'unjudged']++
    }
  })
  return counts
}

describe('the evaluation on labelled pairs', () => {
  test.each(sketchAlgorithms)(
    'counts the pairs of %s as comparing all pages one by one does',
    (algorithm) => {
      const { all, sameSite, differentSites } = evaluation.algorithms[algorithm]
      expect(all).toMatchObject(bruteForce(algorithm))
      expect(all.pairs).toBeGreaterThan(20)
      expect(sameSite.pairs + differentSites.pairs).toBe(all.pairs)
    },
  )

  test('takes recall over all correct pairs, also those that no algorithm returns', () => {
    const correct = made.labelled.filter(({ label }) => label === 'correct').length
    expect(evaluation.labelled.all.correct).toBe(correct)
    expect(evaluation.algorithms.simhash.all.recall.sampleSize).toBe(correct)
    expect(evaluation.algorithms.identical.all).toMatchObject({ pairs: 12 })
  })

  test('sweeps meet the main table at the default thresholds, and return less the higher they are', () => {
    const { shingling, simhash, combined } = evaluation.sweeps
    expect(shingling[1]?.all).toMatchObject({ minSupershingles: 2, ...evaluation.algorithms.shingling.all })
    const at372 = simhash.find(({ all }) => all.minAgreeingBits === 372)
    expect(at372?.sameSite).toMatchObject(evaluation.algorithms.simhash.sameSite)
    const at355 = combined.find(({ all }) => all.minAgreeingBits === 355 && all.minSupershingles === 2)
    expect(at355?.differentSites).toMatchObject(evaluation.algorithms.combined.differentSites)
    for (const rows of [shingling, simhash])
      rows.slice(1).forEach(({ all }, i) => {
        expect(all.pairs).toBeLessThanOrEqual(rows[i]?.all.pairs ?? 0)
      })
  })

  test('counts exact measures as comparing the terms of each labelled pair does', () => {
    const terms = new Map(made.pages.map((page) => [page.id, made.vocabulary.decode(page.terms)]))
    const above = made.labelled.filter(({ a, b }) => jaccard(terms.get(a) ?? [], terms.get(b) ?? []) >= 0.8)
    const rows = evaluation.exactMeasures.find(({ measure }) => measure === 'token Jaccard')?.thresholds
    const row = rows?.find(({ threshold }) => threshold === 0.8)
    expect(row?.all.pairs).toBe(above.length)
    expect(row?.all.correct).toBe(above.filter(({ label }) => label === 'correct').length)
  })

  test('with a least resemblance leave fewer pairs, and at 0 all that are labelled', () => {
    const [first, ...others] = evaluation.verified.map(({ algorithms }) => algorithms.simhash.all)
    const { correct, incorrect, undecided, recall } = evaluation.algorithms.simhash.all
    expect(first).toMatchObject({ correct, incorrect, undecided, recall })
    const left = [first, ...others].map((row) => row?.pairs ?? 0)
    expect(left).toEqual([...left].sort((x, y) => y - x))
    expect(left.at(-1)).toBeLessThan(left[0] ?? 0)
  })

  test('groups are parts of the labelled pairs: each stratum, reason and length', () => {
    for (const kind of ['stratum', 'reason', 'shorter page']) {
      const rows = evaluation.groups.filter((group) => group.kind === kind)
      const sum = rows.reduce((total, { labelled }) => total + labelled.correct, 0)
      expect(sum, kind).toBe(evaluation.labelled.all.correct)
    }
    expect(evaluation.groups.filter(({ kind }) => kind === 'stratum').map(({ name }) => name)).toEqual([
      'high',
      'low',
    ])
  })

  test('other hash families give other pairs, and nearly the same recall', () => {
    const spread = evaluation.hashFamilies?.algorithms.simhash.all.recall
    const own = evaluation.algorithms.simhash.all.recall.value ?? 0
    expect(Math.abs((spread?.mean ?? 0) - own)).toBeLessThan(0.1)
    expect(spread?.standardDeviation).toBeGreaterThan(0)
  })

  test('a pair that names no page of the collection is counted apart', () => {
    const stranger: LabelledPair = { a: 'nobody', b: 'f0c0', label: 'correct', reason: null, strata: [] }
    const result = evaluateLabelled(made.pages, [...made.labelled, stranger], made.vocabulary, {
      siteRule: 'dots',
      hashFamilies: 0,
    })
    expect(result.labelled.pairsOfUnknownPages).toBe(1)
    expect(result.labelled.all).toEqual(evaluation.labelled.all)
    expect(result.hashFamilies).toBeNull()
  })

  test('of nothing is a report without numbers', () => {
    const nothing = evaluateLabelled([], [], new Vocabulary(), { siteRule: 'host', hashFamilies: 1 })
    const { files } = labelledReport(nothing, { title: 'Empty', scheme: 's', command: 'c' })
    for (const [name, content] of files) expect(content, name).not.toMatch(/NaN|undefined|Infinity/)
  })
})

describe('comparing all signatures', () => {
  test('gives the similarities of each pair once, lower position first', () => {
    const signatures = made.pages.flatMap(({ signature }): Signature[] =>
      signature === null ? [] : [signature],
    )
    const seen: number[][] = []
    compareAll(signatures, (...values) => seen.push(values))
    const expected = signatures.flatMap((a, i) =>
      signatures.slice(i + 1).map((b, k) => [i, i + 1 + k, bSimilarity(a, b), cSimilarity(a, b)]),
    )
    expect(seen).toEqual(expected)
  })
})

describe('another hash family', () => {
  const fingerprints = made.vocabulary.fingerprints()
  const { terms } = made.pages[60] as EvaluatedPage

  test('is fixed by its number, and has as many different fingerprints as the first one', () => {
    const once = underAnotherFamily(fingerprints, 1)
    expect(underAnotherFamily(fingerprints, 1)).toEqual(once)
    const distinct = ({ low, high }: typeof once) =>
      new Set(Array.from(low, (x, i) => `${x} ${high[i]}`)).size
    expect(distinct(once)).toBe(distinct(fingerprints))
  })

  test('signs a page so that nothing agrees with its first signature but by chance', () => {
    const first = sign(tokensOf(terms, fingerprints))
    const other = sign(tokensOf(terms, underAnotherFamily(fingerprints, 2)))
    if (first === null || other === null) throw new Error('The page has tokens')
    expect(bSimilarity(first, other)).toBe(0)
    expect(Math.abs(cSimilarity(first, other) - 192)).toBeLessThan(5 * Math.sqrt(96))
  })
})
