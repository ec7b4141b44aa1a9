/**
 * `npm run audit -- verify <folder>`: checks an archive without the service. `rebuild <folder>
 * <file>`: writes the database that it is of. `missing <folder>`: what a restored database lacks of
 * it. Exit codes: 0 nothing is wrong or missing, 1 something is, or the command was stopped, 2
 * wrong options.
 */
import { systemClock } from '../../worker/platform/clock.ts'
import { runAudit } from './command.ts'

const args = process.argv.slice(2)
const platform = { clock: systemClock, fetch }
if (args[0] === 'missing') {
  const { runMissing } = await import('./missing-command.ts') // it loads more than `verify` may take
  process.exitCode = await runMissing(args, process, platform)
} else if (args[0] === 'rebuild') {
  const { runRebuild } = await import('./rebuild-command.ts')
  process.exitCode = await runRebuild(args, process, platform)
} else {
  process.exitCode = await runAudit(args, process, platform)
}
