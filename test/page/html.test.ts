import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extractHtml } from '../../src/page/html.ts'
import { textByTokenizer, textByTree } from './html-oracle.ts'

const textOf = (html: string, pageUrl: string | null = null): string => extractHtml(html, pageUrl).text

describe('what separates and what does not', () => {
  test.each([
    ['<p>a</p><p>b</p>', 'a\nb'],
    ['a<br>b<hr/>c', 'a\nb\nc'],
    ['a<a href=x>b</a>c', 'a\nb\nc'],
    ['f<b>o</b>o b<SPAN class="x">a</SPAN>r', 'foo bar'],
    ['super<wbr>long, so<ins>me</ins><del>thing</del>', 'superlong, something'],
    [' a \t b\r\nc ', 'a b c'],
    ['a <p> b', 'a\nb'],
    ['a<!-- x -->b<!doctype html>c<?pi?>d</3>e', 'a\nb\nc\nd\ne'],
    ['a</>b', 'ab'],
    ['<custom-element>a</custom-element>b', 'a\nb'],
    ['a<b\u212A>b', 'a\nb'],
    ['a<stri\u212Ae>b', 'a\nb'],
  ])('%j reads %j', (html, expected) => {
    expect(textOf(html)).toBe(expected)
  })
})

describe('tags and attributes', () => {
  test.each([
    ['<a title="a>b" alt=\'<i>\'>c', 'c'],
    ['<a title=a"b>c', 'c'],
    ['<a =x=y>c', 'c'],
    ['<a/b/c>d', 'd'],
    ['</p title=">">c', 'c'],
    ['<input value="typed" placeholder=hint>', ''],
    ['a < b <3 c<', 'a < b <3 c<'],
    ['a</', 'a</'],
    ['a <b', 'a'],
    ['a <b c="d>e', 'a'],
    ['<option>one<option selected>two', 'one\ntwo'],
  ])('%j reads %j', (html, expected) => {
    expect(textOf(html)).toBe(expected)
  })
})

describe('character references', () => {
  test.each([
    ['caf&eacute; &#233;t&#xE9; AT&amp;T', 'café été AT&T'],
    ['a&lt;b&gt;c', 'a<b>c'],
    ['&notit; &notin; &amp;amp; &unknown; &;', '¬it; ∉ &amp; &unknown; &;'],
    ['it&#146;s &#x80;', 'it’s €'],
    ['&#0; &#xD800; &#x110000;', '\uFFFD \uFFFD \uFFFD'],
    ['a&#10;b&#xFFFC;c&nbsp;d', 'a b c\u00A0d'],
    ['so&shy;ft', 'so\u00ADft'],
    ['&am<b>p;</b>', '&amp;'],
  ])('%j reads %j', (html, expected) => {
    expect(textOf(html)).toBe(expected)
  })

  test('are read by the attribute rules in the address of an image', () => {
    expect(textOf('<img src="http://h.example/?a=b&copy=1&amp;c">')).toBe(
      '\uFFFChttp://h.example/?a=b&copy=1&c',
    )
  })
})

describe('comments', () => {
  test.each([
    ['a<!-->b', 'a\nb'],
    ['a<!--->b', 'a\nb'],
    ['a<!-- x --!>b', 'a\nb'],
    ['a<!-- x --!->b--->c', 'a\nc'],
    ['a<!-- > <!-- -->b', 'a\nb'],
    ['a<!x>b<!>c', 'a\nb\nc'],
    ['a<!-- b', 'a'],
    ['a<![CDATA[b > c]]>d', 'a\nc]]>d'],
    ['a<!--[if IE]>b<![endif]-->c<!--[if !IE]><!-->d<!--<![endif]-->e', 'a\nc\nd\ne'],
  ])('%j reads %j', (html, expected) => {
    expect(textOf(html)).toBe(expected)
  })
})

