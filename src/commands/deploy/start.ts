/**
 * `npm run deploy -- --production | --env <name>`: applies the missing migrations, then deploys the
 * Worker, and stops at the first step that fails. An applied migration never runs again, and this
 * command deletes and rewrites no stored data. The Worker is deployed last, because its code may
 * need new tables. Exit codes: 0 done, 1 stopped, 2 wrong options.
 */
import { runDeploy } from './command.ts'

process.exitCode = await runDeploy(process.argv.slice(2), process)
