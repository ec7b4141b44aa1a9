import { formatInstant, type UnixMs } from '../common/time.ts'
import type { CollectPlan, CollectStep } from './plan.ts'
import { encodeStep, txidOf } from './transaction.ts'

/**
 * Why a plan is not one that `collect -- plan` makes, or null. The bytes of each transaction are made again from what the
 * plan says: a changed amount, destination, fee limit, time or block gives another txid. Transactions of other forms, to
 * other places, or beyond those that an address needs have no place in a plan.
 */
export function findPlanFault(plan: CollectPlan): string | null {
  const { steps, gas, to } = plan
  const collected = new Map<string, number>()
  // Safe: milliseconds since 1970. It is what the person reads; the transactions have the number.
  if (plan.expiresAt !== formatInstant(plan.expiration as UnixMs))
    return 'the plan expires at another time than it says'
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
    if (txidOf(encodeStep(plan, step)) !== step.txid) {
      return `${name}: its transaction is not what the plan says about it: the file was changed`
    }
  }
  return findRepeated(steps) ?? findLostEnergy(steps)
}

function findMisplaced({ gas, currencies, steps }: CollectPlan, step: CollectStep): string | null {
  if (step.kind === 'transfer') {
    return currencies.some(({ symbol }) => symbol === step.symbol) ? null : `the plan has no currency ${step.symbol}`
  }
  if (gas.mode === 'delegate' && step.kind === 'gas') return 'TRX for gas in a plan that delegates energy'
  if (gas.mode === 'transfer' && (step.kind === 'delegate' || step.kind === 'activate')) {
    return 'a delegation in a plan that sends TRX for gas'
  }
  if (step.kind === 'undelegate') return null // brings back the operator's own
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

/** Every delegation must be taken back. */
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
