import { parseArgs } from 'node:util'
import { printLine, UserError } from '../support/project.ts'
import { defects } from './defects.ts'
import { applyPatch } from './source-patch.ts'

/**
 * Runs seeds: `npm run simulate -- --seeds 1000 --from 1`. `--trace` prints each event. `--defect <name>` makes a
 * deliberate mistake of `defects.ts`, which some seed must find. Ends with status 1 at the first broken promise, and prints
 * the seed and the command that repeats it.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    defect: { type: 'string' },
  },
})
const seeds = parseCount('seeds', values.seeds)
const from = parseCount('from', values.from)
if (values.defect !== undefined) {
  const defect = defects[values.defect]
  if (defect === undefined) throw new UserError(`--defect takes one of:\n${Object.keys(defects).join('\n')}`)
  applyPatch(defect)
}
const { createSimulation } = await import('./run.ts') // not before the patch is applied

const run = createSimulation()
const totals = new Map<string, number>()
const startedAt = performance.now()
let deposits = 0
let early = 0
let printedAt = startedAt
for (let seed = from; seed < from + seeds; seed += 1) {
  const outcome = await run(seed, values.trace ? printLine : undefined)
  if (outcome.violation !== null) {
    const defect = values.defect === undefined ? '' : ` --defect "${values.defect}"`
    printLine(`seed ${seed} broke a promise: ${outcome.violation}`)
    printLine(`repeat it with: npm run simulate -- --seeds 1 --from ${seed} --trace${defect}`)
    process.exit(1)
  }
  deposits += outcome.deposits
  early += outcome.early
  for (const [name, count] of outcome.counts) totals.set(name, (totals.get(name) ?? 0) + count)
  if (performance.now() - printedAt > 5_000) {
    printedAt = performance.now()
    printLine(`${seed - from + 1} of ${seeds} seeds, ${perSecond(seed - from + 1)} a second`)
  }
}
printLine(`${seeds} seeds from ${from}, ${perSecond(seeds)} a second: every promise was kept`)
printLine(`${deposits} deposits, ${early} of them stored while faults occurred`)
for (const [name, count] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
  printLine(`${String(count).padStart(10)} ${name}`)
}

function parseCount(name: string, text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1) throw new UserError(`--${name} takes a whole number from 1`)
  return count
}

function perSecond(runs: number): string {
  return (runs / ((performance.now() - startedAt) / 1000)).toFixed(1)
}
