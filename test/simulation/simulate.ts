import { parseArgs } from 'node:util'
import { printLine, UserError } from '../support/project.ts'
import { defects } from './defects.ts'
import { importPatched } from './source-patch.ts'

/**
 * Runs seeds: `npm run simulate -- --seeds 1000 --from 1`. `--trace` prints each event. `--defect <name>` makes a deliberate mistake of
 * `defects.txt`, which some seed must find, and `--defects` says of each whether one does. Ends with status 1 at the first broken promise, and
 * prints the seed and the command that repeats it.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string' },
    trace: { type: 'boolean', default: false },
    defect: { type: 'string' },
    defects: { type: 'boolean', default: false },
  },
})
type RunModule = typeof import('./run.ts')
const seeds = parseCount('seeds', values.seeds)
const totals = new Map<string, number>()
const startedAt = performance.now()
let [deposits, early, printedAt] = [0, 0, startedAt]
let unpatched: ReturnType<RunModule['createSimulation']> | undefined

if (values.defects) for (const name of Object.keys(defects)) printLine(`${name}: ${await isFound(name)}`)
else {
  const from = parseCount('from', values.from ?? '1')
  const broken =
    values.defect === undefined ? await runSeeds(await import('./run.ts'), from) : await findDefect(values.defect)
  if (broken !== null) {
    const defect = values.defect === undefined ? '' : ` --defect "${values.defect}"`
    printLine(broken)
    printLine(`repeat it with: npm run simulate -- --seeds 1 --from ${broken.split(' ')[1]} --trace${defect}`)
    process.exit(1)
  }
  printLine(`${seeds} seeds from ${from}, ${perSecond(seeds)} a second: every promise was kept`)
  printLine(`${deposits} deposits, ${early} of them credited while faults occurred`)
  for (const [name, count] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
    printLine(`${String(count).padStart(10)} ${name}`)
  }
}

/** Whether a seed finds the mistake that keeps every promise without it. */
async function isFound(name: string): Promise<boolean> {
  const found = await findDefect(name)
  const seed = Number(found?.split(' ')[1])
  if (found === null) return false
  unpatched ??= (await import('./run.ts')).createSimulation()
  const { violation } = await unpatched(seed, { overrides: defects[name]?.overrides ?? {} })
  return violation === null
}

async function findDefect(name: string): Promise<string | null> {
  const defect = defects[name]
  if (defect === undefined) throw new UserError(`--defect takes one of:\n${Object.keys(defects).join('\n')}`)
  const module = await importPatched<RunModule>('test/simulation/run.ts', defect)
  const first = values.from === undefined ? defect.from : parseCount('from', values.from)
  return runSeeds(module, first, defect.overrides)
}

/** The first broken promise, or null. */
async function runSeeds({ createSimulation }: RunModule, from: number, overrides = {}): Promise<string | null> {
  const run = createSimulation()
  for (let seed = from; seed < from + seeds; seed += 1) {
    const outcome = await run(seed, { overrides, trace: values.trace ? printLine : undefined })
    if (outcome.violation !== null) return `seed ${seed} broke a promise: ${outcome.violation}`
    deposits += outcome.deposits
    early += outcome.early
    for (const [name, count] of outcome.counts) totals.set(name, (totals.get(name) ?? 0) + count)
    if (values.defects || performance.now() - printedAt < 5_000) continue
    printedAt = performance.now()
    printLine(`${seed - from + 1} of ${seeds} seeds, ${perSecond(seed - from + 1)} a second`)
  }
  return null
}

function parseCount(name: string, text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1) throw new UserError(`--${name} takes a whole number from 1`)
  return count
}

function perSecond(runs: number): string {
  return (runs / ((performance.now() - startedAt) / 1000)).toFixed(1)
}
