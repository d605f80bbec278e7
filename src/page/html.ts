import { decodeHTML, decodeHTMLAttribute } from 'entities'
import {
  beginsTagName,
  EndTagFinder,
  findCommentEnd,
  findScriptEnd,
  GREATER_THAN,
  orEnd,
  SLASH,
  TagReader,
} from './html-syntax.ts'
import { type ImageContext, imageContext, imageTerm, withBase } from './image.ts'
import { PageTextWriter, wellFormed } from './text.ts'

const MAX_TITLE = 1000

/** Text-level tags that leave nothing behind; every other tag is a break. */
const FORMATTING = words(`
  b i u s strike big small tt em strong dfn code samp kbd var cite abbr acronym sub sup font span basefont mark ins
  del bdo bdi nobr wbr blink q time data ruby rb rt rp`)

/** Tags that cannot stand inside svg or math: they end it (WHATWG "rules for parsing tokens in foreign content"). */
const ENDS_FOREIGN = words(`
  b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr
  ol p pre ruby s small span strong strike sub sup table tt u ul var`)

/** Elements of svg whose content is not shown. */
const HIDDEN_IN_SVG = words('title desc metadata style script')

/** Elements of svg that hold HTML again. */
const HTML_INSIDE = words('title desc foreignobject')

/** The one attribute of a tag that is read. */
const USED_ATTRIBUTE: ReadonlyMap<string, string> = new Map([
  ['img', 'src'],
  ['image', 'src'],
  ['base', 'href'],
])

/**
 * Page text (see text.ts) and title of an HTML document, read by the states of the WHATWG tokenizer. The title is the
 * text of the first HTML title, cut to 1,000 characters, or null. `pageUrl` tells own images from those of other
 * hosts. Takes time linear in the length of `html`, and memory that does not depend on how its tags nest.
 *
 * Not text: comments, attributes, script, style, noscript, iframe, noembed, noframes, template, and in svg title,
 * desc and metadata. An element of this kind, or title or textarea, that is closed nowhere is read as ordinary markup,
 * so that it does not take the rest of the page with it; script, style and comments end with the page, as in a browser.
 */
export function extractHtml(html: string, pageUrl: string | null): { text: string; title: string | null } {
  return new HtmlScanner(wellFormed(html), imageContext(pageUrl)).read()
}

class HtmlScanner {
  readonly #html: string
  readonly #writer = new PageTextWriter()
  readonly #tag: TagReader
  readonly #endTags: EndTagFinder
  #images: ImageContext
  #baseSeen = false
  #title: string | null = null

  #openTemplates = 0

  // How deep HTML and foreign content (svg, math) alternate: even is HTML, odd is foreign. Counters instead of a stack
  // of elements suffice, as nothing but CDATA, self-closing tags and the hidden elements of svg depends on them.
  #level = 0
  /** svg or math directly inside the svg or math of this level. */
  #nestedForeign = 0
  /** The hidden svg element that is open, and the level it stands on. */
  #hidden = ''
  #hiddenLevel = 0

  constructor(html: string, images: ImageContext) {
    this.#html = html
    this.#tag = new TagReader(html, USED_ATTRIBUTE)
    this.#endTags = new EndTagFinder(html)
    this.#images = images
  }

  read(): { text: string; title: string | null } {
    const html = this.#html
    for (let at = 0; at < html.length; ) {
      const lessThan = html.indexOf('<', at)
      if (lessThan < 0) {
        this.#text(at, html.length)
        break
      }
      if (this.#beginsMarkup(lessThan)) {
        this.#text(at, lessThan)
        at = this.#markup(lessThan)
      } else {
        this.#text(at, lessThan + 1)
        at = lessThan + 1
      }
    }
    return { text: this.#writer.text(), title: this.#title === '' ? null : this.#title }
  }

  /** A '<' is a character of the text unless a letter, '!', '?' or "/" and one more character follow. */
  #beginsMarkup(lessThan: number): boolean {
    const next = this.#html.charCodeAt(lessThan + 1)
    if (next === SLASH) return lessThan + 2 < this.#html.length
    return beginsTagName(next) || next === EXCLAMATION_MARK || next === QUESTION_MARK
  }

