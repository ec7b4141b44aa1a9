import { deriveAddress, parseExtendedPublicKey } from '../../worker/addresses/derive.ts'
import { type Address, formatBase58 } from '../../worker/chain/address.ts'
import { describeChain, type PlaceRef } from '../place.ts'
import { ToolError } from '../tool-error.ts'
import type { CollectPlan } from './plan.ts'

/** The remedy for a file that somebody has changed since the command wrote it. */
export const changedFileAdvice = 'do not use this file: find out who has changed it, and make a new plan'

/**
 * Throws a `ToolError` unless a plan is for the configured chain. A transaction identifies its
 * chain only by a reference block, so the chain id that the person reads in the plan is compared.
 */
export function requireChain({ chainId }: Pick<CollectPlan, 'chainId'>, configured: string | null): void {
  if (chainId === configured) return
  throw new ToolError(
    `the plan is for ${describeChain(chainId)}, and this configuration is for ${describeChain(configured)}`,
    `name the configuration for which the plan was made (--production or --env <name>); if that is this one, ${changedFileAdvice}`,
  )
}

/**
 * Throws a `ToolError` if a plan is for another cell than the one on which the command acts. The
 * command reads frozen addresses and the payout address of its own cell only. `xpub` is the key of
 * that cell; if this machine does not have it, or there are no cells, nothing is checked. `done`
 * completes the error "Nothing was …": "signed" or "sent".
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
 * Throws a `ToolError` if a plan pays for gas from the address that is now configured for payouts.
 * A transaction from the payout address that pays no payout stops all payouts. `done` completes the
 * error "Nothing was …": "signed" or "sent".
 */
export function requireNoPayoutGas({ gas, steps }: CollectPlan, payouts: Address | undefined, done: string): void {
  const usesGasAddress = steps.some(({ kind }) => kind !== 'transfer')
  if (!usesGasAddress || payouts === undefined || formatBase58(payouts) !== gas.address) return
  throw new ToolError(
    `${gas.address}, from which the plan pays for gas, is the address of PAYOUTS by now. Nothing was ${done}`,
    'make a new plan with another address: "npm run collect -- plan" with --gas-from',
  )
}
