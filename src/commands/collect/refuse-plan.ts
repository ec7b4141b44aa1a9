import { type Address, formatBase58 } from '../../worker/chain/address.ts'
import { describeChain } from '../place.ts'
import { ToolError } from '../tool-error.ts'
import type { CollectPlan } from './plan.ts'

/** The remedy for a file that the command did not write like this. */
export const changedFileAdvice = 'do not use this file: find out who has changed it, and make a new plan'

/**
 * Stops unless a plan is for this chain. A transaction identifies its chain only by a reference block, so the chain id that the person reads in the plan is
 * compared with the configured one.
 */
export function requireChain({ chainId }: Pick<CollectPlan, 'chainId'>, configured: string | null): void {
  if (chainId === configured) return
  throw new ToolError(
    `the plan is for ${describeChain(chainId)}, and this configuration is for ${describeChain(configured)}`,
    `name the configuration for which the plan was made (--production or --env <name>); if that is this one, ${changedFileAdvice}`,
  )
}

/**
 * Stops where a plan has something to do at the payout address of the configuration, which can be newer than the plan: a
 * transaction from that address that is no payout stops all payouts. `done` is what was not done: "signed" or "sent".
 */
export function requireNoPayoutGas({ gas, steps }: CollectPlan, payouts: Address | undefined, done: string): void {
  const usesGasAddress = steps.some(({ kind }) => kind !== 'transfer')
  if (!usesGasAddress || payouts === undefined || formatBase58(payouts) !== gas.address) return
  throw new ToolError(
    `${gas.address}, from which the plan pays for gas, is the address of PAYOUTS by now. Nothing was ${done}`,
    'make a new plan with another address: "npm run collect -- plan" with --gas-from',
  )
}
