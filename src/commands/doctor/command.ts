import { parseArgs } from 'node:util'
import { systemClock } from '../../worker/platform/clock.ts'
import type { CommandOutput } from '../command-output.ts'
import { readConfiguration } from '../configuration.ts'
import { readStored } from '../database.ts'
import { environmentOf, placeOptions } from '../place.ts'
import { runTool } from '../run-tool.ts'
import { describeTarget } from '../target.ts'
import { adviceFor } from './advice.ts'
import { type CheckResult, failed, lineOf } from './check-settings.ts'
import { runChecks } from './run-checks.ts'

/** The options of `npm run doctor`. */
export const doctorOptions = { ...placeOptions, webhooks: { type: 'boolean', default: false } } as const
const doctor = {
  usage: 'npm run doctor [-- [--production | --env <name>] [--webhooks]]',
  options: Object.keys(doctorOptions),
}

/** Runs `npm run doctor` with these options. Returns the exit code. */
export function runDoctor(args: readonly string[], output: CommandOutput): Promise<number> {
  const print = (line: string) => output.stdout.write(`${line}\n`)
  return runTool(doctor, args, output, async () => {
    const { webhooks, ...place } = parseArgs({ args: [...args], options: doctorOptions }).values
    const env = environmentOf(place)
    const source = readConfiguration(env, process.env)
    if (source.ok) print(describeTarget(source.value))
    const results = source.ok
      ? runChecks(source.value, { clock: systemClock, fetch, readStored: () => readStored(env) }, webhooks)
      : [failed(`configuration: ${source.error}`)]
    const all: CheckResult[] = []
    for await (const result of results) {
      all.push(result)
      print(lineOf(result))
    }
    print(`\n${conclude(all, env !== undefined)}`)
    return all.some(({ level }) => level === 'FAIL') ? 1 : 0
  })
}

/** Says whether this may be deployed and, if not, the first fault with its remedy. */
function conclude(results: readonly CheckResult[], isDeployment: boolean): string {
  const [first, ...others] = results.filter(({ level }) => level === 'FAIL')
  const warnings = results.filter(({ level }) => level === 'warn').length
  const more = others.length === 0 ? '' : ` (${others.length} more failed)`
  if (first !== undefined) {
    return `This must not be deployed; what comes first is ${first.text}${more}\nWhat to do: ${adviceFor(first.text)}.`
  }
  if (isDeployment) return `This may be deployed: no check failed, ${warnings} warned.`
  return `This works here: no check failed, ${warnings} warned; --production or --env <name> checks what is deployed.`
}
