const mostTerms = 100_000
const mostCharacters = 1_048_576

/**
 * Bounds the terms that one answer shows, as a page of 16 MiB can have millions of them: 100,000, and together
 * 1,048,576 characters.
 */
export class ShownTerms {
  #termsLeft = mostTerms
  #charactersLeft = mostCharacters
  #isTruncated = false

  /** Whether terms were left out; after the first one all are. */
  get isTruncated(): boolean {
    return this.#isTruncated
  }

  /** The first of the terms, as many as there is room left for. */
  take(terms: readonly string[]): string[] {
    const shown: string[] = []
    for (const term of terms) {
      this.#termsLeft -= 1
      this.#charactersLeft -= term.length
      if (this.#termsLeft < 0 || this.#charactersLeft < 0) this.#isTruncated = true
      if (this.#isTruncated) break
      shown.push(term)
    }
    return shown
  }
}
