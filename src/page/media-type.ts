const kinds: ReadonlyMap<string, 'html' | 'text'> = new Map([
  ['text/html', 'html'],
  ['application/xhtml+xml', 'html'],
  ['text/plain', 'text'],
])

/** The media types of pages. */
export const pageTypes: readonly string[] = [...kinds.keys()]

/** `type/subtype` of a Content-Type, in lower case. */
export const mediaTypeOf = (contentType: string): string =>
  contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** How a page of this media type is read; null where it is none of `pageTypes`. */
export const kindOfPage = (mediaType: string): 'html' | 'text' | null => kinds.get(mediaType) ?? null
