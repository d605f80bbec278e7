/**
 * What a server costs that does none of the work: it reads the body of POST /documents as bytes and drops it,
 * or parses each line of an NDJSON body by JSON.parse and answers a line for it. For bench/ingest.ts.
 */
import { Readable } from 'node:stream'
import { fastify } from 'fastify'

const app = fastify({ bodyLimit: 2 ** 30 })
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => done(null, payload))
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

const parseLines = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let start: Buffer[] = []
  for await (const chunk of body) {
    let from = 0
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      start.push(chunk.subarray(from, to))
      const { id } = JSON.parse(Buffer.concat(start).toString())
      yield `${JSON.stringify({ id, status: 'created' })}\n`
      start = []
      from = to + 1
    }
    start.push(chunk.subarray(from))
  }
}

app.post('/documents', async (request, reply) => {
  if (request.headers['content-type'] !== 'application/x-ndjson') return { status: 'created' }
  return reply.type('application/x-ndjson').send(Readable.from(parseLines(request.body as Readable)))
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`The baseline is ready: ${url}\n`)
