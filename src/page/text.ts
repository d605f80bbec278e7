/**
 * The page text: what is kept of a page, and all that tokenization needs, so that the text in the database gives the
 * same terms again.
 *
 * - A break ('\n') stands where markup, or a line end of a plain text, separates; a blank (' ') where only white
 *   space did. Neither follows another one, begins the text or ends it.
 * - U+FFFC and the word after it, between breaks, are an image: the word is one term whatever characters it holds.
 *   The page's own U+FFFC becomes a blank.
 * - There is no NUL, and no half surrogate pair (both become nothing and U+FFFD), so the text survives UTF-8.
 */
export class PageTextWriter {
  #text = ''
  #gap = ''

  /** Adds characters of the page; its white space (tab, line feed, form feed, carriage return, space) collapses. */
  append(characters: string): void {
    let start = 0
    for (let at = 0; at < characters.length; at++) {
      const unit = characters.charCodeAt(at)
      if (unit > SPACE && unit !== OBJECT_REPLACEMENT) continue
      if (unit === SPACE && at > start && isPlain(characters.charCodeAt(at + 1))) continue
      if (!isWhiteSpace(unit) && unit !== NUL && unit !== OBJECT_REPLACEMENT) continue
      this.#write(characters.slice(start, at))
      if (unit !== NUL && this.#gap === '') this.#gap = ' '
      start = at + 1
    }
    this.#write(characters.slice(start))
  }

  /** Separates what was added before from what will be added. */
  break(): void {
    this.#gap = '\n'
  }

  /** Adds an image by its term, which holds no white space. */
  image(term: string): void {
    this.break()
    this.#write(imageMark + term)
    this.break()
  }

  /** The page text so far. */
  text(): string {
    return this.#text
  }

  #write(characters: string): void {
    if (characters === '') return
    if (this.#text !== '') this.#text += this.#gap
    this.#text += characters
    this.#gap = ''
  }
}

/** Begins the term of an image. */
export const imageMark = '\uFFFC'

/** The page text of a plain text document: every line end is a break. */
export function extractPlainText(text: string): string {
  const writer = new PageTextWriter()
  const lines = wellFormed(text).replaceAll('\r', '\n')
  let start = 0
  while (start < lines.length) {
    const lineEnd = lines.indexOf('\n', start)
    const end = lineEnd < 0 ? lines.length : lineEnd
    writer.append(lines.slice(start, end))
    writer.break()
    start = end + 1
  }
  return writer.text()
}

/** `text` with U+FFFD for each half of a surrogate pair that stands alone. */
export function wellFormed(text: string): string {
  // Under the u flag a pair is one character, so this class finds lone halves only.
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

/** White space of HTML: tab, line feed, form feed, carriage return, space. */
export function isWhiteSpace(unit: number): boolean {
  return unit === SPACE || unit === 0x0a || unit === 0x09 || unit === 0x0d || unit === 0x0c
}

const NUL = 0x00
const SPACE = 0x20
const OBJECT_REPLACEMENT = 0xfffc

/** False for NaN too, which charCodeAt returns behind the end. */
function isPlain(unit: number): boolean {
  return unit > SPACE && unit !== OBJECT_REPLACEMENT
}
