import { canonicalCriteria, type JobRequest } from '../service/job-service.ts'
import { parseJson } from './body.ts'
import { pairOptions } from './duplicates-query.ts'
import { NewClusters, NewJoin } from './schema/job.ts'
import { bodyError, bodyValidator } from './validation.ts'

const validateJoin = bodyValidator(NewJoin)
const validateClusters = bodyValidator(NewClusters)

/** A job from the bytes of its JSON object, with all defaults. Throws `invalid_body` or `algorithm_not_available`. */
export const jobFromJson = (bytes: Buffer): JobRequest => {
  const value = parseJson(bytes)
  const kind = typeof value === 'object' && value !== null ? Reflect.get(value, 'kind') : undefined
  if (kind === 'clusters') {
    const { job, linkage = 'components', policy = canonicalCriteria } = validateClusters(value)
    return { kind, job, linkage, policy }
  }
  if (kind !== undefined && kind !== 'join') throw bodyError('/kind', 'must be one of join, clusters')
  const { kind: _kind, ...query } = validateJoin(value)
  const options = pairOptions(query, ['minResemblance', 'site'], (name, detail) =>
    bodyError(`/${name}`, detail),
  )
  return { kind: 'join', ...options }
}
