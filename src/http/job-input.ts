import { isMeasure } from '../join/measure.ts'
import { canonicalCriteria, type JobRequest } from '../service/job-service.ts'
import { parseJson } from './body.ts'
import { type OptionSource, pairOptions } from './duplicates-query.ts'
import { NewClusters, NewJoin } from './schema/job.ts'
import { bodyError, bodyValidator } from './validation.ts'

const validateJoin = bodyValidator(NewJoin)
const validateClusters = bodyValidator(NewClusters)

const optionSource: OptionSource = {
  common: ['minResemblance', 'site'],
  refuse: (name, detail) => bodyError(`/${name}`, detail),
}

/** A job from the bytes of its JSON object, with all defaults; `leastThreshold` is for the exact measures. Throws `invalid_body`. */
export const jobFromJson = (bytes: Buffer, leastThreshold: number): JobRequest => {
  const value = parseJson(bytes)
  const kind = typeof value === 'object' && value !== null ? Reflect.get(value, 'kind') : undefined
  if (kind === 'clusters') {
    const { job, linkage = 'components', policy = canonicalCriteria } = validateClusters(value)
    return { kind, job, linkage, policy }
  }
  if (kind !== undefined && kind !== 'join') throw bodyError('/kind', 'must be one of join, clusters')
  const { kind: _kind, ...query } = validateJoin(value)
  const options = pairOptions(query, leastThreshold, optionSource)
  const { algorithm, thresholds, minResemblance, site } = options
  const exact = isMeasure(algorithm) ? options.exact : null
  return { kind: 'join', algorithm, thresholds, exact, minResemblance, site }
}
