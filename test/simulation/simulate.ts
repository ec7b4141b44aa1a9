import { parseArgs } from 'node:util'
import { defects } from './defects.ts'
import { createSimulation } from './run.ts'

/**
 * Runs seeds, as many as one likes: `npm run simulate -- --seeds 1000 --from 1`. `--trace` writes all that happens;
 * `--defect <name>` makes a deliberate mistake of `defects.ts`, which some seed must find. Ends at the first broken
 * promise, with the seed and how to repeat it.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    defect: { type: 'string' },
  },
})
const seeds = Number(values.seeds)
const from = Number(values.from)
if (!Number.isSafeInteger(seeds) || !Number.isSafeInteger(from) || seeds < 1 || from < 0) {
  throw new Error('--seeds and --from are whole numbers')
}
const createDefect = values.defect === undefined ? () => ({}) : defects[values.defect]
if (createDefect === undefined) throw new Error(`--defect is one of:\n${Object.keys(defects).join('\n')}`)
const say = (line: string) => process.stdout.write(`${line}\n`)

const run = createSimulation()
const totals = new Map<string, number>()
const beganAt = performance.now()
let deposits = 0
let early = 0
let saidAt = beganAt
for (let seed = from; seed < from + seeds; seed += 1) {
  const outcome = await run(seed, { defect: createDefect(), ...(values.trace ? { write: say } : {}) })
  if (outcome.broken !== null) {
    const defect = values.defect === undefined ? '' : ` --defect "${values.defect}"`
    say(`seed ${seed} broke a promise: ${outcome.broken}`)
    say(`repeat it with: npm run simulate -- --seeds 1 --from ${seed} --trace${defect}`)
    process.exit(1)
  }
  deposits += outcome.deposits
  early += outcome.early
  for (const [name, count] of outcome.counts) totals.set(name, (totals.get(name) ?? 0) + count)
  if (performance.now() - saidAt > 5_000) {
    saidAt = performance.now()
    say(`${seed - from + 1} of ${seeds} seeds, ${perSecond(seed - from + 1)} a second`)
  }
}
say(`${seeds} seeds from ${from}, ${perSecond(seeds)} a second: every promise was kept`)
say(`${deposits} deposits were due, ${early} of them were stored while things went wrong`)
for (const [name, count] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1)))
  say(`${String(count).padStart(10)} ${name}`)

function perSecond(runs: number): string {
  return (runs / ((performance.now() - beganAt) / 1000)).toFixed(0)
}
