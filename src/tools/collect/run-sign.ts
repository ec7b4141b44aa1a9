import { type MnemonicKeys, openMnemonic } from '../keys/account-key.ts'
import { askMnemonic } from '../keys/encrypted-file.ts'
import { type Terminal, ToolError } from '../keys/terminal.ts'
import { findPlanFault } from './check-plan.ts'
import { type CollectOptions, readTextFile, writeNewFile } from './command-line.ts'
import { type CollectPlan, parsePlan } from './plan.ts'
import { planSummary } from './plan-table.ts'
import { findGasKey, needsGasKey, signPlan } from './sign-plan.ts'

/** `collect -- sign`: checks a plan, asks, and signs it. It uses no network. Returns the exit code. */
export async function runSign(values: CollectOptions, path: string, terminal: Terminal): Promise<number> {
  const parsed = parsePlan(await readTextFile(path))
  if (!parsed.ok) throw new ToolError(parsed.error)
  const plan = parsed.value
  const fault = findPlanFault(plan)
  if (fault !== null) throw new ToolError(`${fault}. Nothing was signed`)
  for (const line of planSummary(plan)) terminal.print(line)
  terminal.print(
    `\nSigned, these transactions can be sent by whoever has the file, until ${plan.expiresAt}; they cannot be changed.`,
  )
  await confirmDestination(plan, values.to, terminal)
  const keys = openMnemonic(await askMnemonic(terminal, 'Mnemonic of the deposit addresses', values.file))
  const gasKey = needsGasKey(plan) ? await askGasKey(plan, keys, terminal) : null
  const signed = signPlan(plan, keys, gasKey)
  if (!signed.ok) throw new ToolError(`${signed.error}. Nothing was signed`)
  const out = values.out ?? path.replace(/(\.json)?$/, '.signed.json')
  await writeNewFile(out, signed.value)
  terminal.print(
    `Signed ${plan.steps.length} transactions: ${out}. Next, with a network: npm run collect -- send ${out}`,
  )
  return 0
}

/** The person must know the destination from somewhere else than this plan: the whole of it, since similar ones can be made. */
async function confirmDestination({ to }: CollectPlan, given: string | undefined, terminal: Terminal): Promise<void> {
  const known = given ?? (await terminal.ask('Type your own address, all of it (or give it by --to): '))
  if (known.trim() !== to) throw new ToolError('that is not the destination of the plan. Nothing was signed')
}

/** The gas address can have a mnemonic of its own: then that of the deposit addresses does not have to be near the stake. */
async function askGasKey(plan: CollectPlan, keys: MnemonicKeys, terminal: Terminal) {
  const own = findGasKey(plan, keys)
  if (own !== null) return own
  const other = openMnemonic(await askMnemonic(terminal, `Mnemonic of the gas address ${plan.gas.address}`, undefined))
  const key = findGasKey(plan, other)
  if (key !== null) return key
  throw new ToolError(`${plan.gas.address} is not the first address of any of the first accounts. Nothing was signed`)
}
