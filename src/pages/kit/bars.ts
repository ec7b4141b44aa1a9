import { axisAt, type Chart, type ChartPoint, height, numbersOf, width } from './chart.ts'
import { decimalsOf, decimalText, unitsOf } from './decimal.ts'
import { html, svg } from './dom.ts'

/**
 * A chart with a bar for each value, from left to right in equal distances. No value is negative.
 */
export interface BarChart extends Chart {
  readonly points: readonly ChartPoint[]
  /** The text if every value is 0. */
  readonly nothing: string
  /** Writes a number of the scale in short form. */
  scaleText(value: string): string
}

/** Most lines of the scale above zero. */
const linesMax = 4n
/** Only every seventh bar, counted from the last one, has a label: all of them would overlap. */
const labelEvery = 7

/** Draws bars above a zero line, with a scale of round numbers, and a table of all values. */
export function drawBars(chart: BarChart): HTMLElement {
  const { title, summary, points, nothing, scaleText } = chart
  const decimals = Math.max(0, ...points.map(({ value }) => decimalsOf(value)))
  const units = points.map(({ value }) => unitsOf(value, decimals))
  const [highest = 0n] = [...units].sort((a, b) => (a > b ? -1 : 1))
  const step = scaleStep(highest)
  const lines = highest === 0n ? 0n : (highest + step - 1n) / step
  const top = step * (lines || 1n)
  const y = (value: bigint) => height - (Number((value * 10_000n) / top) / 10_000) * height
  const wide = width / Math.max(1, units.length)
  const bars = units.map((value, index) => `M${(index + 0.15) * wide} ${height}V${y(value)}h${wide * 0.7}V${height}Z`)
  const scale = Array.from({ length: Number(lines) + 1 }, (_, line) => step * BigInt(line))
  const grid = scale.map((value) => `M0 ${y(value)}H${width}`).join('')
  const labels = points.flatMap(({ label }, index) => {
    if ((points.length - 1 - index) % labelEvery !== 0) return []
    return [svg('text', { x: `${(((index + 0.5) * 100) / points.length).toFixed(2)}%`, y: '1em' }, label)]
  })
  const shapes = [
    svg('path', { class: 'grid', d: grid }),
    svg('path', { class: 'bars', d: bars.join('') }),
    axisAt(height),
  ]
  const texts = scale.map((value) => html('span', {}, scaleText(decimalText(value, decimals))))
  const drawing = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': summary },
    ...shapes,
  )
  const plot = html(
    'div',
    { class: 'plot' },
    html('div', { class: 'scale muted number', 'aria-hidden': 'true' }, ...texts),
    html('div', { class: 'drawing' }, drawing, lines === 0n ? html('p', { class: 'nothing muted' }, nothing) : null),
    svg('svg', { class: 'marks', 'aria-hidden': 'true' }, ...labels),
  )
  return html('figure', { class: 'chart' }, html('figcaption', {}, title), plot, numbersOf(chart, points))
}

/** The smallest step of 1, 2, 5, 10, 20, … with which `linesMax` lines reach the highest value. */
function scaleStep(highest: bigint): bigint {
  for (let power = 1n; ; power *= 10n) {
    const step = [1n, 2n, 5n].map((digit) => digit * power).find((one) => one * linesMax >= highest)
    if (step !== undefined) return step
  }
}