describe('what is not shown', () => {
  test.each([
    ['a<script>b</script>c<style>d</style>e', 'a\nc\ne'],
    ['a<noscript><p>b</p></noscript>c<iframe>d</iframe>e', 'a\nc\ne'],
    ['a<noembed>b</noembed>c<noframes>d</noframes>e', 'a\nc\ne'],
    ['a<template>b<template>c</template>d</template>e', 'a\ne'],
    ['a<template><script></template></script>b</template>c', 'a\nc'],
    ['a<template><title>b</title><img src=x.gif></template>c', 'a\nc'],
    ['a<script>if(a<b && c>d){x="</p>"}</SCRIPT >c', 'a\nc'],
    ['<script>b</scripty>c</script>d', 'd'],
  ])('%j reads %j', (html, expected) => {
    expect(textOf(html)).toBe(expected)
  })

  test.each([
    ['<!-- <script> </script> --> </script>b', 'b'],
    ['<!-- <script> </script> </script>b', 'b'],
    ['<!-- <scripty> </script>b', 'b'],
    ['<!--> <script> </script>b', 'b'],
    ['<!-- --> <script> </script>b', 'b'],
    ['<!-- <script> --> </script>b', 'b'],
    ['<!-- <script> </script>b', ''],
    ['<!-- <script> <!-- --> </script>b', 'b'],
  ])('a script that begins %j ends by the escaped states, so that %j is left', (script, expected) => {
    expect(textOf(`<script>${script}`)).toBe(expected)
  })
})

describe('text that holds no tags', () => {
  test.each([
    ['a<title>b &amp; <i>c</i></title>d', 'a\nb & <i>c</i>\nd'],
    ['a<textarea>b<p>c</textarea>d', 'a\nb<p>c\nd'],
    ['a<xmp>b<p>&amp;</xmp>c', 'a\nb<p>&amp;\nc'],
    ['a<plaintext>b</plaintext>&amp;', 'a\nb</plaintext>&amp;'],
    ['<title>a</titles></title/>b', 'a</titles>\nb'],
  ])('%j reads %j', (html, expected) => {
    expect(textOf(html)).toBe(expected)
  })
})

describe('what is left open takes nothing else with it', () => {
  test.each(['title', 'textarea', 'template', 'noscript', 'iframe', 'noembed', 'noframes', 'xmp'])(
    '%s',
    (name) => {
      expect(textOf(`a<${name}>b<p>c</p>d<b>e</b>`)).toBe('a\nb\nc\nde')
      expect(textOf(`a<${name}>b</${name}>c<${name}>d<i>e</i>f`)).toMatch(/\nc\ndef$/)
    },
  )

  test('an inner template: the last end tag shows the page again', () => {
    expect(textOf('a<template>b<template>c</template>d')).toBe('a\nd')
  })

  test('script, style and comment end with the page, as in a browser', () => {
    expect(textOf('a<script>b<p>c')).toBe('a')
    expect(textOf('a<style>b<p>c')).toBe('a')
    expect(textOf('a<!-- b<p>c')).toBe('a')
  })
})

