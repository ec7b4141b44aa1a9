import { systemClock } from '../../platform/clock.ts'
import { type Terminal, ToolError } from '../keys/terminal.ts'
import { readIssuedAddresses, scanAddresses, wholeRange } from './address-list.ts'
import { type CollectOptions, createProgress, environmentOf, writeNewFile } from './command-line.ts'
import { createPlan } from './create-plan.ts'
import { planHoursDefault, planHoursMax } from './limits.ts'
import { openNodes } from './nodes.ts'
import { planSummary, planTable } from './plan-table.ts'
import { readDeployment, readSettings } from './settings.ts'

/** `collect -- plan`: writes a plan and shows it. It uses no key. Returns the exit code. */
export async function runPlan(values: CollectOptions, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const env = environmentOf(values)
  const hours = integer('--hours', values.hours, planHoursDefault, 1, planHoursMax)
  const from = integer('--from-index', values['from-index'], wholeRange.from, 0, wholeRange.to)
  const to = integer('--to-index', values['to-index'], wholeRange.to, from, wholeRange.to)
  const { config, extendedPublicKey } = readDeployment(env, process.env)
  const settings = readSettings(config, extendedPublicKey, values)
  const nodes = openNodes(config, { clock: systemClock, fetch, signal })
  const onProgress = createProgress(process.stderr)
  const listed = values.scan
    ? await scanAddresses(nodes, config, { from, to }, (done) => onProgress('indices scanned', done, done))
    : await readIssuedAddresses(config, env, { from, to })
  const plan = await createPlan(nodes, settings, listed, hours, onProgress)
  for (const line of planTable(plan)) terminal.print(line)
  if (plan.steps.length === 0) {
    terminal.print('There is nothing to collect: no file was written.')
    return 0
  }
  for (const line of planSummary(plan)) terminal.print(line)
  const path = values.out ?? `collect-plan-${plan.createdAt.replace(/[:.]/g, '-')}.json`
  await writeNewFile(path, plan)
  terminal.print(`\nWritten to ${path}. Next, on the machine with the mnemonic: npm run collect -- sign ${path}`)
  return 0
}

function integer(name: string, given: string | undefined, byDefault: number, min: number, max: number): number {
  if (given === undefined) return byDefault
  const value = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  if (value >= min && value <= max) return value
  throw new ToolError(`${name}: a whole number from ${min} to ${max}`)
}
