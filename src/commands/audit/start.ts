/**
 * `npm run audit -- verify <folder>`: checks an archive without the service. `missing <folder>`:
 * what a restored database lacks of it. Exit codes: 0 nothing is wrong or missing, 1 something is,
 * or the command was stopped, 2 wrong options.
 */
import { systemClock } from '../../worker/platform/clock.ts'
import { runAudit } from './command.ts'
import { runMissing } from './missing-command.ts'

const args = process.argv.slice(2)
const isMissing = args[0] === 'missing'
process.exitCode = isMissing ? await runMissing(args, process, { clock: systemClock }) : await runAudit(args, process)
