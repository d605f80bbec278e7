import { decodeBytes } from './charset.ts'
import { extractHtml } from './html.ts'
import { extractPlainText } from './text.ts'

/**
 * A page as it came in: characters; bytes with the Content-Type that the server sent for them; or, as `json`, the
 * inside of a JSON string in UTF-8, without its quotes and still escaped.
 */
export type PageContent =
  | { readonly kind: 'html' | 'text'; readonly characters: string }
  | { readonly kind: 'html' | 'text'; readonly bytes: Uint8Array; readonly contentType: string | null }
  | { readonly kind: 'html' | 'text'; readonly bytes: Uint8Array; readonly form: 'json' }

/**
 * Page text (see text.ts) and title of a page; a plain text has no title. `url` is where the page came from. Throws a
 * SyntaxError or TypeError where a `json` content is none.
 */
export function readPage(content: PageContent, url: string | null): { text: string; title: string | null } {
  const characters = charactersOf(content)
  if (content.kind === 'html') return extractHtml(characters, url)
  return { text: extractPlainText(characters), title: null }
}

/** The characters of a page. Throws as `readPage`. */
export function charactersOf(content: PageContent): string {
  if ('characters' in content) return content.characters
  if ('contentType' in content) return decodeBytes(content.bytes, content.contentType, content.kind)
  const inside = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content.bytes)
  const characters: unknown = JSON.parse(`"${inside}"`)
  if (typeof characters !== 'string') throw new TypeError('Not the inside of one string')
  return characters
}
