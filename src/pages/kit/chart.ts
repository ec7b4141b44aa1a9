import { decimalsOf, unitsOf } from './decimal.ts'
import { html, svg } from './dom.ts'

/** A value of a chart: an exact decimal, with its texts for people. */
export interface ChartPoint {
  readonly label: string
  readonly value: string
  readonly shown: string
}

/** A chart of values in their order, from left to right. */
export interface Chart {
  readonly kind: 'line' | 'bars'
  readonly title: string
  /** What the chart shows, in one sentence, for who cannot see it. */
  readonly summary: string
  readonly points: readonly ChartPoint[]
  /** The names of the two columns of the table, and of the table itself. */
  readonly columns: readonly [label: string, value: string]
  readonly tableName: string
}

const width = 600
const height = 160

/** Draws a chart with its lowest and highest value, its first and last label, and a table of all of its numbers. */
export function drawChart({ kind, title, summary, points, columns, tableName }: Chart): HTMLElement {
  const decimals = Math.max(0, ...points.map(({ value }) => decimalsOf(value)))
  const units = points.map(({ value }) => unitsOf(value, decimals))
  const sorted = [0n, ...units].sort((a, b) => (a < b ? -1 : 1))
  const lowest = sorted[0] ?? 0n
  const highest = sorted.at(-1) ?? 0n
  const span = highest - lowest || 1n
  // A place on the screen needs no more than four digits of the exact ratio.
  const y = (one: bigint) => height - (Number(((one - lowest) * 10_000n) / span) / 10_000) * height
  const path = kind === 'line' ? linePath(units.map(y)) : barsPath(units.map(y), y(0n))
  const top = points[units.indexOf(highest)]?.shown ?? '0'
  return html(
    'figure',
    { class: 'chart' },
    html('figcaption', {}, title),
    html('p', { class: 'top muted number', 'aria-hidden': 'true' }, top),
    svg(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': summary },
      kind === 'line' ? svg('path', { class: 'area', d: `${path}V${y(0n)}H0Z` }) : null,
      svg('path', { class: 'axis', d: `M0 ${y(0n)}H${width}` }),
      svg('path', { class: kind, d: path }),
    ),
    html(
      'p',
      { class: 'ends muted', 'aria-hidden': 'true' },
      html('span', {}, points[0]?.label ?? ''),
      html('span', {}, points.length > 1 ? (points.at(-1)?.label ?? '') : ''),
    ),
    html('details', {}, html('summary', {}, tableName), tableOf(points, columns)),
  )
}

/** A line that keeps each value until the next one, as a balance does. */
function linePath(ys: readonly number[]): string {
  const step = width / Math.max(1, ys.length)
  return ys.map((y, index) => `${index === 0 ? `M0 ${y}` : `V${y}`}H${(index + 1) * step}`).join('')
}

function barsPath(ys: readonly number[], zero: number): string {
  const step = width / Math.max(1, ys.length)
  return ys.map((y, index) => `M${(index + 0.15) * step} ${zero}V${y}h${step * 0.7}V${zero}Z`).join('')
}

function tableOf(points: readonly ChartPoint[], [label, value]: Chart['columns']): HTMLElement {
  const rows = points.map((point) =>
    html('tr', {}, html('td', {}, point.label), html('td', { class: 'number' }, point.shown)),
  )
  const names = [html('th', { scope: 'col' }, label), html('th', { scope: 'col', class: 'number' }, value)]
  return html('table', {}, html('thead', {}, html('tr', {}, ...names)), html('tbody', {}, ...rows))
}
