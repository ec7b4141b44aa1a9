/**
 * `npm run collect -- plan | sign | send`: moves the balances of the deposit addresses to one
 * address. `plan` and `send` use the network and no key, `sign` a key and no network. Exit codes:
 * 0, 1 (stopped, or not everything was done), 2 (wrong options).
 */
import { systemClock } from '../../worker/platform/clock.ts'
import { readTargetApart } from '../target-apart.ts'
import { runCollect } from './command.ts'

const abort = new AbortController()
const stopsInOrder = () => {
  process.once('SIGINT', stopInOrder)
  return abort.signal
}
const parts = { clock: systemClock, fetch, stopsInOrder, readTarget: readTargetApart }
const code = await runCollect(process.argv.slice(2), process, parts)
// Exit once everything is written, because timers of answered requests may still keep the process
// running.
process.stderr.write('', () => process.stdout.write('', () => process.exit(code)))

function stopInOrder(): void {
  process.stderr.write('\nStopping after the present request …\n')
  abort.abort()
}
