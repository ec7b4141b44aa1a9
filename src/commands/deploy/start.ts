/**
 * `npm run deploy -- --production | --env <name>`: says what will be done, and stops where the new
 * version would refuse the stored data. Then it applies the missing migrations, deploys the Worker,
 * stops at the first step that fails, and asks the deployment which version runs. An applied
 * migration never runs again, and this command deletes and rewrites no stored data. The Worker is
 * deployed last, because its code may need new tables. `--dry-run` changes nothing. Exit codes: 0
 * done, 1 stopped, 2 wrong options.
 */
import { systemClock } from '../../worker/platform/clock.ts'
import { runDeploy } from './command.ts'

process.exitCode = await runDeploy(process.argv.slice(2), process, { clock: systemClock, fetch })
