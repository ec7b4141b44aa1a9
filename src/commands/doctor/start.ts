/**
 * `npm run doctor`: checks a configuration against its live nodes and prints one line for each
 * check. Without an option it checks the configuration of this machine (wrangler.toml and
 * .dev.vars, as `wrangler dev` uses them); `--production` and `--env <name>` check deployments.
 * `--webhooks` also sends a signed test event to each endpoint. Exit codes: 0 no check failed, 1 a
 * check failed, 2 wrong options.
 */
import { systemClock } from '../../worker/platform/clock.ts'
import { runDoctor } from './command.ts'

const code = await runDoctor(process.argv.slice(2), process, { clock: systemClock, fetch })
process.stdout.write('', () => process.exit(code)) // exit now: timers of answered requests may still be running
