import { decodeBytes } from './charset.ts'
import { extractHtml } from './html.ts'
import { extractPlainText } from './text.ts'

/** A page as it came in: characters, or bytes with the Content-Type that the server sent for them. */
export type PageContent =
  | { readonly kind: 'html' | 'text'; readonly characters: string }
  | { readonly kind: 'html' | 'text'; readonly bytes: Uint8Array; readonly contentType: string | null }

/** Page text (see text.ts) and title of a page; a plain text has no title. `url` is where the page came from. */
export function readPage(content: PageContent, url: string | null): { text: string; title: string | null } {
  const characters =
    'characters' in content
      ? content.characters
      : decodeBytes(content.bytes, content.contentType, content.kind)
  if (content.kind === 'html') return extractHtml(characters, url)
  return { text: extractPlainText(characters), title: null }
}
