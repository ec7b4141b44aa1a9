import type { Rounds, Speeds } from './rounds.ts'

/** One measured figure: a row of the report. */
export interface Figure {
  readonly name: string
  /** The measured value with its unit, as text. */
  readonly value: string
  /** The name and value of the baseline, as text; empty if the figure is compared with nothing. */
  readonly baseline: string
  readonly ratio: number | null
  /** The limit that the figure must reach; null if it has none. */
  readonly target: { readonly text: string; readonly isReached: boolean } | null
}

/** How much a run measures. */
export interface Scale {
  readonly rounds: number
  /** Multiplies the work of a round. It is 1 in a full run. */
  readonly work: number
}

/** A figure without a baseline. */
export function figure(name: string, value: number, unit: string, target: Figure['target'] = null): Figure {
  return { name, value: `${formatNumber(value)} ${unit}`, baseline: '', ratio: null, target }
}

/** A figure beside its baseline. `ratio` is the median of the ratios of each round. */
export function compared(
  name: string,
  unit: string,
  measured: { readonly value: number; readonly baseline: number; readonly ratio: number },
  baselineName: string,
  ratioMin: number | null = null,
): Figure {
  const { value, baseline, ratio } = measured
  const target = ratioMin === null ? null : atLeast(ratioMin, ratio)
  return { ...figure(name, value, unit, target), baseline: `${baselineName}: ${formatNumber(baseline)}`, ratio }
}

/**
 * Two figures: the speed of one side, and its processor time for each item, both compared with the
 * other side. Outside Linux there is only the speed.
 */
export function comparedSpeeds<Side extends string>(
  name: string,
  items: string,
  { perSecond, cpuMs }: Speeds<Side>,
  [side, baseline]: readonly [side: Side, baseline: Side],
  baselineName: string,
  limits: { readonly speedMin?: number; readonly cpuMax?: number } = {},
): readonly Figure[] {
  const both = (of: Rounds<Side>) => {
    return { value: of.median(side), baseline: of.median(baseline), ratio: of.ratio(side, baseline) }
  }
  const cpu = both(cpuMs)
  const limit = limits.cpuMax === undefined ? null : atMost(limits.cpuMax, cpu.ratio)
  const ofCpu = { ...compared(`${name}: CPU time of each`, 'ms', cpu, baselineName), target: limit }
  const ofSpeed = compared(name, `${items}/s`, both(perSecond), baselineName, limits.speedMin ?? null)
  return Number.isNaN(cpu.ratio) ? [ofSpeed] : [ofSpeed, ofCpu]
}

/** A target for a figure of which more is better. */
export function atLeast(limit: number, value: number): Figure['target'] {
  return { text: `≥ ${limit}`, isReached: value >= limit }
}

/** A target for a figure of which less is better. */
export function atMost(limit: number, value: number): Figure['target'] {
  return { text: `≤ ${formatNumber(limit)}`, isReached: value <= limit }
}

/** The figures as a table in Markdown, aligned. */
export function toTable(figures: readonly Figure[]): string {
  const cells = figures.map(({ name, value, baseline, ratio, target }) => [
    name,
    value,
    baseline,
    ratio === null ? '' : formatNumber(ratio),
    target === null ? '' : `${target.text}${target.isReached ? '' : ' (not reached)'}`,
  ])
  const rows = [['figure', 'measured', 'compared with', 'ratio', 'target'], ...cells]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const rule = widths.map((width) => '-'.repeat(width))
  return [line(rows[0] ?? []), line(rule), ...rows.slice(1).map(line)].join('\n')
}

/** Three significant digits: more would only be noise. */
function formatNumber(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 3 })
}
