import { escapeMarkup } from './markup.ts'

type Scale = 'linear' | 'log'
type Axis = {
  readonly label: string
  readonly scale?: Scale
  /** What the axis shows at least; the data widen it. */
  readonly from?: number
  readonly to?: number
}
export type Series = {
  readonly name: string
  readonly kind: 'line' | 'points' | 'bars'
  readonly points: readonly (readonly [x: number, y: number])[]
}
export type Plot = {
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
}

const width = 720
const height = 440
const margin = { left: 72, right: 24, top: 44, bottom: 56 }
const legendLine = 18

/** Told apart also by dashes and shapes, for those who see no colours. Source: Okabe and Ito 2008. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#000000']
const dashes = ['', '7 4', '2 3', '9 3 2 3', '4 2', '1 2', '12 4']

/** A picture of the series over two axes, as SVG. Points that an axis cannot show (0 on a log scale) are left out. */
export const svgPlot = ({ title, x, y, series }: Plot): string => {
  const seen = series.map((one) => ({
    ...one,
    points: one.points.filter(([px, py]) => canShow(px, x) && canShow(py, y)),
  }))
  const points = seen.flatMap((one) => one.points)
  const legendHeight = legendLine * series.length
  const floor = height - margin.bottom
  const toX = scaleOf(
    x,
    points.map(([px]) => px),
    margin.left,
    width - margin.right,
  )
  const toY = scaleOf(
    y,
    points.map(([, py]) => py),
    floor,
    margin.top,
  )
  const drawn = seen.map((one, i) => draw(one, i, toX.place, toY.place, floor))
  const legend = seen.map((one, i) => {
    const at = height + legendLine * i
    const key = { ...one, kind: one.kind === 'bars' ? ('points' as const) : one.kind }
    const sample = draw(
      {
        ...key,
        points: [
          [0, 0],
          [1, 0],
        ],
      },
      i,
      (v) => margin.left + 28 * v,
      () => at,
      at,
    )
    return `${sample}${text(margin.left + 40, at + 4, one.name, 'start')}`
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + legendHeight}" width="${width}" height="${height + legendHeight}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="${width / 2}" y="24" text-anchor="middle" font-size="15">${escapeMarkup(title)}</text>`,
    ...toX.ticks.map(({ at, label }) => gridLine(at, margin.top, at, floor) + text(at, floor + 18, label)),
    ...toY.ticks.map(
      ({ at, label }) =>
        gridLine(margin.left, at, width - margin.right, at) + text(margin.left - 8, at + 4, label, 'end'),
    ),
    text((margin.left + width - margin.right) / 2, floor + 40, axisLabel(x)),
    `<g transform="rotate(-90)">${text(-(margin.top + floor) / 2, 18, axisLabel(y))}</g>`,
    ...drawn,
    ...legend,
    '</svg>',
  ].join('\n')}\n`
}

const canShow = (value: number, { scale }: Axis): boolean =>
  Number.isFinite(value) && (scale !== 'log' || value > 0)

const axisLabel = ({ label, scale }: Axis): string => (scale === 'log' ? `${label} (log scale)` : label)

const round = (value: number): number => Math.round(value * 10) / 10

const text = (x: number, y: number, content: string, anchor = 'middle'): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeMarkup(content)}</text>`

const gridLine = (x1: number, y1: number, x2: number, y2: number): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="#ddd"/>`

type Tick = { readonly at: number; readonly label: string }

/** From values to places between `start` and `end`, and about six round values to mark. */
const scaleOf = (
  { scale = 'linear', from, to }: Axis,
  values: readonly number[],
  start: number,
  end: number,
): { place: (value: number) => number; ticks: Tick[] } => {
  const transform = scale === 'log' ? Math.log10 : (value: number) => value
  const all = [...values, ...(from === undefined ? [] : [from]), ...(to === undefined ? [] : [to])]
  let low = all.reduce((least, value) => Math.min(least, transform(value)), Number.POSITIVE_INFINITY)
  let high = all.reduce((most, value) => Math.max(most, transform(value)), Number.NEGATIVE_INFINITY)
  if (all.length === 0) [low, high] = [0, 1]
  if (low === high) high = low + 1
  const place = (value: number): number => start + ((transform(value) - low) / (high - low)) * (end - start)
  const marked = scale === 'log' ? logTicks(low, high) : linearTicks(low, high)
  const ticks = marked.map((value) => ({ at: place(value), label: `${Number(value.toPrecision(6))}` }))
  return { place, ticks }
}

/** Powers of ten between two logarithms, and where these are few, two and five times them too. */
const logTicks = (low: number, high: number): number[] => {
  const factors = high - low < 2 ? [1, 2, 5] : [1]
  const powers = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i)
  return powers
    .flatMap((power) => factors.map((factor) => factor * 10 ** power))
    .filter((value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9)
}

const linearTicks = (low: number, high: number): number[] => {
  const step = roundStep((high - low) / 6)
  const first = Math.ceil(low / step - 1e-9)
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step)
}

/** 1, 2 or 5 times a power of ten, not below the least step. */
const roundStep = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(least))
  return (([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) as number) * power
}

const draw = (
  { kind, points }: Pick<Series, 'kind' | 'points'>,
  index: number,
  placeX: (value: number) => number,
  placeY: (value: number) => number,
  floor: number,
): string => {
  const colour = colours[index % colours.length]
  const places = points.map(([px, py]) => [round(placeX(px)), round(placeY(py))] as const)
  if (kind === 'line') {
    const dash = dashes[index % dashes.length]
    return `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`
  }
  if (kind === 'bars')
    return places
      .map(
        ([x, y]) => `<line x1="${x}" y1="${floor}" x2="${x}" y2="${y}" stroke="${colour}" stroke-width="3"/>`,
      )
      .join('')
  return places
    .map(([x, y]) =>
      index % 2 === 0
        ? `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`
        : `<rect x="${round(x - 3)}" y="${round(y - 3)}" width="6" height="6" fill="none" stroke="${colour}"/>`,
    )
    .join('')
}
