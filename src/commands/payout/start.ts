/**
 * `npm run payout -- run | fetch | sign | submit`: signs payouts that the service has approved, within limits of its own. Exit codes: 0,
 * 1 (stopped, or not everything was taken), 2 (wrong options).
 */
import { runPayout } from './command.ts'

const abort = new AbortController()
const code = await runPayout(process.argv.slice(2), process, () => {
  process.once('SIGINT', stopInOrder)
  return abort.signal
})
// Exit once everything is written, because timers of answered requests may still be running.
process.stderr.write('', () => process.stdout.write('', () => process.exit(code)))

function stopInOrder(): void {
  process.stderr.write('\nStopping after the present request …\n')
  abort.abort()
}