  /** Reads the markup at `lessThan`; returns where to go on. */
  #markup(lessThan: number): number {
    const html = this.#html
    const next = html.charCodeAt(lessThan + 1)
    if (beginsTagName(next)) return this.#startTag(lessThan + 1)
    if (next === SLASH) {
      if (beginsTagName(html.charCodeAt(lessThan + 2))) return this.#endTag(lessThan + 2)
      // "</>" is no token, so it does not even separate.
      if (html.charCodeAt(lessThan + 2) === GREATER_THAN) return lessThan + 3
    } else if (next === EXCLAMATION_MARK) {
      if (html.startsWith('--', lessThan + 2)) {
        this.#writer.break()
        return findCommentEnd(html, lessThan + 4)
      }
      if (this.#inForeign() && html.startsWith('[CDATA[', lessThan + 2)) return this.#cdata(lessThan + 9)
    }
    // Doctype, processing instruction or another bogus comment: all end at the next '>'.
    this.#writer.break()
    return orEnd(html.indexOf('>', lessThan + 2), html) + 1
  }

  #startTag(nameStart: number): number {
    const end = this.#tag.read(nameStart)
    const name = this.#tag.name
    if (!FORMATTING.has(name)) this.#writer.break()
    if (end < 0) return this.#html.length
    if (this.#inForeign() && ENDS_FOREIGN.has(name)) this.#leaveForeign()
    return this.#inForeign() ? this.#foreignElement(name, end) : this.#htmlElement(name, end)
  }

