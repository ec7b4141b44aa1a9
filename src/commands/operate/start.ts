/**
 * `npm run operate -- <command>`: reads and changes stored data for an operator. `--production`,
 * `--env <name>` or `--local` names the deployment or this machine. Exit codes: 0 done, 1 refused,
 * 2 wrong options.
 */
import { systemClock } from '../../worker/platform/clock.ts'
import { runOperate } from './command.ts'

process.exitCode = await runOperate(process.argv.slice(2), process, { clock: systemClock })
