/**
 * `npm run payout -- run | fetch | sign | submit`: signs payouts that the service has approved,
 * within limits of its own. Exit codes: 0, 1 (stopped, or not everything was taken), 2 (wrong
 * options).
 */
import { systemClock } from '../../worker/platform/clock.ts'
import { readTargetApart } from '../target-apart.ts'
import { runPayout } from './command.ts'

const abort = new AbortController()
const stopsInOrder = () => {
  process.once('SIGINT', stopInOrder)
  return abort.signal
}
const parts = { clock: systemClock, fetch, stopsInOrder, readTarget: readTargetApart }
const code = await runPayout(process.argv.slice(2), process, parts)
// Exit once everything is written, because timers of answered requests may still be running.
process.stderr.write('', () => process.stdout.write('', () => process.exit(code)))

function stopInOrder(): void {
  process.stderr.write('\nStopping after the present request …\n')
  abort.abort()
}