  #htmlElement(name: string, end: number): number {
    switch (name) {
      case 'img':
      case 'image':
        this.#image()
        return end
      case 'base':
        this.#base()
        return end
      case 'title':
      case 'textarea':
        return this.#characterData(name, end)
      case 'xmp':
        return this.#rawText(name, end)
      case 'plaintext':
        if (!this.#silent()) this.#writer.append(this.#html.slice(end))
        return this.#html.length
      case 'script':
        return orEnd(findScriptEnd(this.#html, end), this.#html)
      case 'style':
        return orEnd(this.#endTags.find(name, end), this.#html)
      case 'noscript':
      case 'iframe':
      case 'noembed':
      case 'noframes':
        return Math.max(end, this.#endTags.find(name, end))
      case 'template':
        if (this.#endTags.find(name, end) >= 0) this.#openTemplates++
        return end
      case 'svg':
      case 'math':
        if (!this.#tag.selfClosing) {
          this.#level++
          this.#nestedForeign = 0
        }
        return end
      default:
        return end
    }
  }

  #foreignElement(name: string, end: number): number {
    if (this.#tag.selfClosing) return end
    if (name === 'svg' || name === 'math') {
      this.#nestedForeign++
    } else if (this.#hidden === '') {
      if (HIDDEN_IN_SVG.has(name)) {
        if (this.#endTags.find(name, end) < 0) return end
        this.#hidden = name
        this.#hiddenLevel = this.#level
      }
      if (HTML_INSIDE.has(name)) this.#level++
    }
    return end
  }

  #endTag(nameStart: number): number {
    const end = this.#tag.read(nameStart)
    const name = this.#tag.name
    if (!FORMATTING.has(name)) this.#writer.break()
    if (end < 0) return this.#html.length
    if (name === 'template') this.#closeTemplate(end)
    else if (name === 'svg' || name === 'math') this.#closeForeign()
    else if (this.#hidden !== '' && name === this.#hidden && this.#endsHidden(end)) this.#closeHidden()
    else if (name === 'foreignobject' && this.#hidden === '' && !this.#inForeign() && this.#level > 0)
      this.#level--
    else if (this.#inForeign() && ENDS_FOREIGN.has(name)) this.#leaveForeign()
    return end
  }

  /** Where a template is left open, what follows the last end tag of the page is shown again. */
  #closeTemplate(end: number): void {
    if (this.#openTemplates === 0) return
    if (this.#inForeign()) this.#leaveForeign()
    this.#openTemplates = this.#endTags.find('template', end) < 0 ? 0 : this.#openTemplates - 1
  }

  #closeForeign(): void {
    if (this.#inForeign()) {
      if (this.#nestedForeign > 0) this.#nestedForeign--
      else this.#leaveForeign()
    } else if (this.#hidden !== '' && this.#level === this.#hiddenContentLevel()) {
      // A title or desc left open ends with its svg, although a browser would hide the rest of the page in it.
      this.#closeHidden()
      this.#leaveForeign()
    }
  }

  /** The last such tag of the page ends the hidden element even from inside something that is left open in it. */
  #endsHidden(end: number): boolean {
    return this.#level === this.#hiddenContentLevel() || this.#endTags.find(this.#hidden, end) < 0
  }

  #closeHidden(): void {
    this.#level = this.#hiddenLevel
    this.#hidden = ''
  }

  #hiddenContentLevel(): number {
    return HTML_INSIDE.has(this.#hidden) ? this.#hiddenLevel + 1 : this.#hiddenLevel
  }

  #leaveForeign(): void {
    this.#writer.break()
    this.#level--
    this.#nestedForeign = 0
    if (this.#hiddenLevel > this.#level) this.#hidden = ''
  }

  #inForeign(): boolean {
    return this.#level % 2 === 1
  }

  /** Inside something that is not shown. */
  #silent(): boolean {
    return this.#openTemplates > 0 || this.#hidden !== ''
  }

  #text(start: number, end: number): void {
    if (start < end && !this.#silent()) this.#writer.append(decodeText(this.#html.slice(start, end)))
  }

  /** Title and textarea: characters and references up to the end tag, no markup. */
  #characterData(name: string, start: number): number {
    const end = this.#endTags.find(name, start)
    if (end < 0) return start
    this.#text(start, end)
    if (name === 'title' && this.#title === null && !this.#silent()) {
      const title = new PageTextWriter()
      title.append(decodeText(this.#html.slice(start, end)))
      this.#title = cut(title.text(), MAX_TITLE)
    }
    return end
  }

  #rawText(name: string, start: number): number {
    const end = this.#endTags.find(name, start)
    if (end < 0) return start
    if (!this.#silent()) this.#writer.append(this.#html.slice(start, end))
    return end
  }

  #cdata(start: number): number {
    const end = orEnd(this.#html.indexOf(']]>', start), this.#html)
    if (!this.#silent()) this.#writer.append(this.#html.slice(start, end))
    return end + 3
  }

  #image(): void {
    const src = this.#tag.attribute
    if (src === null || this.#silent()) return
    const term = imageTerm(decodeAttribute(src), this.#images)
    if (term !== null) this.#writer.image(term)
  }

  /** The first base with a href counts, also where it cannot be used. */
  #base(): void {
    const href = this.#tag.attribute
    if (href === null || this.#baseSeen || this.#silent()) return
    this.#baseSeen = true
    this.#images = withBase(this.#images, decodeAttribute(href))
  }
}

const EXCLAMATION_MARK = 0x21
const QUESTION_MARK = 0x3f

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}

function decodeText(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text
}

/** In an attribute, NUL is U+FFFD, and a reference without semicolon needs a break behind it. */
function decodeAttribute(value: string): string {
  return decodeHTMLAttribute(value.replaceAll('\0', '\uFFFD'))
}

/** The first `length` units of a text, without half a surrogate pair at the end. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  return wellFormed(text.slice(0, length)).replace(/\uFFFD$/, '')
}