describe('svg and math', () => {
  test.each([
    ['<svg><title>a</title><desc>b<p>c</p></desc><text>d</text></svg>e', 'd\ne'],
    ['<svg><metadata>a<g>b</g></metadata><style>c</style><script>d</script>e</svg>f', 'e\nf'],
    ['a<svg/>b<title>c</title>', 'a\nb\nc'],
    ['<svg><title/>a<style/>b<script/>c</svg>d', 'a\nb\nc\nd'],
    ['<svg><script>a<g>b</g></script>c</svg>d', 'c\nd'],
    ['a<svg><![CDATA[<b>&amp;]]>b</svg>c<![CDATA[d]]>e', 'a\n<b>&amp;b\nc\ne'],
    ['<math><mi>a</mi><![CDATA[b]]></math><![CDATA[c>d', 'a\nb\nd'],
    ['<svg><svg><title>a</title></svg><title>b</title>c</svg><title>d</title>e', 'c\nd\ne'],
    [
      '<svg><foreignObject><p>a</p><title>b</title><svg><title>c</title>d</svg></foreignObject><title>e</title></svg>',
      'a\nb\nd',
    ],
    ['<svg><g><p>a<title>b</title>c', 'a\nb\nc'],
    ['<div><svg><g></div><title>a</title>b', 'a\nb'],
    ['<svg><title>a<svg><title>b</title></svg>c</title>d</svg>e', 'd\ne'],
    ['<svg><desc>a<svg></desc>b</svg>c', 'b\nc'],
    ['<template><svg></template>a<title>b</title>', 'a\nb'],
    ['<svg><foreignObject><template>a</template>b</foreignObject></svg>c', 'b\nc'],
    ['<svg><textarea>a<b>b</textarea>', 'a\nb'],
  ])('%j reads as a browser shows it', (html, expected) => {
    expect(textOf(html)).toBe(expected)
    expect(textByTree(html)).toBe(expected)
  })

  test('a hidden element left open ends with its svg, or is passed over', () => {
    expect(textOf('<svg><title>a</svg><p>b</p><svg><title>c</title></svg>d')).toBe('b\nd')
    expect(textOf('<svg><title>a</svg><p>b</p>')).toBe('a\nb')
    expect(textOf('<svg><metadata>a</svg>b</metadata>')).toBe('b')
  })
})

describe('images', () => {
  const page = 'http://www.example.com/dir/page.html'

  test('stand as one word behind U+FFFC, between breaks', () => {
    expect(textOf('a<img src="/i/b.gif">c <IMG SRC=http://cdn.example.net/d.gif?e=f alt="g"> h', page)).toBe(
      'a\n\uFFFCb.gif\nc\n\uFFFChttp://cdn.example.net/d.gif?e=f\nh',
    )
    expect(textOf('<image src=a.gif>', page)).toBe('\uFFFCa.gif')
  })

  test('without a term are a break', () => {
    expect(textOf('a<img>b<img src>c<img src="">d<img src=" ">e<img data-src=x.gif>f', page)).toBe(
      'a\nb\nc\nd\ne\nf',
    )
  })

  test('have their first src', () => {
    expect(textOf('<img xsrc=a.gif SRC=b.gif src=c.gif>', page)).toBe('\uFFFCb.gif')
    expect(textOf('<img src src=c.gif>', page)).toBe('')
  })

  test('are resolved against the first base that has an address, from there on', () => {
    const html =
      '<img src=a.gif><base target=x><base href=http://cdn.example.net/><base href=/b/><img src=c.gif>'
    expect(textOf(html, page)).toBe('\uFFFCa.gif\n\uFFFChttp://cdn.example.net/c.gif')
  })

  test('count in html alone, and srcset, input and background do not', () => {
    expect(textOf('<svg><image src=a.gif href=b.gif /></svg><input type=image src=c.gif>', page)).toBe('')
    expect(textOf('<picture><source srcset=a.gif></picture><body background=b.gif>', page)).toBe('')
  })

  test('of a mirrored page are those of the original', () => {
    const original = '<p>Welcome<img src="images/a.gif"><img src="http://www.example.com/images/b.gif">'
    const mirror = '<p>Welcome<img src="images/a.gif"><img src="http://mirror.example/images/b.gif">'
    expect(textOf(mirror, 'http://mirror.example/pub/')).toBe(textOf(original, page))
  })
})

describe('characters that the page text reserves', () => {
  test('NUL is dropped, in titles too, and is part of no known tag name', () => {
    expect(textOf('a\0b<title>c\0d</title><scr\0ipt>e')).toBe('ab\ncd\ne')
  })

  test('halves of surrogate pairs become U+FFFD, even where a tag parts them', () => {
    expect(textOf('\uD83D\uDE00\uD83D<b>\uDE00</b>')).toBe('😀\uFFFD\uFFFD')
  })

  test('U+FFFC makes no image', () => {
    expect(textOf('a\uFFFCb.gif')).toBe('a b.gif')
  })
})

