/**
 * `npm run audit -- verify <folder>`: checks an archive without the service. Exit codes: 0 nothing
 * is wrong, 1 a line is wrong or the command was stopped, 2 wrong options.
 */
import { runAudit } from './command.ts'

process.exitCode = await runAudit(process.argv.slice(2), process)
