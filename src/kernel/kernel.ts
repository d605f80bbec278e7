import { decodeHTMLAttribute } from 'entities/decode'
import { type ImageContext, imageContext, imageTerm, withBase } from '../page/image.ts'
import { MAX_TERMS, tokenize } from '../page/token.ts'
import { plainHost } from '../page/url.ts'
import { fingerprintTerms } from '../signature/fingerprint.ts'
import type { Signature, TokenFingerprints } from '../signature/signature.ts'
import type { HashKey } from '../signature/siphash.ts'
import { type CharacterTable, characterTable } from './character-table.ts'
import { kernelModule } from './module.ts'
import { type NamedReference, namedReferences } from './references.ts'

/** The greatest page, in bytes as it comes in; a greater one is a fault, and the caller takes the readable version. */
export const MAX_KERNEL_BYTES = 64 * 1024 * 1024

/** Memory cannot shrink, so a kernel that needed more than this for a page is made anew before the next one. */
const KEPT_MEMORY_BYTES = 64 * 1024 * 1024

type Tokenizer = 'literal' | 'practical'

/** A page as it came in. */
export type KernelInput = {
  /** UTF-8 without byte order mark. They are copied at once and may lie in shared memory. */
  readonly bytes: Uint8Array
  /** `json`: the bytes are the inside of a JSON string literal, without its quotes and still escaped. */
  readonly form: 'utf8' | 'json'
  readonly kind: 'html' | 'text'
  readonly url: string | null
  readonly tokenizer: Tokenizer
}

/**
 * Why a page was not read: its bytes are not UTF-8 (the caller decodes them and comes again), or no JSON string (an
 * invalid escape, a quotation mark or a control character), it has more than MAX_TERMS tokens, or it is greater than
 * MAX_KERNEL_BYTES or needs more than 1 GiB of memory.
 */
type KernelFault = { readonly fault: 'invalid-utf8' | 'invalid-json' | 'too-many-tokens' | 'too-large' }

type KernelReading = {
  /** The page text in UTF-8: a view of the kernel's memory, which holds until its next call. */
  readonly textBytes: Uint8Array
  readonly title: string | null
  readonly tokenCount: number
}

type KernelSketches = {
  /** 16 bytes, the caller's own. */
  readonly contentHash: Uint8Array
  /** The caller's own; null for a page without tokens. */
  readonly signature: Signature | null
}

/**
 * The chain of src/analysis/analyze.ts in WebAssembly, bit for bit. It works on one page at a time and is not for
 * several threads; two kernels do not know of each other. A call replaces what the one before left.
 */
export type Kernel = {
  /** From a page to its signature. Linear in the size of the page. */
  analyze(input: KernelInput): (KernelReading & KernelSketches) | KernelFault
  /** The first half of `analyze`, for a page of which only the tokens are wanted. */
  read(input: KernelInput): KernelReading | KernelFault
  /** Reads a page text as it was kept; returns the number of its tokens. At most MAX_KERNEL_BYTES, else a fault. */
  analyzeText(textBytes: Uint8Array, tokenizer: Tokenizer): { readonly tokenCount: number } | KernelFault
  /** Fingerprints of the tokens that were read last: the caller's own copies. */
  tokens(): TokenFingerprints
  /** Content hash and signature of any tokens. */
  sign(tokens: TokenFingerprints): KernelSketches
}

type Exports = {
  readonly memory: WebAssembly.Memory
  readonly RESULT: WebAssembly.Global
  readonly REFERENCE_NAMES: WebAssembly.Global
  readonly CHARACTER_INDEX: WebAssembly.Global
  readonly CHARACTER_BLOCKS: WebAssembly.Global
  readonly EXPANSIONS: WebAssembly.Global
  readonly HOST: WebAssembly.Global
  readonly MAX_HOST: WebAssembly.Global
  readonly textStart: WebAssembly.Global
  readonly textEnd: WebAssembly.Global
  readonly titleStart: WebAssembly.Global
  readonly titleEnd: WebAssembly.Global
  readonly tokenCount: WebAssembly.Global
  readonly lowTokens: WebAssembly.Global
  readonly highTokens: WebAssembly.Global
  initialize(): void
  addReference(at: number): void
  setHashKey(first: bigint, second: bigint): void
  setImageContext(hostLength: number, baseIsHttp: number, baseIsOwn: number): void
  place(length: number): number
  readPage(
    at: number,
    length: number,
    isJson: number,
    isHtml: number,
    practical: number,
    mostTokens: number,
  ): number
  readText(at: number, length: number, practical: number): void
  placeTokens(count: number): void
  sign(count: number): void
}

type Tables = {
  readonly module: WebAssembly.Module
  readonly characters: CharacterTable
  readonly references: readonly NamedReference[]
}

const faults = ['invalid-utf8', 'invalid-json', 'too-many-tokens'] as const

/** Made once: they take some 60 ms. */
const tables: Tables | null =
  kernelModule === null
    ? null
    : { module: kernelModule, characters: characterTable(), references: namedReferences() }

