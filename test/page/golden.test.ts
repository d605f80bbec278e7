import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { extractHtml } from '../../src/page/html.ts'
import { sameSite, siteOf } from '../../src/page/site.ts'
import { tokenize } from '../../src/page/token.ts'

type Case = { readonly id: string; readonly expect: unknown; readonly accept?: readonly unknown[] } & (
  | { readonly type: 'tokens'; readonly input: { readonly html: string; readonly url: string } }
  | { readonly type: 'site'; readonly input: { readonly url: string } }
  | { readonly type: 'same_site'; readonly input: { readonly a: string; readonly b: string } }
)

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../golden/tokens.json', import.meta.url), 'utf8'),
)

function outcome(golden: Case): unknown {
  switch (golden.type) {
    case 'tokens':
      return tokenize(extractHtml(golden.input.html, golden.input.url).text, 'literal')
    case 'site':
      return siteOf(golden.input.url, 'dots')
    case 'same_site':
      return sameSite(siteOf(golden.input.a, 'dots'), siteOf(golden.input.b, 'dots'))
  }
}

describe('golden cases under the rules of the paper (literal, dots)', () => {
  test.each(cases)('$id comes out as stated', (golden) => {
    // `accept` lists what is right as well where the paper leaves the choice open.
    expect([golden.expect, ...(golden.accept ?? [])]).toContainEqual(outcome(golden))
  })
})