describe('title', () => {
  test.each([
    ['<title> a \n &amp; b </title><title>c</title>', 'a & b'],
    ['<title></title><title>c</title>', null],
    ['<p>a', null],
    ['<title>a', null],
    ['<svg><title>a</title></svg><body><title>b</title>', 'b'],
    ['<template><title>a</title></template><title>b</title>', 'b'],
    ['<script><title>a</title></script><!-- <title>b</title> --><title>c</title>', 'c'],
  ])('of %j is %j', (html, expected) => {
    expect(extractHtml(html, null).title).toBe(expected)
  })

  test('is cut to 1,000 characters and not inside a pair', () => {
    expect(extractHtml(`<title>${'a'.repeat(1001)}</title>`, null).title).toBe('a'.repeat(1000))
    expect(extractHtml(`<title>${'a'.repeat(999)}😀</title>`, null).title).toBe('a'.repeat(999))
  })
})

describe('equal to parse5', () => {
  const seed = 20260103

  test('on malformed markup, by its tokenizer', () => {
    const fragment = fc.constantFrom(
      ...[
        '<',
        '</',
        '<!',
        '<?',
        '<b',
        '<p',
        '>',
        '/>',
        '/',
        '=',
        '!',
        '?',
        '--',
        '-',
        '"',
        "'",
        '&',
        '#',
        ';',
        ']]>',
      ],
      ...[
        ' ',
        '\n',
        '\r',
        '\f',
        '\t',
        'a',
        'Z',
        'é',
        '😀',
        '\uFFFC',
        '&amp',
        '&#x41',
        '&#65;',
        '&notit;',
        '<![CDATA[',
      ],
      ...[
        '<!--',
        '-->',
        '--!>',
        '<!-- <script>',
        '<b>',
        '</b>',
        '<p>',
        '</p>',
        '<a href="',
        '<!doctype x>',
        '</3',
      ],
      ...[
        '<script>',
        '</script>',
        '</script',
        '<script ',
        '<SCRIPT>',
        '</ScRiPt/>',
        '<style>',
        '</style>',
        '<xmp>',
      ],
      ...[
        '<title>',
        '</title>',
        '</title',
        '<textarea>',
        '</textarea>',
        '<template>',
        '</template>',
        '</xmp>',
      ],
      ...['<noscript>', '</noscript>', '<iframe/>', '</iframe>', '<noembed>', '</noembed>', '<plaintext>'],
    )
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 30 }), (fragments) => {
        const html = fragments.join('')
        expect(textOf(html)).toBe(textByTokenizer(html))
      }),
      { seed, numRuns: 5000 },
    )
  })

  test('on well-formed documents, by the tree it builds', () => {
    const text = fc.constantFrom('a', ' b ', 'é&amp;', '\n', 'c&lt;d')
    const inside = (names: readonly string[], content: fc.Arbitrary<string>) =>
      fc.tuple(fc.constantFrom(...names), content).map(([name, html]) => `<${name}>${html}</${name}>`)
    const many = (content: fc.Arbitrary<string>) =>
      fc.array(content, { maxLength: 4 }).map((parts) => parts.join(''))
    const { svg, block } = fc.letrec<{ svg: string; svgPart: string; block: string }>((tie) => ({
      svgPart: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constantFrom('<path d="M0 0"/>', '<title/>', '<style/>', '<![CDATA[x<y]]>'),
        inside(['text', 'g', 'tspan', 'a'], many(tie('svgPart'))),
        inside(['title', 'desc', 'metadata', 'style', 'script'], text),
        inside(['foreignObject'], many(tie('block'))),
      ),
      svg: fc.oneof(inside(['svg'], many(tie('svgPart'))), inside(['math'], inside(['mi', 'mrow'], text))),
      block: fc.oneof(
        { maxDepth: 4 },
        text,
        inside(['div', 'section', 'article'], many(tie('block'))),
        inside(['b', 'span', 'em', 'code'], text),
        inside(['script', 'style', 'noscript', 'template', 'iframe', 'textarea', 'title'], text),
        tie('svg'),
        fc.constantFrom('<br>', '<!-- x -->', '<input value=v>'),
      ),
    }))
    fc.assert(
      fc.property(many(fc.oneof(block, svg)), (body) => {
        const html = `<!doctype html><html><head><title>t</title></head><body>${body}</body></html>`
        expect(textOf(html)).toBe(textByTree(html))
      }),
      { seed, numRuns: 2000 },
    )
  })
})