/**
 * A kernel of its own, with about 2 MiB of memory, which hashes terms under the key, if there is one; null where
 * WebAssembly has no SIMD here.
 */
export function createKernel(hashKey: HashKey | null = null): Kernel | null {
  return tables === null ? null : new WasmKernel(tables, hashKey)
}

class WasmKernel implements Kernel {
  readonly #tables: Tables
  readonly #hashKey: HashKey | null
  #instance: Instance

  constructor(tables: Tables, hashKey: HashKey | null) {
    this.#tables = tables
    this.#hashKey = hashKey
    this.#instance = new Instance(tables, hashKey)
  }

  analyze(input: KernelInput): (KernelReading & KernelSketches) | KernelFault {
    return this.#guarded(input.bytes, () => {
      const fault = this.#instance.readPage(input)
      return fault ?? { ...this.#instance.reading(), ...this.#instance.sketches() }
    })
  }

  read(input: KernelInput): KernelReading | KernelFault {
    return this.#guarded(input.bytes, () => this.#instance.readPage(input) ?? this.#instance.reading())
  }

  analyzeText(textBytes: Uint8Array, tokenizer: Tokenizer): { tokenCount: number } | KernelFault {
    return this.#guarded(textBytes, () => ({ tokenCount: this.#instance.readText(textBytes, tokenizer) }))
  }

  tokens(): TokenFingerprints {
    return this.#instance.tokens()
  }

  sign(tokens: TokenFingerprints): KernelSketches {
    this.#instance.placeTokens(tokens)
    return this.#instance.sketches()
  }

  /** Refuses what is too large, before or when memory runs out. */
  #guarded<Result>(bytes: Uint8Array, call: () => Result): Result | KernelFault {
    if (bytes.length > MAX_KERNEL_BYTES) return { fault: 'too-large' }
    if (this.#instance.memoryBytes > KEPT_MEMORY_BYTES)
      this.#instance = new Instance(this.#tables, this.#hashKey)
    try {
      return call()
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error
      this.#instance = new Instance(this.#tables, this.#hashKey)
      return { fault: 'too-large' }
    }
  }
}

/** One instance of the module, with the reference implementation behind it for what it does not do itself. */
class Instance {
  readonly #exports: Exports
  #memory: Buffer
  #url: string | null = null
  #images: ImageContext = imageContext(null)
  #tokenizer: Tokenizer = 'literal'
  readonly #hashKey: HashKey | null
  #tokenCount = 0

  constructor({ module, characters, references }: Tables, hashKey: HashKey | null) {
    this.#hashKey = hashKey
    const instance = new WebAssembly.Instance(module, {
      image: {
        openImageContext: () => this.#openImageContext(),
        resolveImage: (at: number, length: number, to: number) => this.#resolveImage(at, length, to),
        resolveBase: (at: number, length: number) => this.#resolveBase(at, length),
      },
      token: {
        tokenizeChunk: (at: number, length: number, low: number, high: number, room: number) =>
          this.#tokenizeChunk(at, length, low, high, room),
      },
    })
    this.#exports = instance.exports as Exports
    this.#memory = Buffer.from(this.#exports.memory.buffer)
    this.#exports.initialize()
    if (hashKey !== null) this.#exports.setHashKey(...wordsOf(hashKey))
    this.#writeCharacters(characters)
    this.#writeReferences(references)
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength
  }

