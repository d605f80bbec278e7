import { describe, expect, test } from 'vitest'
import { escapeMarkdown, markdownTable } from '../../src/evaluation/markup.ts'
import { type Plot, svgPlot } from '../../src/evaluation/svg-plot.ts'

const plot = (changes: Partial<Plot> = {}): Plot => ({
  title: 'Title',
  x: { label: 'across' },
  y: { label: 'up' },
  series: [
    {
      name: 'line',
      kind: 'line',
      points: [
        [0, 0],
        [10, 5],
      ],
    },
  ],
  ...changes,
})

const polyline = (svg: string): number[][] =>
  (/points="([^"]*)"/.exec(svg)?.[1] ?? '').split(' ').map((pair) => pair.split(',').map(Number))

describe('a plot', () => {
  test('has its title, the labels of both axes, round ticks and the name of each series', () => {
    const svg = svgPlot(plot())
    for (const text of ['Title', 'across', 'up', 'line', '>2<', '>10<', '>5<']) expect(svg).toContain(text)
    expect(svg).not.toContain('NaN')
  })

  test('puts the least value at the lower left corner and the greatest at the upper right one', () => {
    const [start, end] = polyline(svgPlot(plot()))
    expect(start).toEqual([72, 384])
    expect(end).toEqual([696, 44])
  })

  test('on log scales puts equal ratios at equal distances, marks powers of ten and leaves 0 out', () => {
    const svg = svgPlot(
      plot({
        x: { label: 'degree', scale: 'log' },
        series: [
          {
            name: 's',
            kind: 'line',
            points: [
              [0, 1],
              [1, 1],
              [10, 2],
              [100, 3],
              [1000, 4],
            ],
          },
        ],
      }),
    )
    expect(svg).toContain('degree (log scale)')
    const xs = polyline(svg).map(([x]) => x ?? 0)
    expect(xs).toHaveLength(4)
    const steps = xs.slice(1).map((x, i) => x - (xs[i] ?? 0))
    expect(Math.max(...steps) - Math.min(...steps)).toBeLessThan(0.3)
    for (const tick of ['>1<', '>10<', '>100<', '>1000<']) expect(svg).toContain(tick)
    expect(svg).not.toContain('>20<')
  })

  test('of a short log axis marks 2 and 5 too', () => {
    const series = [{ name: 's', kind: 'points' as const, points: [[1, 1] as const, [9, 2] as const] }]
    const svg = svgPlot(plot({ x: { label: 'x', scale: 'log' }, series }))
    for (const tick of ['>1<', '>2<', '>5<']) expect(svg).toContain(tick)
  })

  test('shows the whole axis that is asked for, and draws without points or with a single one', () => {
    const svg = svgPlot(plot({ y: { label: 'share', from: 0, to: 1 }, series: [] }))
    expect(svg).toContain('>0.8<')
    for (const points of [[], [[3, 3] as const]])
      for (const kind of ['line', 'points', 'bars'] as const)
        expect(svgPlot(plot({ series: [{ name: 's', kind, points }] }))).not.toMatch(/NaN|Infinity/)
  })

  test('lets no text become markup', () => {
    const hostile = '</text><script>alert("1")</script>&\u0000'
    const svg = svgPlot(
      plot({ title: hostile, x: { label: hostile }, series: [{ name: hostile, kind: 'line', points: [] }] }),
    )
    expect(svg).not.toContain('<script')
    expect(svg).not.toContain('\u0000')
    expect(svg).toContain('&lt;/text&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;')
  })
})

describe('Markdown', () => {
  test('of a text has no markup in it, and stays on its line', () => {
    expect(escapeMarkdown('a|b *c* _d_ `e` [f](g) <h>\n# i')).toBe(
      'a\\|b \\*c\\* \\_d\\_ \\`e\\` \\[f\\](g) &lt;h&gt; \\# i',
    )
  })

  test('tables have as many cells in each line as columns', () => {
    expect(markdownTable(['', 'n'], [['x', '1']])).toBe('|  | n |\n| --- | ---: |\n| x | 1 |')
  })
})
