import { decimalsOf, unitsOf } from './decimal.ts'
import { type Child, html, svg } from './dom.ts'
import type { TimeStep } from './format.ts'
import { ticksBetween } from './ticks.ts'

/**
 * A value of a chart, as an exact decimal. For people: `label` is its name, such as a day, and
 * `shown` is the value in the reader's format.
 */
export interface ChartPoint {
  readonly label: string
  readonly value: string
  readonly shown: string
}

/** A value that holds from a time on, in milliseconds since 1970. */
export interface TimedPoint extends ChartPoint {
  readonly at: number
}

/** The texts that every chart needs. */
export interface Chart {
  readonly title: string
  /** The content of the chart in one sentence, for screen readers. */
  readonly summary: string
  /** The names of the two columns of the table, and of the table itself. */
  readonly columns: readonly [label: string, value: string]
  readonly tableName: string
}

/** A line over time, such as a balance. */
export interface LineChart extends Chart {
  /** Oldest first. */
  readonly points: readonly TimedPoint[]
  /** The value before the first point. */
  readonly before: string
  /** The time until which the last value is known to hold, in milliseconds since 1970. */
  readonly until: number
  /** The text of a mark on the time axis. */
  mark(at: number, step: TimeStep): string
}

/**
 * The size of a drawing in units of its own (SVG's `viewBox`). The drawing is stretched to the
 * place that it gets on the page.
 */
export const [width, height] = [600, 160]
/**
 * A mark that is nearer to an end of the axis than this, in percent of the width of the axis, has
 * no text: the text would be cut off.
 */
const edgePercent = 10
/**
 * The time axis shows at least this long. On a shorter axis, marks would be closer than a minute.
 */
const spanMinMs = 10 * 60_000

/** Draws a chart with its highest value, the time axis, and a table of all values. */
export function drawChart(chart: LineChart): HTMLElement {
  const { title, summary, points } = chart
  const values = [chart.before, ...points.map(({ value }) => value)]
  const decimals = Math.max(0, ...values.map(decimalsOf))
  const units = values.map((value) => unitsOf(value, decimals))
  const sorted = [0n, ...units].sort((a, b) => (a < b ? -1 : 1))
  const lowest = sorted[0] ?? 0n
  const highest = sorted.at(-1) ?? 0n
  const span = highest - lowest || 1n
  // Four digits of the exact ratio are enough for a place on the screen.
  const y = (one: bigint) => height - (Number(((one - lowest) * 10_000n) / span) / 10_000) * height
  const ys = units.map(y)
  const drawn = drawLine(chart, ys, y(0n))
  const top = points.find(({ value }) => unitsOf(value, decimals) === highest)?.shown ?? '0'
  return html(
    'figure',
    { class: 'chart' },
    html('figcaption', {}, title),
    html('p', { class: 'top muted number', 'aria-hidden': 'true' }, top),
    svg(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': summary },
      ...drawn.shapes,
    ),
    drawn.below,
    numbersOf(chart, points),
  )
}

interface Drawn {
  readonly shapes: readonly Child[]
  readonly below: Child
}

/** A horizontal line through the whole drawing, such as the zero line. `y` counts from the top. */
export const axisAt = (y: number) => svg('path', { class: 'axis', d: `M0 ${y}H${width}` })

/** A line that keeps each value until the next one, as a balance does. */
function drawLine({ points, until, mark }: LineChart, ys: readonly number[], zero: number): Drawn {
  const end = Math.max(until, ...points.map(({ at }) => at))
  const first = Math.min(points[0]?.at ?? end, end - spanMinMs)
  const start = first - (end - first) / 40 // shows the value before the first point
  const part = (at: number) => (at - start) / (end - start)
  const x = (at: number) => Math.round(part(at) * width * 10) / 10
  let latest = first // never goes back, although the times of two entries may come from clocks that differ
  const steps = points.map(({ at }, index) => {
    latest = Math.max(latest, at)
    return `H${x(latest)}V${ys[index + 1] ?? zero}`
  })
  const path = `M0 ${ys[0] ?? zero}${steps.join('')}H${width}`
  const { step, at } = ticksBetween(start, end)
  const grid = svg('path', { class: 'grid', d: at.map((one) => `M${x(one)} 0V${height}`).join('') })
  const labels = at.flatMap((one) => {
    const percent = 100 * part(one)
    if (percent < edgePercent || percent > 100 - edgePercent) return [] // the mark has a line and no text
    const text = (y: string, words: string) => svg('text', { x: `${percent.toFixed(2)}%`, y }, words)
    const day = step === 'minute' ? text('2.25em', mark(one, 'day')) : null
    return [text('1em', mark(one, step)), day]
  })
  return {
    shapes: [
      svg('path', { class: 'area', d: `${path}V${zero}H0Z` }),
      grid,
      axisAt(zero),
      svg('path', { class: 'line', d: path }),
    ],
    below: svg('svg', { class: `marks ${step}`, 'aria-hidden': 'true' }, ...labels),
  }
}

/** All values of a chart, as a table that opens. */
export function numbersOf({ columns: [label, value], tableName }: Chart, points: readonly ChartPoint[]): HTMLElement {
  const rows = points.map((point) =>
    html('tr', {}, html('td', {}, point.label), html('td', { class: 'number' }, point.shown)),
  )
  const names = [html('th', { scope: 'col' }, label), html('th', { scope: 'col', class: 'number' }, value)]
  const table = html('table', {}, html('thead', {}, html('tr', {}, ...names)), html('tbody', {}, ...rows))
  return html('details', {}, html('summary', {}, tableName), table)
}
