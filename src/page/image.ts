import { parseUrl, plainHost } from './url.ts'

/**
 * The longest term of an image, and the longest base URL that is used: without bounds, a page that repeats a short
 * image address under a long base, or a long data URL, would make terms of any size.
 */
const MAX_TERM = 1024
const MAX_BASE = 512
const MAX_HEAD = 100

/** A page's own host, and what the addresses of its images are relative to. */
export type ImageContext = { readonly host: string; readonly base: URL }

// A page without a known URL gets a host that no image has, so relative addresses are its own and others are not.
const unknownPage: ImageContext = { host: 'page.invalid', base: new URL('http://page.invalid/') }

/** The context of a page without `<base>`. */
export function imageContext(pageUrl: string | null): ImageContext {
  const url = pageUrl === null ? null : parseUrl(pageUrl)
  const host = url === null ? null : plainHost(url)
  if (url === null || host === null) return unknownPage
  return { host, base: url.href.length > MAX_BASE ? new URL('/', url) : url }
}

/**
 * The context after `<base href>`: it resolves addresses and leaves the page's host as it is. It is passed over where
 * it is no URL or too long, and where the page's URL is unknown: a relative address then stays a file name.
 */
export function withBase(context: ImageContext, href: string): ImageContext {
  if (context === unknownPage || href.length > MAX_BASE) return context
  const base = parseUrl(href, context.base)
  return base === null || base.href.length > MAX_BASE ? context : { host: context.host, base }
}

/**
 * The one term that an image counts as (Henzinger 2006, section 2), or null: the whole absolute URL without fragment
 * where the image is on another host, only the file name (last path segment, no query) where it is on the page's own.
 * White space is percent-encoded. A term over 1,024 characters, mostly a data URL, is replaced by its head, length
 * and a 32-bit hash.
 */
export function imageTerm(src: string, context: ImageContext): string | null {
  if (src.trim() === '') return null
  const url = parseUrl(src, context.base)
  if (url === null) return null
  const term = plainHost(url) === context.host ? fileName(url) : wholeUrl(url)
  // The URL standard leaves blanks inside the path of data: and other opaque URLs.
  return term === '' ? null : bounded(term).replaceAll(' ', '%20')
}

function fileName(url: URL): string {
  return url.pathname.slice(url.pathname.lastIndexOf('/') + 1)
}

function wholeUrl(url: URL): string {
  url.hash = ''
  return url.href
}

function bounded(term: string): string {
  if (term.length <= MAX_TERM) return term
  const comma = term.indexOf(',')
  const head = term.slice(0, comma < 0 ? MAX_HEAD : Math.min(comma, MAX_HEAD))
  return `${head},${term.length}-${fnv1a(term).toString(16).padStart(8, '0')}`
}

/** FNV-1a, 32 bits, of a text in ASCII. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
