import type { AccountResources, ChainPrices } from './facts.ts'

/** The bandwidth that an account has left while a plan is made. All bytes of a transaction are free or none are. */
export interface BandwidthBudget {
  stakedBytes: number
  freeBytes: number
}

/** The budget of an account as it is now. */
export function bandwidthOf({ stakedBytes, freeBytes }: AccountResources): BandwidthBudget {
  return { stakedBytes, freeBytes }
}

/** Takes the bytes of a transaction from the budget. Returns the sun that it burns instead, 0n where it does not. */
export function spendBytes(budget: BandwidthBudget, bytes: number, { sunPerByte }: ChainPrices): bigint {
  if (budget.stakedBytes >= bytes) {
    budget.stakedBytes -= bytes
    return 0n
  }
  if (budget.freeBytes >= bytes) {
    budget.freeBytes -= bytes
    return 0n
  }
  return BigInt(bytes) * sunPerByte
}
