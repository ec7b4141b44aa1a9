/**
 * `npm run bench`: measures all figures in one run on one machine, saves the results and writes the report. Names of
 * groups as arguments measure only these groups; `--quick` does less work. Their figures are only printed. `--report`
 * writes the report from the saved results, without measuring.
 */
import { printLine, UserError } from '../support/project.ts'
import type { Figure, Scale } from './figure.ts'
import { measureBundle } from './figures/bundle.ts'
import { measureCallers } from './figures/callers.ts'
import { measureCounts } from './figures/counts.ts'
import { measureCpu } from './figures/cpu.ts'
import { measureCrediting } from './figures/credit.ts'
import { measureDerivation } from './figures/derive.ts'
import { measureMemory } from './figures/memory.ts'
import { measurePosting } from './figures/post.ts'
import { measureProofs } from './figures/proof.ts'
import { measureResponses } from './figures/responses.ts'
import { measureScan } from './figures/scan.ts'
import { stopWorkers } from './miniflare.ts'
import { saveResults, toText, writeReport } from './report.ts'
import { roundsMin } from './rounds.ts'

const groups: Readonly<Record<string, (scale: Scale) => Promise<readonly Figure[]>>> = {
  responses: measureResponses,
  derive: measureDerivation,
  scan: measureScan,
  counts: measureCounts,
  credit: measureCrediting,
  post: measurePosting,
  proof: measureProofs,
  callers: measureCallers,
  memory: measureMemory,
  bundle: measureBundle,
  cpu: measureCpu,
}
const fullScale: Scale = { rounds: 7, work: 1 }
const quickScale: Scale = { rounds: roundsMin, work: 0.15 }
/** A longer run hangs and is stopped. */
const runTimeoutMs = 15 * 60_000

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(1, 'Stopped.'))
setTimeout(() => void stop(1, 'The benchmark took longer than 15 minutes.'), runTimeoutMs).unref()

try {
  const args = process.argv.slice(2)
  const names = args.filter((arg) => !arg.startsWith('--'))
  const unknown = args.find((arg) => !(arg in groups) && arg !== '--quick' && arg !== '--report')
  if (unknown !== undefined) {
    throw new UserError(`Unknown argument "${unknown}": use --quick, --report or ${Object.keys(groups).join(', ')}.`)
  }
  if (args.includes('--report')) writeReport()
  else await run(names, args.includes('--quick'))
  await stop(0, 'Done.')
} catch (error) {
  const isUserError = error instanceof UserError
  const message = error instanceof Error ? ((isUserError ? null : error.stack) ?? error.message) : String(error)
  await stop(1, message)
}

async function run(names: readonly string[], isQuick: boolean): Promise<void> {
  const scale = isQuick ? quickScale : fullScale
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(groups)) {
    if (names.length > 0 && !names.includes(name)) continue
    const start = performance.now()
    printLine(`${name} …`)
    const measured = await measure(scale)
    figures.push(...measured)
    printLine(`${toText(measured)}\n(${name}: ${((performance.now() - start) / 1000).toFixed(0)} s)\n`)
  }
  if (names.length === 0 && !isQuick) {
    saveResults(figures, scale)
    writeReport()
  }
  const missed = figures.filter(({ target }) => target !== null && !target.isReached)
  printLine(missed.length === 0 ? 'All targets are reached.' : `Not reached:\n${toText(missed)}`)
}

/** Ends all that was started, then this process; its exit ends the child processes. */
async function stop(code: number, message: string): Promise<void> {
  printLine(message)
  await stopWorkers()
  process.exit(code)
}
