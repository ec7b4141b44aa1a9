/**
 * `npm run bench`: measures the figures in one run on one machine and prints them as a table.
 * Arguments are names of groups: then only these are measured. The groups that take long are
 * measured only by their names. `--quick` does less work. `--blnk=` and `--formance=` are for
 * `peers`: a URL, and the processes whose CPU time counts, separated by commas.
 */
import { printLine, UserError } from '../support/project.ts'
import { type Figure, type Scale, toTable } from './figure.ts'
import { measureArchive } from './figures/archive.ts'
import { measureAudit } from './figures/audit.ts'
import { measureBundle } from './figures/bundle.ts'
import { measureCatchUp } from './figures/catch-up.ts'
import { measureCells } from './figures/cells.ts'
import { measureDelays } from './figures/delays.ts'
import { measureEvents } from './figures/events.ts'
import { measureLarge } from './figures/large.ts'
import { measureLists } from './figures/lists.ts'
import { measureMemory } from './figures/memory.ts'
import { measureNodes } from './figures/nodes.ts'
import { measurePage } from './figures/page.ts'
import { measurePayer } from './figures/payer.ts'
import { measurePayoutTroubles } from './figures/payout-troubles.ts'
import { measurePayouts } from './figures/payouts.ts'
import { measurePeers } from './figures/peers.ts'
import { measureTick } from './figures/tick.ts'
import { measureWaiting } from './figures/waiting.ts'
import { measureWrites } from './figures/writes.ts'
import { stopWorkers } from './miniflare.ts'
import { parsePeer } from './peers.ts'

const groups: Readonly<Record<string, (scale: Scale) => Promise<readonly Figure[]>>> = {
  delays: measureDelays,
  nodes: measureNodes,
  payouts: measurePayouts,
  'payout-troubles': measurePayoutTroubles,
  tick: measureTick,
  'catch-up': measureCatchUp,
  writes: measureWrites,
  events: measureEvents,
  lists: measureLists,
  memory: measureMemory,
  bundle: measureBundle,
  page: measurePage,
  cells: measureCells,
  audit: measureAudit,
}
const args = process.argv.slice(2)
const isQuick = args.includes('--quick')
const peers = args.flatMap((arg) => parsePeer(arg) ?? [])
const names = args.filter((arg) => arg !== '--quick' && parsePeer(arg) === null)
/** Groups that run only by their name. */
const longGroups: typeof groups = {
  archive: measureArchive,
  payer: measurePayer,
  waiting: measureWaiting,
  large: measureLarge,
  peers: (scale) => measurePeers(scale, peers),
}
/** A run that takes longer than this is stopped, because it hangs. */
const runMinutes = names.some((name) => name in longGroups) ? 180 : 30

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(1, 'Stopped.'))
setTimeout(() => void stop(1, `The benchmark took longer than ${runMinutes} minutes.`), runMinutes * 60_000).unref()

try {
  const all = { ...groups, ...longGroups }
  const unknown = names.find((name) => !(name in all))
  if (unknown !== undefined) {
    throw new UserError(
      `Unknown argument "${unknown}": use --quick, --blnk, --formance or ${Object.keys(all).join(', ')}.`,
    )
  }
  const scale = isQuick ? { rounds: 3, work: 0.15 } : { rounds: 7, work: 1 }
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(all)) {
    if (names.length > 0 ? !names.includes(name) : name in longGroups) continue
    const start = performance.now()
    const found = await measure(scale)
    // A quick run judges no target, because it measures too little: one quick run had a ratio of
    // 0.43 where a full run had 0.73.
    const measured = isQuick ? found.map((one) => ({ ...one, target: null })) : found
    figures.push(...measured)
    printLine(`${name} (${((performance.now() - start) / 1000).toFixed(0)} s)\n${toTable(measured)}\n`)
  }
  const missed = figures.filter(({ target }) => target?.isReached === false)
  const judged = missed.length === 0 ? 'All targets are reached.' : 'Not all targets.'
  const verdict = isQuick ? 'A quick run has no verdict.' : judged
  await stop(0, `\n${toTable(figures)}\n\n${verdict}`)
} catch (error) {
  const isUserError = error instanceof UserError
  const message = error instanceof Error ? ((isUserError ? null : error.stack) ?? error.message) : String(error)
  await stop(1, message)
}

/** Ends all that was started, then this process; its exit ends the child processes. */
async function stop(code: number, message: string): Promise<void> {
  printLine(message)
  await stopWorkers()
  process.exit(code)
}
