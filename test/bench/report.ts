import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Figure, Scale } from './figure.ts'
import { root, Trouble } from './project.ts'

const resultsPath = `${root}test/bench/results.json`
const readmePath = `${root}README.md`
const biome = `${root}node_modules/@biomejs/biome/bin/biome`
/** What stands around the table in the README. */
const marks = ['<!-- bench: npm run bench writes this table -->', '<!-- /bench -->'] as const

/** Writes the results: as JSON, and as the table between the marks in the README. */
export function keep(figures: readonly Figure[], scale: Scale): void {
  const machine = { cores: cpus().length, processor: cpus()[0]?.model.trim() ?? '', node: process.version }
  const rounded = figures.map((figure) => ({
    ...figure,
    value: round(figure.value),
    beside: figure.beside === null ? null : { ...figure.beside, value: round(figure.beside.value) },
    ratio: figure.ratio === null ? null : round(figure.ratio),
  }))
  writeFileSync(resultsPath, `${JSON.stringify({ machine, rounds: scale.rounds, figures: rounded }, null, 2)}\n`)
  const readme = readFileSync(readmePath, 'utf8')
  const [start, end] = [readme.indexOf(marks[0]), readme.indexOf(marks[1])]
  if (start < 0 || end < start) throw new Trouble('the README has no place for the table')
  const before = readme.slice(0, start + marks[0].length)
  writeFileSync(readmePath, `${before}\n\n${toMarkdown(figures)}\n\n${readme.slice(end)}`)
  // The project's formatter aligns tables too, and the check holds both files to it.
  const formatted = spawnSync(process.execPath, [biome, 'format', '--write', resultsPath, readmePath], { cwd: root })
  if (formatted.status !== 0) throw new Trouble(`the results could not be formatted: ${formatted.stderr}`)
}

/** The table for the README: what stands beside something, has to reach something, or is time. */
function toMarkdown(figures: readonly Figure[]): string {
  const shown = figures.filter(({ ratio, reach, unit }) => ratio !== null || reach !== null || unit === 'ms')
  const cells = [
    ['figure', 'measured', 'beside', 'ratio', 'to reach'],
    ['---', '---:', '---', '---:', '---'],
    ...shown.map((figure) => [
      figure.name,
      `${write(figure.value)} ${figure.unit}`,
      besideOf(figure),
      figure.ratio === null ? '' : figure.ratio.toFixed(2),
      reachOf(figure),
    ]),
  ]
  return cells.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** What stands beside a figure; a time that stands alone has the platform's limits in its note. */
function besideOf({ beside, unit, reach, note }: Figure): string {
  if (beside !== null) return `${beside.name}: ${write(beside.value)}`
  return unit === 'ms' && reach === null ? note : ''
}

/** The table for a terminal, with the notes. */
export function toText(figures: readonly Figure[]): string {
  return figures
    .map((figure) => {
      const beside = figure.beside === null ? '' : `\n    beside ${figure.beside.name}: ${write(figure.beside.value)}`
      const ratio = figure.ratio === null ? '' : `, ratio ${figure.ratio.toFixed(3)}`
      const note = figure.note === '' ? '' : `\n    ${figure.note}`
      const reach = reachOf(figure)
      return `${figure.name}: ${write(figure.value)} ${figure.unit}${reach === '' ? '' : `  [${reach}]`}${beside}${ratio}${note}`
    })
    .join('\n')
}

function reachOf({ reach }: Figure): string {
  return reach === null ? '' : `${reach.what}${reach.isReached ? '' : ' (not reached)'}`
}

function write(value: number): string {
  return round(value).toLocaleString('en', { maximumFractionDigits: 3 })
}

/** Three significant digits: more would only be noise. */
function round(value: number): number {
  return Number(value.toPrecision(3))
}
