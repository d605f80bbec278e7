import {
  type DefaultTreeAdapterTypes as Dom,
  parse,
  html as parse5Html,
  type TokenHandler,
  Tokenizer,
  TokenizerMode,
} from 'parse5'

/** Stands for a break until white space is collapsed; no test input holds it. */
const BREAK = '\uE000'

const FORMATTING = new Set(
  (
    'abbr acronym b basefont bdi bdo big blink cite code data del dfn em font i ins kbd mark nobr q rb rp rt ruby s ' +
    'samp small span strike strong sub sup time tt u var wbr'
  ).split(' '),
)

const DROPPED_RAW = new Set(['noscript', 'iframe', 'noembed', 'noframes'])

/**
 * The page text of HTML without svg, math and images, from the token stream of parse5's tokenizer. Slow and plain: an
 * end tag is looked for in the rest of the document each time.
 */
export function textByTokenizer(html: string): string {
  let text = ''
  let dropped: string | null = null
  let templates = 0
  const closedLater = (name: string, from: number) =>
    new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'i').test(html.slice(from))
  const add = (characters: string) => {
    if (dropped === null && templates === 0) text += characters
  }
  const tagBreak = (name: string) => {
    if (!FORMATTING.has(name)) text += BREAK
  }
  const handler: TokenHandler = {
    onComment: () => tagBreak('!'),
    onDoctype: () => tagBreak('!'),
    onEof: () => {},
    onNullCharacter: () => {},
    onWhitespaceCharacter: ({ chars }) => add(chars),
    onCharacter: ({ chars }) => add(chars),
    onStartTag: ({ tagName, location }) => {
      const end = location?.endOffset ?? 0
      tagBreak(tagName)
      if (tagName === 'plaintext') tokenizer.state = TokenizerMode.PLAINTEXT
      if (tagName === 'script') tokenizer.state = TokenizerMode.SCRIPT_DATA
      if (tagName === 'style') tokenizer.state = TokenizerMode.RAWTEXT
      if (tagName === 'script' || tagName === 'style') dropped = tagName
      if (!closedLater(tagName, end)) return
      if (tagName === 'title' || tagName === 'textarea') tokenizer.state = TokenizerMode.RCDATA
      if (tagName === 'xmp' || DROPPED_RAW.has(tagName)) tokenizer.state = TokenizerMode.RAWTEXT
      if (DROPPED_RAW.has(tagName)) dropped = tagName
      if (tagName === 'template') templates++
    },
    onEndTag: ({ tagName, location }) => {
      dropped = null
      tagBreak(tagName)
      if (tagName !== 'template' || templates === 0) return
      templates = closedLater('template', location?.endOffset ?? 0) ? templates - 1 : 0
    },
  }
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, handler)
  tokenizer.write(html, true)
  return collapse(text)
}

/** The page text of a well-formed document without images, from the tree that parse5 builds as a browser would. */
export function textByTree(html: string): string {
  return collapse(textOf(parse(html, { scriptingEnabled: true })))
}

function textOf(node: Dom.Node): string {
  if (node.nodeName === '#text') return (node as Dom.TextNode).value
  if (!('childNodes' in node)) return BREAK
  if ('tagName' in node && isHidden(node)) return BREAK
  const inside = node.childNodes.map(textOf).join('')
  return FORMATTING.has(node.nodeName) ? inside : BREAK + inside + BREAK
}

function isHidden(element: Dom.Element): boolean {
  const { tagName, namespaceURI } = element
  if (namespaceURI === parse5Html.NS.SVG) return /^(title|desc|metadata|style|script)$/.test(tagName)
  return DROPPED_RAW.has(tagName) || /^(script|style|template)$/.test(tagName)
}

function collapse(text: string): string {
  return text
    .replaceAll('\uFFFC', ' ')
    .replace(/[\t\n\f\r ]*\uE000[\t\n\f\r \uE000]*/g, BREAK)
    .replace(/[\t\n\f\r ]+/g, ' ')
    .replaceAll(BREAK, '\n')
    .replace(/^[ \n]|[ \n]$/g, '')
}