  readPage({ bytes, form, kind, url, tokenizer }: KernelInput): KernelFault | null {
    this.#url = url
    this.#tokenizer = tokenizer
    this.#tokenCount = 0
    const at = this.#place(bytes)
    const status = this.#exports.readPage(
      at,
      bytes.length,
      Number(form === 'json'),
      Number(kind === 'html'),
      Number(tokenizer === 'practical'),
      MAX_TERMS,
    )
    if (status !== 0) return { fault: faults[status - 1] as KernelFault['fault'] }
    this.#tokenCount = this.#exports.tokenCount.value
    return null
  }

  readText(textBytes: Uint8Array, tokenizer: Tokenizer): number {
    this.#tokenizer = tokenizer
    const at = this.#place(textBytes)
    this.#exports.readText(at, textBytes.length, Number(tokenizer === 'practical'))
    this.#tokenCount = this.#exports.tokenCount.value
    return this.#tokenCount
  }

  /** What `readPage` read. */
  reading(): KernelReading {
    const { textStart, textEnd, titleStart, titleEnd } = this.#exports
    const memory = this.#currentMemory()
    return {
      textBytes: memory.subarray(textStart.value, textEnd.value),
      title:
        titleEnd.value > titleStart.value ? memory.toString('utf8', titleStart.value, titleEnd.value) : null,
      tokenCount: this.#tokenCount,
    }
  }

  tokens(): TokenFingerprints {
    const { low, high } = this.#tokenViews()
    return { low: low.slice(), high: high.slice() }
  }

  placeTokens({ low, high }: TokenFingerprints): void {
    this.#tokenCount = low.length
    this.#exports.placeTokens(low.length)
    const views = this.#tokenViews()
    views.low.set(low)
    views.high.set(high)
  }

  sketches(): KernelSketches {
    this.#exports.sign(this.#tokenCount)
    // +0 supershingles, +48 simhash, +96 content hash
    const result = this.#exports.RESULT.value
    const sketches = Uint8Array.prototype.slice.call(this.#currentMemory(), result, result + 112)
    const signature =
      this.#tokenCount === 0
        ? null
        : { supershingles: sketches.subarray(0, 48), simhash: sketches.subarray(48, 96) }
    return { contentHash: sketches.subarray(96), signature }
  }

  /** The memory as it is now: a view does not outlive its growth. */
  #currentMemory(): Buffer {
    const { buffer } = this.#exports.memory
    if (this.#memory.buffer !== buffer) this.#memory = Buffer.from(buffer)
    return this.#memory
  }

  #place(bytes: Uint8Array): number {
    const at = this.#exports.place(bytes.length)
    this.#currentMemory().set(bytes, at)
    return at
  }

  #tokenViews(): TokenFingerprints {
    const { memory, lowTokens, highTokens } = this.#exports
    return {
      low: new Uint32Array(memory.buffer, lowTokens.value, this.#tokenCount),
      high: new Uint32Array(memory.buffer, highTokens.value, this.#tokenCount),
    }
  }

  #openImageContext(): void {
    this.#setImageContext(imageContext(this.#url))
  }

  #resolveBase(at: number, length: number): void {
    this.#setImageContext(withBase(this.#images, this.#attribute(at, length)))
  }

  /** Tells the kernel by what it may name images itself. */
  #setImageContext(images: ImageContext): void {
    this.#images = images
    const { HOST, MAX_HOST } = this.#exports
    const { host, base } = images
    const known = host.length <= MAX_HOST.value
    if (known) this.#currentMemory().write(host, HOST.value, 'latin1')
    const baseIsHttp = base.protocol === 'http:' || base.protocol === 'https:'
    const baseIsOwn = baseIsHttp && plainHost(base) === host
    this.#exports.setImageContext(known ? host.length : 0, Number(baseIsHttp), Number(baseIsOwn))
  }

  #resolveImage(at: number, length: number, to: number): number {
    const term = imageTerm(this.#attribute(at, length), this.#images)
    return term === null ? 0 : this.#currentMemory().write(term, to, 'latin1')
  }

  /** As extractHtml reads it. */
  #attribute(at: number, length: number): string {
    const value = this.#currentMemory().toString('utf8', at, at + length)
    return decodeHTMLAttribute(value.replaceAll('\0', '\uFFFD'))
  }

  #tokenizeChunk(at: number, length: number, low: number, high: number, room: number): number {
    const chunk = this.#currentMemory().toString('utf8', at, at + length)
    const terms = tokenize(chunk, this.#tokenizer, room)
    if (terms.length > room) return -1
    const tokens = fingerprintTerms(terms, this.#hashKey)
    const { buffer } = this.#exports.memory
    new Uint32Array(buffer, low, terms.length).set(tokens.low)
    new Uint32Array(buffer, high, terms.length).set(tokens.high)
    return terms.length
  }

  #writeCharacters({ index, blocks, expansions }: CharacterTable): void {
    const { memory, CHARACTER_INDEX, CHARACTER_BLOCKS, EXPANSIONS, HOST } = this.#exports
    if (
      EXPANSIONS.value + expansions.byteLength > CHARACTER_BLOCKS.value ||
      CHARACTER_BLOCKS.value + blocks.byteLength > HOST.value
    ) {
      throw new RangeError(
        `no room for ${blocks.length} character properties, ${expansions.length} expansions`,
      )
    }
    new Uint16Array(memory.buffer, CHARACTER_INDEX.value).set(index)
    new Uint32Array(memory.buffer, CHARACTER_BLOCKS.value).set(blocks)
    new Uint32Array(memory.buffer, EXPANSIONS.value).set(expansions)
  }

  #writeReferences(references: readonly NamedReference[]): void {
    const { memory, REFERENCE_NAMES } = this.#exports
    const view = new DataView(memory.buffer)
    let at = REFERENCE_NAMES.value
    for (const { name, characters } of references) {
      // +0 length   +4 code point   +8 second code point or 0   +12 name
      view.setUint32(at, name.length, true)
      Array.from(characters, (character, i) => view.setUint32(at + 4 + 4 * i, codePointOf(character), true))
      this.#memory.write(name, at + 12, 'latin1')
      this.#exports.addReference(at)
      at += 12 + name.length
    }
  }
}

/** The two 64-bit halves of a key. */
function wordsOf(key: HashKey): [bigint, bigint] {
  const half = (at: number) => BigInt(key[at] as number) | (BigInt(key[at + 1] as number) << 32n)
  return [half(0), half(2)]
}

function codePointOf(character: string): number {
  return character.codePointAt(0) as number
}
