/**
 * `npm run operate -- <command>`: what an operator can ask of stored data, and change in it. `--production`, `--env <name>` or
 * `--local` says whose. Exit codes: 0 done, 1 refused, 2 wrong options.
 */
import { runOperate } from './command.ts'

process.exitCode = await runOperate(process.argv.slice(2), process)
