import { deriveAddress, parseExtendedPublicKey } from '../../worker/addresses/derive.ts'
import { type Address, formatBase58 } from '../../worker/chain/address.ts'
import { describeChain, type PlaceRef } from '../place.ts'
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
 * Stops where a plan is that of another cell, whose database knows other frozen addresses and whose payout address is another one. `xpub` is the key of the
 * cell, if this machine has it. `done` is what was not done.
 */
export function requireCell({ steps }: CollectPlan, { cell }: PlaceRef, xpub: unknown, done: string): void {
  if (cell === null || typeof xpub !== 'string') return
  const key = parseExtendedPublicKey(xpub)
  if (!key.ok)
    throw new ToolError(`the key of cell ${cell.number}: ${key.error}`, 'correct the secret that CELLS names')
  const other = steps.find(({ index, address }) => formatBase58(deriveAddress(key.value, index)) !== address)
  if (other === undefined) return
  throw new ToolError(
    `${other.address} is no address of cell ${cell.number}: the plan is for another cell. Nothing was ${done}`,
    'name with --cell the cell for which the plan was made',
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
