/**
 * `npm run db:migrate [-- --production | --env <name>]`: applies only the missing migrations;
 * without options to the database of this machine. Exit codes: 0 done, 1 stopped, 2 wrong options.
 */
import { runMigrate } from './command.ts'

process.exitCode = await runMigrate(process.argv.slice(2), process)
