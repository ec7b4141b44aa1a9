import { systemClock } from '../../platform/clock.ts'
import { type Terminal, ToolError } from '../keys/terminal.ts'
import { findPlanFault } from './check-plan.ts'
import { type CollectOptions, createProgress, environmentOf, readTextFile } from './command-line.ts'
import { openNodes } from './nodes.ts'
import { parseSignedPlan } from './plan.ts'
import { isComplete, reportLines } from './report.ts'
import { sendPlan } from './send-plan.ts'
import { readDeployment } from './settings.ts'
import { findSignatureFault } from './sign-plan.ts'
import { isSettled, type StepStates, stateOf } from './step-state.ts'

/** `collect -- send`: sends a signed plan and reports. Returns the exit code: 0 where everything was done. */
export async function runSend(
  values: CollectOptions,
  path: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const parsed = parseSignedPlan(await readTextFile(path))
  if (!parsed.ok) throw new ToolError(parsed.error)
  const signed = parsed.value
  const { plan } = signed
  const fault = findPlanFault(plan) ?? findSignatureFault(signed)
  if (fault !== null) throw new ToolError(`${fault}. Nothing was sent`)
  const { config } = readDeployment(environmentOf(values), process.env)
  if (config.chainId !== plan.chainId) {
    throw new ToolError(`the plan is for chain ${plan.chainId}, and this configuration for ${config.chainId}`)
  }
  const nodes = openNodes(config, { clock: systemClock, fetch, signal })
  const states: StepStates = new Map()
  const onProgress = createProgress(process.stderr)
  const outcome = await sendPlan(nodes, signed, states, () => {
    onProgress('transactions', plan.steps.filter(({ id }) => isSettled(stateOf(states, id))).length, plan.steps.length)
  })
  for (const line of reportLines(plan, states, outcome)) terminal.print(line)
  return outcome.kind === 'settled' && isComplete(plan, states) ? 0 : 1
}
