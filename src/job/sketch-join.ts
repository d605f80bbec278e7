import { bandRecall } from '../detect/band.ts'
import {
  type Algorithm,
  decide,
  isResemblanceEnough,
  usesBands,
  usesSupershingles,
} from '../detect/decide.ts'
import { resemblance } from '../detect/resemblance.ts'
import { acceptanceAt, acceptanceSize, joinSketches } from '../detect/sketch-join.ts'
import { isMeasure } from '../join/measure.ts'
import type { JoinRequest } from '../service/job-service.ts'
import { simhashBits, supershingleCount } from '../signature/scheme.ts'
import type { JoinAlgorithm } from './join-algorithm.ts'
import { pairsOnDifferentSites, pairsOnSameSite } from './join-writer.ts'
import { SetFeatures } from './set-features.ts'

/** The join by supershingles and simhash bands, verified by the stored sketches, and by the texts where asked for. */
export const sketchJoin: JoinAlgorithm = ({ request, source, analyzer, add, report }) => {
  const { algorithm, thresholds, site } = request
  const recall = usesBands(algorithm, site) ? bandRecall(thresholds.minAgreeingBits) : 1
  if (isMeasure(algorithm)) throw new Error(`The join by ${algorithm} is none of sketches`)
  if (algorithm === 'identical') return { recall, pairsWithoutText: 0 }
  const acceptance = acceptanceTable(request, algorithm)
  const shingles = new SetFeatures(source, analyzer, 'shingles')
  let pairsWithoutText = 0
  joinSketches(
    source.snapshot.sketches,
    {
      minSupershingles: usesSupershingles(algorithm, site) ? thresholds.minSupershingles : null,
      bands: usesBands(algorithm, site),
      acceptance,
    },
    (a, b, bSimilarity, cSimilarity) => {
      if (asksForResemblance(request, bSimilarity)) {
        const [ofA, ofB] = [shingles.of(a), shingles.of(b)]
        const value = ofA === null || ofB === null ? null : resemblance(ofA, ofB).value
        if (value === null) pairsWithoutText++
        if (!isResemblanceEnough(value, request)) return
      }
      const sites = acceptance[acceptanceAt(bSimilarity, cSimilarity)] as number
      add({ a, b, bSimilarity, cSimilarity, sites, similarity: null })
    },
    report,
  )
  return { recall, pairsWithoutText }
}

/** On which sites two documents are near-duplicates, by the similarities of their sketches. */
const acceptanceTable = ({ thresholds, site }: JoinRequest, algorithm: Algorithm): Uint8Array => {
  const table = new Uint8Array(acceptanceSize)
  for (let bSimilarity = 0; bSimilarity <= supershingleCount; bSimilarity++)
    for (let cSimilarity = 0; cSimilarity <= simhashBits; cSimilarity++) {
      const accepts = (sameSite: boolean) =>
        decide(algorithm, { bSimilarity, cSimilarity, sameSite, identical: false }, thresholds)
      table[acceptanceAt(bSimilarity, cSimilarity)] =
        (site !== 'different' && accepts(true) ? pairsOnSameSite : 0) |
        (site !== 'same' && accepts(false) ? pairsOnDifferentSites : 0)
    }
  return table
}

/** Two pages with a common supershingle have common shingles, which is all that site-aware wants by itself. */
const asksForResemblance = ({ algorithm, minResemblance }: JoinRequest, bSimilarity: number): boolean =>
  minResemblance === null ? algorithm === 'site-aware' && bSimilarity === 0 : minResemblance > 0