describe('input of any size and shape is read in one pass', () => {
  const times = (count: number, html: string): string => html.repeat(count)
  const MILLION = 1_000_000

  // Quadratic work on any of these would take hours, so that the test could only fail by its time limit.
  test.each<[string, string, string]>([
    ['nested tags', `${times(100_000, '<div>')}deep${times(100_000, '</div>')}`, 'deep'],
    [
      'unclosed tags of every special kind',
      `${['title', 'textarea', 'noscript', 'iframe', 'xmp', 'template'].map((name) => times(100_000, `<${name}>`)).join('')}a`,
      'a',
    ],
    ['templates that one end tag follows', `${times(100_000, '<template>')}a</template>b`, 'b'],
    ['closed templates', `${times(100_000, '<template>a</template>')}b`, 'b'],
    ['an attribute of 10 MB', `<a b="${times(10 * MILLION, 'x')}">a`, 'a'],
    ['an unquoted attribute of 10 MB', `<a b=${times(10 * MILLION, 'x')}>a`, 'a'],
    ['many attributes', `<img ${times(500_000, 'b=c ')}src=x.gif>`, '\uFFFCx.gif'],
    ['attribute names without values', `<a ${times(MILLION, '=')}>a`, 'a'],
    ['quotes that never close', `a${times(500_000, '<a b="')}`, 'a'],
    ['a tag name of 10 MB', `<${times(10 * MILLION, 'x')}>a`, 'a'],
    ['opened comments', `a${times(MILLION, '<!--')}`, 'a'],
    ['a comment of dashes', `<!--${times(5 * MILLION, '-')}!>a`, 'a'],
    ['marked sections', `a${times(MILLION, '<![CDATA[')}`, 'a'],
    ['marked sections in svg', `<svg>${times(MILLION, '<![CDATA[a]]>')}`, times(MILLION, 'a')],
    ['scripts that escape', `<script>${times(MILLION, '<!--<script>')}`, ''],
    ['scripts that escape and close', `<script>${times(300_000, '<!--<script></script>')}`, ''],
    ['a script of less-than signs', `<script><!--${times(MILLION, '<')}`, ''],
    ['nested svg', `${times(300_000, '<svg>')}a`, 'a'],
    ['titles of svg that one end tag follows', `${times(200_000, '<svg><title>')}a</title>b`, 'b'],
    ['hidden elements of svg', `<svg>${times(200_000, '<metadata>a</metadata>')}b`, 'b'],
    ['references without end', `&#x${times(5 * MILLION, '4')}`, '\uFFFD'],
    ['ampersands', times(MILLION, '&'), times(MILLION, '&')],
    ['less-than signs', times(MILLION, '<'), times(MILLION, '<')],
    ['white space', `a${times(MILLION, ' \n')}b`, 'a b'],
    ['NUL', `a${times(MILLION, '\0')}b`, 'ab'],
  ])('%s', (_, html, expected) => {
    expect(textOf(html) === expected).toBe(true)
  })

  test('images under a long base', () => {
    const base = `http://cdn.example.net/${times(400, 'b')}/`
    const terms = new Array<string>(50_000).fill(`\uFFFC${base}a`)
    expect(textOf(`<base href=${base}>${times(50_000, '<img src=a>')}`, 'http://www.example.com/')).toBe(
      terms.join('\n'),
    )
  })
})
