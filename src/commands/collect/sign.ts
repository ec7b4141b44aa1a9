import { bytesToHex } from '@noble/hashes/utils.js'
import { formatBase58 } from '../../worker/chain/address.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { payoutsSchema } from '../../worker/config/payouts.ts'
import { parseBindings } from '../../worker/config/schemas.ts'
import { readTextFile, writeNewFile } from '../files.ts'
import { requireKnownNode } from '../node-program.ts'
import { environmentOf, optionOf } from '../place.ts'
import { accountMax, type MnemonicKeys, openMnemonic, type SigningKey } from '../signing/account-key.ts'
import { askMnemonic } from '../signing/mnemonic.ts'
import type { Terminal } from '../signing/terminal.ts'
import type { TargetReader } from '../target-apart.ts'
import { orRefuse, orStop, ToolError } from '../tool-error.ts'
import { findPlanFault } from './check-plan.ts'
import type { CollectOptions } from './command-line.ts'
import { type CollectPlan, parsePlan, type SignedPlan, signedHeader } from './plan.ts'
import { changedFileAdvice, requireCell, requireChain, requireNoPayoutGas } from './refuse-plan.ts'
import { planSummary } from './tables.ts'
import { encodeStep } from './transaction.ts'

/**
 * The key of the gas address is looked for in this many first accounts of a mnemonic, which wallets
 * show.
 */
const gasAccounts = 10

/**
 * `collect -- sign`: checks a plan, asks the person, and signs. It uses no network. Returns the
 * exit code.
 */
export async function runSign(
  values: CollectOptions,
  path: string,
  terminal: Terminal,
  readTarget: TargetReader,
): Promise<number> {
  requireKnownNode()
  const { line, place, chainId, values: settings } = orRefuse(await readTarget(environmentOf(values), values.cell))
  terminal.print(line)
  const plan = orStop(parsePlan(await readTextFile(path)), 'name the file that "collect -- plan" has written')
  const fault = findPlanFault(plan)
  if (fault !== null) throw new ToolError(`${fault}. Nothing was signed`, changedFileAdvice)
  requireChain(plan, chainId)
  requireCell(plan, place, settings.TRON_XPUB, 'signed')
  const payouts = parseBindings(payoutsSchema, settings)
  if (!payouts.ok) throw new ToolError(`${payouts.error.join('; ')}. Nothing was signed`, 'correct PAYOUTS, then sign')
  requireNoPayoutGas(plan, payouts.value.PAYOUTS?.address, 'signed')
  for (const line of planSummary(plan)) terminal.print(line)
  terminal.print(
    `\nSigned, these transactions can be sent by whoever has the file, until ${plan.expiresAt}; they cannot be changed.`,
  )
  // The person must know the whole address from another source than this plan, because similar
  // addresses can be made.
  const known = values.to ?? (await terminal.ask('Type your own address, all of it (or give it by --to): '))
  if (known.trim() !== plan.to) {
    throw new ToolError(
      'that is not the destination of the plan. Nothing was signed',
      'compare both with your wallet: if the plan is wrong, do not sign it; otherwise type the whole address again',
    )
  }
  const keys = openMnemonic(await askMnemonic(terminal, 'Mnemonic of the deposit addresses'))
  const gasKey = plan.steps.some(({ kind }) => kind !== 'transfer') ? await askGasKey(plan, keys, terminal) : null
  const signed = orStop(
    signPlan(plan, keys, gasKey),
    `nothing was signed: use the mnemonic whose key is TRON_XPUB, or ${changedFileAdvice}`,
  )
  const out = values.out ?? path.replace(/(\.json)?$/, '.signed.json')
  await writeNewFile(out, signed)
  terminal.print(
    `Signed ${plan.steps.length} transactions: ${out}. Next, with a network: npm run collect -- send ${out}${optionOf(place)}`,
  )
  return 0
}

/**
 * Returns the key of the gas address. The operator may keep it in another mnemonic, apart from the
 * deposit addresses, and is then asked for that one.
 */
async function askGasKey(plan: CollectPlan, keys: MnemonicKeys, terminal: Terminal): Promise<SigningKey> {
  const sameMnemonic = findGasKey(plan, keys)
  if (sameMnemonic !== null) return sameMnemonic
  const other = openMnemonic(await askMnemonic(terminal, `Mnemonic of the gas address ${plan.gas.address}`))
  const key = findGasKey(plan, other)
  if (key !== null) return key
  throw new ToolError(
    `${plan.gas.address} is not the first address of any of the first accounts. Nothing was signed`,
    'type the mnemonic of the gas address when it is asked for; "npm run keys -- show --account <n>" shows which account has it',
  )
}

/**
 * Finds the key of the gas address: index 0 of one of the first accounts, or of the account after
 * that of the plan. Null if none of them has it.
 */
export function findGasKey(plan: CollectPlan, keys: MnemonicKeys): SigningKey | null {
  const accounts = [Math.min(plan.account + 1, accountMax), ...Array.from({ length: gasAccounts }, (_, i) => i)]
  for (const account of accounts) {
    const key = keys.depositKey(account, 0)
    if (formatBase58(key.address) === plan.gas.address) return key
  }
  return null
}

/**
 * Signs all transactions of a plan in which `findPlanFault` has found nothing. Each address must be
 * the one that the mnemonic derives at its index; otherwise nothing is signed. The error is one
 * sentence.
 */
export function signPlan(plan: CollectPlan, keys: MnemonicKeys, gasKey: SigningKey | null): Result<SignedPlan, string> {
  const signatures: string[] = []
  for (const step of plan.steps) {
    const depositKey = keys.depositKey(plan.account, step.index)
    if (formatBase58(depositKey.address) !== step.address) {
      return err(
        `step ${step.id}: ${step.address} is not the address of this mnemonic at index ${step.index} of account ` +
          `${plan.account}: another mnemonic, or a changed plan`,
      )
    }
    const key = step.kind === 'transfer' ? depositKey : gasKey
    if (key === null) return err('the key of the gas address is missing')
    signatures.push(bytesToHex(key.sign(encodeStep(plan, step))))
  }
  return ok({ ...signedHeader, plan, signatures })
}
