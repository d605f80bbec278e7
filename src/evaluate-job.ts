import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DittographError } from './errors.ts'
import { type EvaluatedJob, jobReport } from './evaluation/job-report.ts'

export type EvaluateJobOptions = {
  /** Of a service that runs. */
  readonly url: string
  /** Id of a join. */
  readonly job: string
  readonly apiKey: string | null
  readonly title: string
  /** Directory of the report. */
  readonly out: string
}

/**
 * Reads the evaluation and the statistics of a join from a running service and writes the report; returns one line about it.
 * Throws `invalid_configuration` where the service does not answer with them.
 */
export const evaluateRemoteJob = async ({
  url,
  job,
  apiKey,
  title,
  out,
}: EvaluateJobOptions): Promise<string> => {
  const read = async (path: string): Promise<unknown> => {
    const refuse = (detail: string, cause?: unknown) =>
      new DittographError('invalid_configuration', `${url}: ${detail}`, { cause })
    const headers: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
    let response: Response
    try {
      response = await fetch(new URL(path, url.endsWith('/') ? url : `${url}/`), { headers })
    } catch (cause) {
      throw refuse('the service does not answer', cause)
    }
    const answer = (await response.json().catch(() => null)) as { detail?: string } | null
    if (!response.ok || answer === null) throw refuse(answer?.detail ?? `status ${response.status}`)
    return answer
  }
  const path = `jobs/${encodeURIComponent(job)}`
  const { id, request } = (await read(path)) as Pick<EvaluatedJob, 'id' | 'request'>
  const evaluation = (await read(`${path}/evaluation`)) as EvaluatedJob['evaluation']
  const statistics = (await read(`${path}/statistics`)) as EvaluatedJob['statistics']
  await mkdir(out, { recursive: true })
  for (const [name, content] of jobReport({ title, id, request, evaluation, statistics }))
    await writeFile(join(out, name), content)
  const { pairs, unjudged, precision } = evaluation.precision.all
  const share = precision.value === null ? 'nothing is judged yet' : `precision ${precision.value.toFixed(3)}`
  return `${pairs} pairs, ${pairs - unjudged} judged: ${share}`
}
