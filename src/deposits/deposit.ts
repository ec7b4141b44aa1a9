import type { Address } from '../addresses/address.ts'
import type { BlockRef, Txid } from '../chain/block.ts'
import type { Amount } from '../ledger/amount.ts'
import type { Currency, CurrencyId } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'

/** What names a deposit for ever: replays collide here. Position is 0 for TRX. */
export interface CreditKey {
  readonly txid: Txid
  readonly position: number
}

/** A movement in a finalized block that looks like money for `to`. Not proven yet. */
export interface Candidate extends CreditKey {
  readonly block: BlockRef
  readonly currency: Currency
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly raw: bigint
}

/** What the ledger says of a proven deposit. Only `credited` moved a balance. */
export type DepositOutcome = 'credited' | 'below-minimum' | 'dust' | 'too-large'

/** A proven deposit and what it is worth. `amount` is 0 unless credited. */
export interface Deposit extends CreditKey {
  readonly block: BlockRef
  readonly cuy: CurrencyId
  /** TRX itself: its entry's `osn` is the bare txid. A token's is `txid:position`. */
  readonly native: boolean
  readonly uid: Uid
  readonly from: Address
  readonly to: Address
  readonly raw: bigint
  readonly outcome: DepositOutcome
  readonly amount: Amount
}

/** Why a candidate can't be decided now. */
export type PendingReason =
  /** More candidates stood in one block than one invocation may ask about. */
  | 'queued'
  /** No node has an HTTP API configured, so TRX can't be told from TRC-10. */
  | 'no-api'
  /** The APIs did not answer, or their bytes do not hash to the txid. */
  | 'api-silent'
  /** The nodes' receipts differ. */
  | 'disagreement'
  /** The contract's `decimals()` is not the configured one. */
  | 'decimals-differ'
  /** The contract's `decimals()` could not be read. */
  | 'decimals-unknown'

/** A candidate kept until it can be decided; it is never dropped. */
export interface Pending extends CreditKey {
  readonly block: BlockRef
  readonly cuy: CurrencyId
  readonly uid: Uid
  readonly from: Address
  readonly to: Address
  readonly raw: bigint
  readonly reason: PendingReason
}

/** A transfer to a watched address in a block that is not final yet: news, not money. */
export interface Sighting extends CreditKey {
  readonly block: BlockRef
  readonly cuy: CurrencyId
  readonly to: Address
}

/**
 * Money that moved between our own addresses, or left one: never a deposit, but what reconciliation must know.
 * `raw` is what moved, in chain units; an outgoing TRX movement also cost a fee that JSON-RPC does not show.
 */
export interface Movement extends CreditKey {
  readonly block: BlockRef
  readonly cuy: CurrencyId
  readonly address: Address
  readonly direction: 'in' | 'out'
  readonly raw: bigint
}
