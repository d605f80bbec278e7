import { setTimeout } from 'node:timers/promises'
import { DittographError, type ErrorCode, errorDefinitions } from '../errors.ts'
import type { DocumentInput, StoredDocument } from '../service/service.ts'

const mostAttempts = 60
const longestWaitMs = 30_000

const contentOf = ({ content, url }: DocumentInput['page']): object => {
  const common = url === null ? {} : { url }
  if ('characters' in content) return { ...common, [content.kind]: content.characters }
  const bytes = Buffer.from(content.bytes.buffer, content.bytes.byteOffset, content.bytes.byteLength)
  // The inside of a JSON string, as a line of NDJSON had it.
  if ('form' in content) return { ...common, [content.kind]: JSON.parse(`"${bytes.toString('utf8')}"`) }
  return { ...common, contentBase64: bytes.toString('base64'), contentType: content.contentType }
}

const lineOf = ({ id, page, fetchedAt, metadata }: DocumentInput): string =>
  JSON.stringify({
    ...(id === null ? {} : { id }),
    ...contentOf(page),
    ...(fetchedAt === null ? {} : { fetchedAt }),
    ...(metadata === null ? {} : { metadata }),
  })

type Answer = StoredDocument | { readonly status: number; readonly code: string; readonly detail: string }

const resultOf = (answer: Answer): StoredDocument | DittographError => {
  if (typeof answer.status !== 'number') return answer as StoredDocument
  const { code, detail } = answer as Exclude<Answer, StoredDocument>
  return new DittographError(
    Object.hasOwn(errorDefinitions, code) ? (code as ErrorCode) : 'invalid_body',
    detail,
  )
}

/**
 * Stores documents by a service that is running: the same results as its own `store`. A service that is
 * overloaded, or has had too many requests by this key, is asked again, up to 60 times. Throws `invalid_configuration` where nobody answers as one.
 */
export const storeRemotely =
  (service: string, apiKey: string | null) =>
  async (inputs: readonly DocumentInput[]): Promise<readonly (StoredDocument | DittographError)[]> => {
    const target = new URL('documents', service.endsWith('/') ? service : `${service}/`)
    const body = inputs.map((input) => `${lineOf(input)}\n`).join('')
    for (let attempt = 1; ; attempt++) {
      const refuse = (detail: string, cause?: unknown) =>
        new DittographError('invalid_configuration', `${target.origin}: ${detail}`, { cause })
      let response: Response
      let text: string
      try {
        const headers = {
          'content-type': 'application/x-ndjson',
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        }
        response = await fetch(target, { method: 'POST', headers, body })
        text = await response.text()
      } catch (cause) {
        throw refuse('the service does not answer', cause)
      }
      if ([429, 503].includes(response.status) && attempt < mostAttempts) {
        const seconds = Number(response.headers.get('retry-after') ?? 1)
        await setTimeout(Math.min(longestWaitMs, 1000 * (Number.isFinite(seconds) ? seconds : 1)))
        continue
      }
      if (response.status === 401)
        throw refuse('the service needs an API key that it knows: set DITTOGRAPH_API_KEY, or --api-key-file')
      if (response.status !== 200) throw refuse(`the service answered with status ${response.status}`)
      const lines = text.trimEnd().split('\n')
      if (lines.length !== inputs.length + 1) throw refuse('the answer of the service broke off')
      return lines.slice(0, -1).map((line) => resultOf(JSON.parse(line)))
    }
  }
