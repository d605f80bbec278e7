import { expect, test } from 'vitest'
import { Contract, type FuzzAnswer, readApi } from './contract.ts'

const problem = {
  type: '/problems/invalid_parameter',
  title: 'A parameter is not valid',
  status: 400,
  detail: 'The parameter limit must be a whole number',
  instance: 'urn:request:1',
  code: 'invalid_parameter',
}

const answer = (changes: Partial<Omit<FuzzAnswer, 'body'>> & { readonly body?: unknown }): FuzzAnswer => {
  const { body = problem, ...rest } = changes
  return {
    status: 400,
    type: 'application/problem+json',
    headers: { 'x-request-id': '1' },
    ...rest,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

const health = { status: 200, type: 'application/json', body: { status: 'ok' } }
const lines = { status: 200, type: 'application/x-ndjson' }
const ready = { ...problem, status: 503 }

test.each([
  ['GET', '/health/live', answer(health), null],
  ['GET', '/documents?limit=x', answer({}), null],
  ['POST', '/documents', answer({ ...lines, body: '{}\n{}\n' }), null],
  ['GET', '/health/ready', answer({ status: 503, body: ready }), null],
  ['GET', '/health/live', answer({ ...health, headers: {} }), /no x-request-id/],
  ['GET', '/health/live', answer({ ...health, body: { status: 'ok', more: 1 } }), /schema/],
  ['GET', '/health/live', answer({ ...health, body: 'ok' }), /schema/],
  ['GET', '/health/live', answer({ ...health, type: 'text/html' }), /not published/],
  ['GET', '/health/live', answer({ status: 503, body: ready }), /not published/],
  ['GET', '/documents', answer({ status: 500, body: { ...problem, status: 500 } }), /failed/],
  ['GET', '/documents', answer({ status: 404 }), /another status/],
  ['GET', '/documents', answer({ type: 'text/plain' }), /for a problem/],
  ['GET', '/documents', answer({ body: { message: 'no' } }), /no problem/],
  ['GET', '/documents', answer({ body: { ...problem, detail: 'at f (/dist/main.js:1)' } }), /inside/],
  ['POST', '/documents', answer({ ...lines, body: '{}\n{' }), /not JSON/],
])(
  '%s %s: a broken promise of an answer is told from a kept one (%#)',
  async (method, path, given, broken) => {
    const contract = new Contract(await readApi())
    const found = contract.brokenPromise({ method, path }, given)
    if (broken === null) expect(found).toBeNull()
    else expect(found).toMatch(broken)
  },
)
