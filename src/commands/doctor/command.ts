import { parseArgs } from 'node:util'
import { sourceOfCell } from '../cells.ts'
import type { CommandOutput } from '../command-output.ts'
import { readConfiguration } from '../configuration.ts'
import { readStored } from '../database.ts'
import { addressesOf, serviceOption } from '../deployed-health.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { cellOption, environmentOf, placeOptions } from '../place.ts'
import { rowsOf } from '../reading-database.ts'
import { runTool } from '../run-tool.ts'
import { describeTarget } from '../target.ts'
import { orRefuse } from '../tool-error.ts'
import { adviceFor } from './advice.ts'
import { type CheckResult, failed, lineOf } from './check-settings.ts'
import { runChecks } from './run-checks.ts'

export const doctorOptions = {
  ...placeOptions,
  ...cellOption,
  ...serviceOption,
  webhooks: { type: 'boolean', default: false },
} as const
const doctor = {
  usage: 'npm run doctor [-- [--production | --env <name>] [--cell <number>] [--service <url>] [--webhooks]]',
  options: Object.keys(doctorOptions),
}

/** Runs `npm run doctor` with these options. Returns the exit code: 1 if a check failed, else 0. */
export function runDoctor(
  args: readonly string[],
  output: CommandOutput,
  { clock, fetch }: CommandPlatform,
): Promise<number> {
  const print = (line: string) => output.stdout.write(`${line}\n`)
  return runTool(doctor, args, output, async () => {
    const { webhooks, cell, service, ...place } = parseArgs({ args: [...args], options: doctorOptions }).values
    const env = environmentOf(place)
    const whole = readConfiguration(env, process.env)
    const source = whole.ok ? orRefuse(sourceOfCell(whole.value, cell)) : null
    const urls = addressesOf(service, source?.isDeployment ? source.worker.urls : [])
    if (source !== null) print(describeTarget(source))
    const results =
      source === null
        ? [failed(`configuration: ${whole.ok ? '' : whole.error}`)]
        : runChecks(
            source,
            { clock, fetch, readStored: () => readStored(source.place), readRows: rowsOf },
            webhooks,
            urls,
          )
    const all: CheckResult[] = []
    for await (const result of results) {
      all.push(result)
      print(lineOf(result))
    }
    print(`\n${conclude(all, env !== undefined)}`)
    return all.some(({ level }) => level === 'FAIL') ? 1 : 0
  })
}

/**
 * Says whether the checked configuration may be deployed and, if not, the first fault with its
 * remedy.
 */
function conclude(results: readonly CheckResult[], isDeployment: boolean): string {
  const [first, ...others] = results.filter(({ level }) => level === 'FAIL')
  const warnings = results.filter(({ level }) => level === 'warn').length
  const more = others.length === 0 ? '' : ` (${others.length} more failed)`
  if (first !== undefined) {
    return `This must not be deployed; what comes first is ${first.text}${more}\nWhat to do: ${first.advice ?? adviceFor(first.text)}.`
  }
  if (isDeployment) return `This may be deployed: no check failed, ${warnings} warned.`
  return `This works here: no check failed, ${warnings} warned; --production or --env <name> checks what is deployed.`
}
