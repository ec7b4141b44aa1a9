/**
 * `npm run doctor`: checks a configuration against its live nodes and prints one line for each check. Without an option it
 * checks the configuration of this machine (wrangler.toml and .dev.vars, as `wrangler dev` uses them); `--production` and
 * `--env <name>` check deployments. `--webhooks` also sends a signed test event to each endpoint. Exit codes: 0 no check failed, 1 a check failed, 2 wrong options.
 */
import { parseArgs } from 'node:util'
import { err, ok, type Result } from '../../common/result.ts'
import { systemClock } from '../../platform/clock.ts'
import { readConfiguration } from '../configuration.ts'
import { readStored } from '../database.ts'
import { type CheckResult, failed, lineOf } from './check-settings.ts'
import { runChecks } from './run-checks.ts'

const code = await run(process.argv.slice(2))
process.stdout.write('', () => process.exit(code)) // although timers of requests that are already answered are still running

async function run(args: string[]): Promise<number> {
  const chosen = readOptions(args)
  if (!chosen.ok) {
    print(`${chosen.error}\nnpm run doctor [-- [--production | --env <name>] [--webhooks]]`)
    return 2
  }
  const { env, sendsTests } = chosen.value
  const source = readConfiguration(env, process.env)
  const results = source.ok
    ? runChecks(source.value, { clock: systemClock, fetch, readStored: () => readStored(env) }, sendsTests)
    : [failed(`configuration: ${source.error}`)]
  const all: CheckResult[] = []
  for await (const result of results) {
    all.push(result)
    print(lineOf(result))
  }
  print(`\n${conclude(all, env !== undefined)}`)
  return all.some(({ level }) => level === 'FAIL') ? 1 : 0
}

/** Whether this may be deployed, and if not, what comes first: one sentence. */
function conclude(results: readonly CheckResult[], isDeployment: boolean): string {
  const [first, ...others] = results.filter(({ level }) => level === 'FAIL')
  const warnings = results.filter(({ level }) => level === 'warn').length
  const more = others.length === 0 ? '' : ` (${others.length} more failed)`
  if (first !== undefined) return `This must not be deployed; what comes first is ${first.text}${more}`
  if (isDeployment) return `This may be deployed: no check failed, ${warnings} warned.`
  return `This works here: no check failed, ${warnings} warned; --production or --env <name> checks what is deployed.`
}

/** `env` is the environment of a deployment ('' is the top level, as for wrangler), or undefined: this machine. */
function readOptions(
  args: string[],
): Result<{ readonly env: string | undefined; readonly sendsTests: boolean }, string> {
  try {
    const flag = { type: 'boolean' } as const
    const options = { env: { type: 'string' }, production: flag, webhooks: flag } as const
    const { env, production, webhooks = false } = parseArgs({ args, options }).values
    if (production && env !== undefined) return err('either --env or --production')
    return ok({ env: production ? '' : env, sendsTests: webhooks })
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
