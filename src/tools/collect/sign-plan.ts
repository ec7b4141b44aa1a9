import { bytesToHex } from '@noble/hashes/utils.js'
import { type Address, formatBase58, parseAddress } from '../../chain/address.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { type MnemonicKeys, type SigningKey, signerOf } from '../keys/account-key.ts'
import { accountMax } from '../keys/key-path.ts'
import { type CollectPlan, type CollectStep, type SignedPlan, signedHeader } from './plan.ts'
import { encodeStep, payerOf } from './transaction.ts'

/** Accounts in which the key of the gas address is looked for: those that a wallet shows first. */
const gasAccounts = 10

/** The key of the gas address among the first accounts of a mnemonic and beside the plan's own, or null. */
export function findGasKey(plan: CollectPlan, keys: MnemonicKeys): SigningKey | null {
  const accounts = [Math.min(plan.account + 1, accountMax), ...Array.from({ length: gasAccounts }, (_, i) => i)]
  for (const account of accounts) {
    const key = keys.depositKey(account, 0)
    if (formatBase58(key.address) === plan.gas.address) return key
  }
  return null
}

/** Whether a plan has transactions of the gas address. */
export function needsGasKey(plan: CollectPlan): boolean {
  return plan.steps.some((step) => step.kind !== 'transfer')
}

/**
 * Signs all transactions of a plan that `findPlanFault` has no objection to. Each address must be the one that the mnemonic
 * has at its index. The error is one sentence; then nothing is signed.
 */
export function signPlan(plan: CollectPlan, keys: MnemonicKeys, gasKey: SigningKey | null): Result<SignedPlan, string> {
  const signatures: string[] = []
  for (const step of plan.steps) {
    const key = keyFor(plan, step, keys, gasKey)
    if (!key.ok) return key
    signatures.push(bytesToHex(key.value.sign(encodeStep(plan, step))))
  }
  return ok({ ...signedHeader, plan, signatures })
}

/** Why the signatures are not those of the plan's addresses, or null. */
export function findSignatureFault({ plan, signatures }: SignedPlan): string | null {
  if (signatures.length !== plan.steps.length) return 'not every transaction has a signature'
  for (const [i, step] of plan.steps.entries()) {
    const signer = signerOf(encodeStep(plan, step), Uint8Array.from(Buffer.from(signatures[i] ?? '', 'hex')))
    if (signer === null || formatBase58(signer) !== payerOf(plan, step))
      return `step ${step.id}: not signed by its address`
  }
  return null
}

function keyFor(
  plan: CollectPlan,
  step: CollectStep,
  keys: MnemonicKeys,
  gasKey: SigningKey | null,
): Result<SigningKey, string> {
  const own = keys.depositKey(plan.account, step.index)
  const expected = parseAddress(step.address)
  if (!expected.ok || !isSame(own.address, expected.value)) {
    return err(
      `step ${step.id}: ${step.address} is not the address of this mnemonic at index ${step.index} of account ` +
        `${plan.account}: another mnemonic, or a changed plan`,
    )
  }
  if (step.kind === 'transfer') return ok(own)
  return gasKey === null ? err('the key of the gas address is missing') : ok(gasKey)
}

const isSame = (a: Address, b: Address) => a === b
