import { parseArgs } from 'node:util'
import { err, ok, type Result } from '../../common/result.ts'
import { systemClock } from '../../platform/clock.ts'
import type { CommandOutput } from '../command-output.ts'
import { readConfiguration } from '../configuration.ts'
import { readStored } from '../database.ts'
import { type CheckResult, failed, lineOf } from './check-settings.ts'
import { runChecks } from './run-checks.ts'

/** Runs `npm run doctor` with these options. Returns the exit code. */
export async function runDoctor(args: readonly string[], { stdout }: CommandOutput): Promise<number> {
  const print = (line: string) => stdout.write(`${line}\n`)
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
  args: readonly string[],
): Result<{ readonly env: string | undefined; readonly sendsTests: boolean }, string> {
  try {
    const flag = { type: 'boolean' } as const
    const options = { env: { type: 'string' }, production: flag, webhooks: flag } as const
    const { env, production, webhooks = false } = parseArgs({ args: [...args], options }).values
    if (production && env !== undefined) return err('either --env or --production')
    return ok({ env: production ? '' : env, sendsTests: webhooks })
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}
