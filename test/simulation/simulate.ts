import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { printLine, UserError } from '../support/project.ts'
import { defects } from './defects.ts'
import { importPatched } from './source-patch.ts'

/**
 * Runs seeds: `npm run simulate -- --seeds 1000 --from 1`, with `--workers 2` on two cores. It
 * stops at the first broken promise; `--all` goes on, and prints each. `--trace` prints each event.
 * `--defect <name>` makes a deliberate mistake of `defects.txt`, which some seed must find.
 * `--year` runs a year in virtual time in place of seeds, or `--days` of it, and prints what grows.
 * `--defects` says for each mistake, or for that of `--defect`, whether a seed finds it. Each seed
 * that breaks a promise is printed with the command that repeats it, and the status is 1 then.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string' },
    workers: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    defect: { type: 'string' },
    defects: { type: 'boolean', default: false },
    year: { type: 'boolean', default: false },
    days: { type: 'string', default: '365' },
  },
})
type RunModule = typeof import('./run.ts')
type Outcome = import('./run.ts').Outcome
type Simulation = ReturnType<RunModule['createSimulation']>
const seeds = parseCount('seeds', values.seeds)
const workers = parseCount('workers', values.workers)
const startedAt = performance.now()

if (!isMainThread) await runShare()
else if (values.year) await printYear()
else if (values.defects) await findDefects()
else if (values.defect === undefined) await runAll()
else await repeatDefect(values.defect)

/** Runs a year, and prints what was measured and done. */
async function printYear(): Promise<void> {
  const [{ runYear, yearRates }, { describeYear }] = await Promise.all([import('./year.ts'), import('./year-table.ts')])
  const days = parseCount('days', values.days)
  const progress = (day: number) => {
    if (day % 10 === 0) printLine(`${day} of ${days} days, ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }
  const trace = values.trace ? printLine : undefined
  const report = await runYear({ days, rates: yearRates, eventsKeepDays: days < 60 ? 3 : 30, progress }, trace)
  for (const line of await describeYear(report)) printLine(line)
  const { violation, deposits } = report.outcome
  printLine(`${days} days, ${deposits} deposits: ${violation ?? 'every promise was kept'}`)
  if (violation !== null) process.exitCode = 1
}

/**
 * Runs all seeds. Prints each seed that breaks a promise, and at the end how often each kind of
 * event occurred in all seeds together.
 */
async function runAll(): Promise<void> {
  const from = parseCount('from', values.from ?? '1')
  const totals = new Map<string, number>()
  let [done, broken, deposits, early, printedAt] = [0, 0, 0, 0, startedAt]
  await runSeeds(from, (outcome) => {
    done += 1
    deposits += outcome.deposits
    early += outcome.early
    for (const [name, count] of outcome.counts) totals.set(name, (totals.get(name) ?? 0) + count)
    if (outcome.violation !== null) {
      broken += 1
      printBroken(outcome)
      if (!values.all) process.exit(1)
    }
    if (performance.now() - printedAt < 5_000) return
    printedAt = performance.now()
    printLine(`${done} of ${seeds} seeds, ${perSecond(done)} a second`)
  })
  const result = broken === 0 ? 'every promise was kept' : `${broken} broke a promise`
  printLine(`${seeds} seeds from ${from}, ${perSecond(seeds)} a second: ${result}`)
  printLine(`${deposits} deposits, ${early} of them credited while faults occurred`)
  for (const [name, count] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
    printLine(`${String(count).padStart(10)} ${name}`)
  }
  if (broken > 0) process.exitCode = 1
}

/**
 * Runs all seeds in this thread, or starts `workers` threads, each of which runs every `workers`-th
 * seed.
 */
async function runSeeds(from: number, report: (outcome: Outcome) => void): Promise<void> {
  if (workers === 1) {
    const run = (await import('./run.ts')).createSimulation()
    const trace = values.trace ? printLine : undefined
    for (let seed = from; seed < from + seeds; seed += 1) report(await run(seed, { trace }))
    return
  }
  const runShareOf = (first: number) =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(fileURLToPath(import.meta.url), { argv: process.argv.slice(2), workerData: first })
      worker.on('message', report)
      worker.on('error', reject)
      worker.on('exit', () => resolve())
    })
  await Promise.all(Array.from({ length: workers }, (_, i) => runShareOf(from + i)))
}

/** Runs the seeds of one worker thread: its first one, and from there every `workers`-th. */
async function runShare(): Promise<void> {
  const first = Number(workerData)
  const end = parseCount('from', values.from ?? '1') + seeds
  const run = (await import('./run.ts')).createSimulation()
  for (let seed = first; seed < end; seed += workers) parentPort?.postMessage(await run(seed))
}

function printBroken({ seed, violation }: Outcome): void {
  const defect = values.defect === undefined ? '' : ` --defect "${values.defect}"`
  printLine(`seed ${seed} broke a promise: ${violation}`)
  printLine(`repeat it with: npm run simulate -- --seeds 1 --from ${seed} --trace${defect}`)
}

async function repeatDefect(name: string): Promise<void> {
  const broken = await findDefect(name)
  if (broken === null) return printLine(`${seeds} seeds, ${perSecond(seeds)} a second: every promise was kept`)
  printBroken(broken)
  process.exitCode = 1
}

/** Prints for each mistake, or for the one of `--defect`, whether a seed finds it. */
async function findDefects(): Promise<void> {
  const unpatched = (await import('./run.ts')).createSimulation()
  const names = values.defect === undefined ? Object.keys(defects) : [values.defect]
  for (const name of names) printLine(`${name}: ${await judge(name, unpatched)}`)
}

/**
 * Returns `found` if some seed breaks a promise with the mistake, and the same seed keeps every
 * promise without it up to the block of that violation. Else why the mistake does not count as
 * found.
 */
async function judge(name: string, unpatched: Simulation): Promise<string> {
  const found = await findDefect(name)
  if (found === null) return `not found by ${seeds} seeds`
  const overrides = defects[name]?.overrides ?? {}
  const { violation } = await unpatched(found.seed, { overrides, until: found.height })
  return violation === null ? 'found' : `seed ${found.seed} breaks a promise without the mistake, too: ${violation}`
}

/** The first seed that breaks a promise with the mistake, or null. */
async function findDefect(name: string): Promise<Outcome | null> {
  const defect = defects[name]
  if (defect === undefined) throw new UserError(`--defect takes one of:\n${Object.keys(defects).join('\n')}`)
  const run = (await importPatched<RunModule>('test/simulation/run.ts', defect)).createSimulation()
  const first = values.from === undefined ? defect.from : parseCount('from', values.from)
  const trace = values.trace ? printLine : undefined
  for (let seed = first; seed < first + seeds; seed += 1) {
    const outcome = await run(seed, { overrides: defect.overrides, trace })
    if (outcome.violation !== null) return outcome
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
