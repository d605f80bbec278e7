import { expect } from 'vitest'
import { analyze } from '../../src/analysis/analyze.ts'
import { createKernel, type Kernel, type KernelInput } from '../../src/kernel/kernel.ts'
import type { Signature } from '../../src/signature/signature.ts'
import type { HashKey } from '../../src/signature/siphash.ts'

type Tokenizer = KernelInput['tokenizer']
export type Page = {
  readonly characters: string
  readonly kind: 'html' | 'text'
  readonly url: string | null
  readonly tokenizer: Tokenizer
}

/** A kernel, or an error where WebAssembly has no SIMD: without it these tests would say nothing. */
export const newKernel = (hashKey: HashKey | null = null): Kernel => {
  const kernel = createKernel(hashKey)
  if (kernel === null) throw new Error('no WebAssembly SIMD here')
  return kernel
}

/** Everything that comes of a page, in a form that prints well. */
export type Outcome = {
  readonly text: string
  readonly title: string | null
  readonly tokens: string
  readonly contentHash: string
  readonly signature: string | null
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const hexOfWords = (words: Uint32Array): string =>
  hex(new Uint8Array(words.buffer, words.byteOffset, words.byteLength))

const hexOfSignature = (signature: Signature | null): string | null =>
  signature === null ? null : `${hex(signature.supershingles)} ${hex(signature.simhash)}`

/** What the readable TypeScript makes of a page. */
export const referenceOutcome = (
  { characters, kind, url, tokenizer }: Page,
  key: HashKey | null = null,
): Outcome => {
  const hashSeed = key === null ? null : { key, check: '' }
  const page = analyze({ url, content: { kind, characters } }, { tokenizer, siteRule: 'dots', hashSeed })
  return {
    text: page.text,
    title: page.title,
    tokens: `${hexOfWords(page.tokens.low)} ${hexOfWords(page.tokens.high)}`,
    contentHash: hex(page.contentHash),
    signature: hexOfSignature(page.signature),
  }
}

/** What the kernel makes of bytes, or the fault it finds. */
export const kernelOutcome = (kernel: Kernel, input: KernelInput): Outcome | { fault: string } => {
  const page = kernel.analyze(input)
  if ('fault' in page) return page
  const tokens = kernel.tokens()
  return {
    text: Buffer.from(page.textBytes).toString(),
    title: page.title,
    tokens: `${hexOfWords(tokens.low)} ${hexOfWords(tokens.high)}`,
    contentHash: hex(page.contentHash),
    signature: hexOfSignature(page.signature),
  }
}

/** Asserts that the kernel, made with the key, makes the same of a page, as UTF-8 and as the inside of a JSON string. */
export const expectSame = (kernel: Kernel, page: Page, key: HashKey | null = null): void => {
  const { characters, ...rest } = page
  const expected = referenceOutcome(page, key)
  expect(kernelOutcome(kernel, { ...rest, form: 'utf8', bytes: Buffer.from(characters) })).toEqual(expected)
  const escaped = Buffer.from(JSON.stringify(characters).slice(1, -1))
  expect(kernelOutcome(kernel, { ...rest, form: 'json', bytes: escaped })).toEqual(expected)
}

/** The same for both tokenizers. */
export const expectSameByBoth = (kernel: Kernel, page: Omit<Page, 'tokenizer'>): void => {
  for (const tokenizer of ['literal', 'practical'] as const) expectSame(kernel, { ...page, tokenizer })
}
