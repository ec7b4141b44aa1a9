import { systemClock } from '../../platform/clock.ts'
import { type Terminal, ToolError } from '../keys/terminal.ts'
import { type IndexRange, type ListedAddress, readIssuedAddresses, scanAddresses, wholeRange } from './address-list.ts'
import { writeNewFile } from './command-files.ts'
import { type CollectOptions, environmentOf } from './command-options.ts'
import { createPlan } from './create-plan.ts'
import { planHoursDefault, planHoursMax } from './limits.ts'
import { type CollectNodes, openNodes, StoppedError } from './node-access.ts'
import { planSummary, planTable } from './plan-table.ts'
import { createProgress } from './progress.ts'
import { type CollectSettings, readDeployment, readSettings } from './settings.ts'

/** `collect -- plan`: writes a plan and shows it. It uses no key. Returns the exit code. */
export async function runPlan(values: CollectOptions, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const env = environmentOf(values)
  const hours = integer('--hours', values.hours, planHoursDefault, 1, planHoursMax)
  const from = integer('--from-index', values['from-index'], wholeRange.from, 0, wholeRange.to)
  const to = integer('--to-index', values['to-index'], wholeRange.to, from, wholeRange.to)
  const deployment = unwrapped(readDeployment(env, process.env))
  const settings = unwrapped(readSettings(deployment.config, deployment.extendedPublicKey, values))
  const nodes = openNodes(settings.config, { clock: systemClock, fetch, signal })
  const onProgress = createProgress(process.stderr)
  try {
    const listed = await listAddresses(nodes, settings, values.scan, env, { from, to }, (done) =>
      onProgress(`indices scanned`, done, done),
    )
    const plan = unwrapped(await createPlan(nodes, settings, listed, hours, onProgress))
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
  } catch (error) {
    if (error instanceof StoppedError) throw new ToolError('nothing was written')
    throw error
  }
}

async function listAddresses(
  nodes: CollectNodes,
  { config }: CollectSettings,
  isScan: boolean,
  env: string | undefined,
  range: IndexRange,
  onProgress: (done: number) => void,
): Promise<readonly ListedAddress[]> {
  if (isScan) return unwrapped(await scanAddresses(nodes, config, range, onProgress))
  return unwrapped(await readIssuedAddresses(config, env, range))
}

function integer(name: string, given: string | undefined, byDefault: number, min: number, max: number): number {
  if (given === undefined) return byDefault
  const value = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  if (value >= min && value <= max) return value
  throw new ToolError(`${name}: a whole number from ${min} to ${max}`)
}

function unwrapped<T>(result: { ok: true; value: T } | { ok: false; error: string }): T {
  if (result.ok) return result.value
  throw new ToolError(result.error)
}
