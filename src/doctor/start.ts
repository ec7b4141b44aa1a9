/**
 * `npm run doctor`: checks a configuration against its live nodes, one line for each check. Without an option it is this
 * machine's (wrangler.toml and .dev.vars, what `wrangler dev` runs); `--production` and `--env <name>` are deployments'.
 * Exit code 0 is green, 1 is not, 2 is an option that it does not have.
 */
import { parseArgs } from 'node:util'
import { systemClock } from '../platform/clock.ts'
import { type CheckResult, failed, lineOf, summaryOf } from './check-result.ts'
import { type DoctorTarget, readConfiguration } from './read-configuration.ts'
import { runChecks } from './run-checks.ts'

const usage = 'npm run doctor [-- --production | -- --env <name>]'

const target = readTarget(process.argv.slice(2))
leave(target === null ? 2 : await run(target))

async function run(wanted: DoctorTarget): Promise<number> {
  const findings: CheckResult[] = []
  const tell = (finding: CheckResult) => {
    findings.push(finding)
    say(lineOf(finding))
  }
  const source = readConfiguration(wanted, process.env)
  if (source.ok) for await (const finding of runChecks(source.value, { clock: systemClock, fetch })) tell(finding)
  else tell(failed(`configuration: ${source.error}`))
  say(`\n${summaryOf(findings)}`)
  return findings.some(({ level }) => level === 'FAIL') ? 1 : 0
}

function readTarget(args: string[]): DoctorTarget | null {
  try {
    const options = { env: { type: 'string' }, production: { type: 'boolean' } } as const
    const { env, production = false } = parseArgs({ args, options }).values
    if (production && env !== undefined) throw new Error('either --env or --production')
    if (env === undefined && !production) return { kind: 'local' }
    return { kind: 'deployment', env: env || null } // wrangler's own --env="" is the top level too
  } catch (error) {
    say(`${error instanceof Error ? error.message : 'unknown option'}\n${usage}`)
    return null
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Ends although the time limits of requests that were answered still tick. */
function leave(code: number): void {
  process.stdout.write('', () => process.exit(code))
}
