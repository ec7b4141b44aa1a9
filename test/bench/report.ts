import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { printLine, root, UserError } from '../support/project.ts'
import type { Figure, Scale } from './figure.ts'

const resultsPath = `${root}test/bench/results.json`
const benchReadmePath = `${root}test/bench/README.md`
const readmePath = `${root}README.md`
const biome = `${root}node_modules/@biomejs/biome/bin/biome`
const tableStart = '<!-- bench: table -->'
const headlinesStart = '<!-- bench: five figures -->'
const sectionEnd = '<!-- /bench -->'

interface Results {
  readonly machine: { readonly cores: number; readonly processor: string; readonly node: string }
  readonly rounds: number
  readonly figures: readonly Figure[]
}

/** Writes `results.json`, with three significant digits. */
export function saveResults(figures: readonly Figure[], scale: Scale): void {
  const machine = { cores: cpus().length, processor: cpus()[0]?.model.trim() ?? '', node: process.version }
  const rounded = figures.map((figure) => ({
    ...figure,
    value: round(figure.value),
    baseline: figure.baseline === null ? null : { ...figure.baseline, value: round(figure.baseline.value) },
    ratio: figure.ratio === null ? null : round(figure.ratio),
  }))
  const results: Results = { machine, rounds: scale.rounds, figures: rounded }
  writeFileSync(resultsPath, `${JSON.stringify(results, null, 2)}\n`)
  format(resultsPath)
}

/**
 * Writes the figures of `results.json` into `test/bench/README.md` (all) and the project's `README.md` (five of them).
 */
export function writeReport(): void {
  const { figures } = JSON.parse(readFileSync(resultsPath, 'utf8')) as Results // `saveResults` writes it
  if (!fillSection(benchReadmePath, tableStart, toTable(figures))) {
    throw new UserError(`test/bench/README.md has no section from "${tableStart}" to "${sectionEnd}".`)
  }
  if (!fillSection(readmePath, headlinesStart, toHeadlines(figures))) {
    printLine(`README.md has no section from "${headlinesStart}" to "${sectionEnd}": its figures are not updated.`)
  }
}

/** Replaces the text between two markers of a Markdown file; returns whether the file has the markers. */
function fillSection(path: string, startMarker: string, content: string): boolean {
  const text = readFileSync(path, 'utf8')
  const start = text.indexOf(startMarker)
  const end = text.indexOf(sectionEnd, start)
  if (start < 0 || end < 0) return false
  writeFileSync(path, `${text.slice(0, start + startMarker.length)}\n\n${content}\n\n${text.slice(end)}`)
  format(path)
  return true
}

/** Applies the project's formatter, which also aligns tables. */
function format(path: string): void {
  const formatted = spawnSync(process.execPath, [biome, 'format', '--write', path], { cwd: root })
  if (formatted.status !== 0) throw new UserError(`${path} could not be formatted: ${formatted.stderr}`)
}

/** The figures with a baseline or a target, and the times. */
function toTable(figures: readonly Figure[]): string {
  const shown = figures.filter(({ ratio, target, unit }) => ratio !== null || target !== null || unit === 'ms')
  const rows = [
    ['figure', 'measured', 'compared with', 'ratio (median of rounds)', 'target'],
    ['---', '---:', '---', '---:', '---'],
    ...shown.map((figure) => [
      figure.name,
      `${formatNumber(figure.value)} ${figure.unit}`,
      comparisonOf(figure),
      figure.ratio === null ? '' : formatNumber(figure.ratio),
      targetOf(figure),
    ]),
  ]
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** The baseline; for a time without baseline and target, its note compares it with the platform's limits. */
function comparisonOf({ baseline, unit, target, note }: Figure): string {
  if (baseline !== null) return `${baseline.name}: ${formatNumber(baseline.value)}`
  return unit === 'ms' && target === null ? note : ''
}

/** One line for each figure with a headline: its ratio, or else its value, and how that is computed. */
function toHeadlines(figures: readonly Figure[]): string {
  return figures
    .filter(({ headline }) => headline !== null)
    .map(({ value, unit, ratio, headline }) => {
      const shown = ratio === null ? `${formatNumber(value)} ${unit}` : formatNumber(ratio)
      return `- **${shown}**: ${headline}`
    })
    .join('\n')
}

/** The figures for a terminal, with their notes. */
export function toText(figures: readonly Figure[]): string {
  return figures
    .map((figure) => {
      const { name, value, unit, baseline, ratio, note } = figure
      const target = targetOf(figure)
      const lines = [`${name}: ${formatNumber(value)} ${unit}${target === '' ? '' : `  [${target}]`}`]
      if (baseline !== null) lines.push(`compared with ${baseline.name}: ${formatNumber(baseline.value)}`)
      if (ratio !== null) lines.push(`ratio (median of rounds): ${formatNumber(ratio)}`)
      if (note !== '') lines.push(note)
      return lines.join('\n    ')
    })
    .join('\n')
}

function targetOf({ target }: Figure): string {
  return target === null ? '' : `${target.text}${target.isReached ? '' : ' (not reached)'}`
}

function formatNumber(value: number): string {
  return round(value).toLocaleString('en', { maximumFractionDigits: 3 })
}

/** Three significant digits; more would only be noise. */
function round(value: number): number {
  return Number(value.toPrecision(3))
}
