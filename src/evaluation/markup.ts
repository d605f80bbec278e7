/** A text as content or attribute of XML. Characters that XML does not know at all are left out. */
export const escapeMarkup = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** A text inside a line of Markdown, where nothing of it is markup. */
export const escapeMarkdown = (text: string): string =>
  escapeMarkup(text.replaceAll(/\s+/g, ' ')).replaceAll(/[\\`*_{}[\]|#~]/g, (character) => `\\${character}`)

/** A Markdown table; the first column is text and the others numbers. Cells are taken as Markdown. */
export const markdownTable = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map((_, i) => (i === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
