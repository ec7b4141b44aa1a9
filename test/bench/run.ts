/**
 * `npm run bench`: every figure beside its limit, in one run on one machine. `--quick` takes less of each (for work on
 * the benchmark itself: its figures are not kept); names after it measure those groups alone.
 */
import { stopBundling } from './bundles.ts'
import type { Figure, Scale } from './figure.ts'
import { measureAnswers } from './figures/answers.ts'
import { measureBundle } from './figures/bundle.ts'
import { measureCounts } from './figures/counts.ts'
import { measureCpu } from './figures/cpu.ts'
import { measureCrediting } from './figures/credit.ts'
import { measureDerivation } from './figures/derive.ts'
import { measureScan } from './figures/scan.ts'
import { stopNodes } from './node-process.ts'
import { stopPlatforms } from './platform.ts'
import { say, Trouble } from './project.ts'
import { keep, toText } from './report.ts'
import { roundsMin } from './rounds.ts'

const groups: Readonly<Record<string, (scale: Scale) => Promise<readonly Figure[]>>> = {
  answers: measureAnswers,
  derive: measureDerivation,
  scan: measureScan,
  counts: measureCounts,
  credit: measureCrediting,
  bundle: measureBundle,
  cpu: measureCpu,
}
const fullScale: Scale = { rounds: 7, work: 1 }
const quickScale: Scale = { rounds: roundsMin, work: 0.15 }
/** The whole run's time. What is longer hangs, and is ended. */
const runWithinMs = 15 * 60_000

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void leave(1, 'Ended.'))
setTimeout(() => void leave(1, 'The benchmark took longer than 15 minutes.'), runWithinMs).unref()

try {
  const args = process.argv.slice(2)
  const isQuick = args.includes('--quick')
  const names = args.filter((arg) => arg !== '--quick')
  const unknown = names.find((name) => !(name in groups))
  if (unknown !== undefined) throw new Trouble(`"${unknown}" is none of ${Object.keys(groups).join(', ')}.`)
  await run(isQuick ? quickScale : fullScale, names, isQuick)
  await leave(0, 'Done.')
} catch (error) {
  const why = error instanceof Trouble ? error.message : error instanceof Error ? (error.stack ?? error.message) : error
  await leave(1, String(why))
}

async function run(scale: Scale, names: readonly string[], isQuick: boolean): Promise<void> {
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(groups)) {
    if (names.length > 0 && !names.includes(name)) continue
    const start = performance.now()
    say(`${name} …`)
    const measured = await measure(scale)
    figures.push(...measured)
    say(`${toText(measured)}\n(${name}: ${((performance.now() - start) / 1000).toFixed(0)} s)\n`)
  }
  const isWhole = names.length === 0 && !isQuick
  if (isWhole) keep(figures, scale)
  const missed = figures.filter(({ reach }) => reach !== null && !reach.isReached)
  say(missed.length === 0 ? 'Every figure is reached.' : `Not reached:\n${toText(missed)}`)
}

/** Ends what was started, and then this process. */
async function leave(code: number, sentence: string): Promise<void> {
  say(sentence)
  stopBundling()
  stopNodes()
  await stopPlatforms()
  process.exit(code)
}
