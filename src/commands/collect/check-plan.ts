import { formatBase58 } from '../../worker/chain/address.ts'
import { signerOf, txidOf } from '../../worker/chain/transaction.ts'
import { trxDecimals } from '../../worker/common/amount.ts'
import { formatInstant, hourMs, type UnixMs } from '../../worker/common/time.ts'
import { type CollectPlan, type CollectStep, planHoursMax, type SignedPlan } from './plan.ts'
import { chargedBytes, encodeStep, payerOf } from './transaction.ts'

/**
 * Returns why `collect -- plan` cannot have written this plan, or null. The bytes of each
 * transaction are encoded again from the plan and must have the txid that it states: a changed
 * amount, destination, fee limit, time or block is found. A valid plan has no transaction of
 * another kind, none to another address, and none that its address does not need.
 */
export function findPlanFault(plan: CollectPlan): string | null {
  const { steps, gas, to } = plan
  const fault = findHeaderFault(plan)
  if (fault !== null) return fault
  const collected = new Map<string, number>()
  for (const [i, step] of steps.entries()) {
    const name = `step ${i + 1}`
    if (step.id !== i + 1) return `${name}: the steps are not numbered from 1`
    if (step.after.some((id) => id < 1 || id >= step.id))
      return `${name}: waits for a step that does not come before it`
    if (step.address === to) return `${name}: the destination is one of the addresses to collect`
    if (step.address === gas.address) return `${name}: the gas address is one of the addresses to collect`
    if ((collected.get(step.address) ?? step.index) !== step.index) return `${name}: an address with two indices`
    collected.set(step.address, step.index)
    const misplaced = findMisplaced(plan, step)
    if (misplaced !== null) return `${name}: ${misplaced}`
    const rawData = encodeStep(plan, step)
    if (txidOf(rawData) !== step.txid || chargedBytes(rawData) !== step.bytes) {
      return `${name}: its transaction is not what the plan says about it: the file was changed`
    }
  }
  return findRepeated(steps) ?? findLostEnergy(steps) ?? findUnordered(steps)
}

/**
 * Finds a member of the plan that would tell the person something that the transactions do not say,
 * such as an `expiresAt` that is not `expiration`.
 */
function findHeaderFault({ currencies, timestamp, expiration, expiresAt }: CollectPlan): string | null {
  const distinct = (values: readonly unknown[]) => new Set(values).size === values.length
  if (!distinct(currencies.map(({ symbol }) => symbol)) || !distinct(currencies.map(({ contract }) => contract))) {
    return 'the plan has a currency twice'
  }
  if (currencies.some(({ contract, decimals }) => contract === null && decimals !== trxDecimals)) {
    return 'the plan has TRX with other decimals than it has'
  }
  // Safe: the schema has checked that these are milliseconds since 1970, before the year 9999.
  if (expiresAt !== formatInstant(expiration as UnixMs)) return 'the plan expires at another time than it says'
  if (expiration <= timestamp || expiration - timestamp > planHoursMax * hourMs) {
    return `the plan expires more than ${planHoursMax} hours after it was made, or before`
  }
  return null
}

function findMisplaced({ gas, currencies, steps }: CollectPlan, step: CollectStep): string | null {
  if (step.kind === 'transfer') {
    const currency = currencies.find(({ symbol }) => symbol === step.symbol)
    if (currency === undefined) return `the plan has no currency ${step.symbol}`
    if (step.units === '0') return 'moves nothing'
    if (currency.contract !== null) return null
    if (BigInt(step.units) > BigInt(Number.MAX_SAFE_INTEGER)) return 'more TRX than there are'
    return step.feeLimit === '0' && step.energy === 0 ? null : 'a fee limit or energy for TRX'
  }
  if (gas.mode === 'delegate' && step.kind === 'gas') return 'TRX for gas in a plan that delegates energy'
  if (gas.mode === 'transfer' && (step.kind === 'delegate' || step.kind === 'activate')) {
    return 'a delegation in a plan that sends TRX for gas'
  }
  // needs no transfer, because the step only takes back the operator's own stake
  if (step.kind === 'undelegate') return null
  const isUsed = steps.some((one) => one.kind === 'transfer' && one.address === step.address && one.id > step.id)
  return isUsed ? null : 'gas for an address from which nothing is collected'
}

function findRepeated(steps: readonly CollectStep[]): string | null {
  const seen = new Set<string>()
  for (const step of steps) {
    const name = `${step.kind} ${step.address} ${step.kind === 'transfer' ? step.symbol : ''}`
    if (seen.has(name)) return `step ${step.id}: a second transaction of the same kind for ${step.address}`
    seen.add(name)
  }
  return null
}

/** Returns the fault of a plan that delegates energy and does not take it back later, or null. */
function findLostEnergy(steps: readonly CollectStep[]): string | null {
  const lost = steps.find(
    (step) =>
      step.kind === 'delegate' &&
      !steps.some(
        (one) => one.kind === 'undelegate' && one.address === step.address && BigInt(one.sun) >= BigInt(step.sun),
      ),
  )
  return lost === undefined ? null : `step ${lost.id}: the delegation is not taken back`
}

/**
 * Returns the fault of a plan in which a step does not wait (`after`) for an earlier step of the
 * same address, or null. No step has to wait for `undelegate`.
 */
function findUnordered(steps: readonly CollectStep[]): string | null {
  const hasty = steps.find((step) => {
    const before = steps.filter(({ address, id, kind }) => {
      return address === step.address && id < step.id && kind !== 'undelegate'
    })
    return before.length > 0 && !before.some(({ id }) => step.after.includes(id))
  })
  return hasty === undefined ? null : `step ${hasty.id}: does not wait for what comes before it at its address`
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
