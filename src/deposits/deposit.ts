import type { Address } from '../chain/address.ts'
import type { BlockRef, Txid } from '../chain/block.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { Amount } from '../common/amount.ts'
import type { Currency } from '../ledger/currencies.ts'

/** The permanent identity of a deposit. `position` is the position of the log in its transaction, 0 for TRX. */
export interface CreditKey {
  readonly txid: Txid
  readonly position: number
}

/** A transfer in a finalized block that looks like money for `to`. It is not proven yet. */
export interface Candidate extends CreditKey {
  readonly block: BlockRef
  readonly currency: Currency
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly raw: bigint
}

/** What the ledger does with a proven deposit. Only `credited` changes a balance. */
export type DepositOutcome = 'credited' | 'below-minimum' | 'dust' | 'too-large'

/** A transfer to a caller as it is stored. `raw` is in chain units, positive. */
interface OwnedTransfer extends CreditKey {
  readonly block: BlockRef
  readonly cuy: CurrencyId
  readonly uid: Uid
  readonly from: Address
  readonly to: Address
  readonly raw: bigint
}

/** A proven deposit and its value. `amount` is 0 unless it is credited. */
export interface Deposit extends OwnedTransfer {
  /** TRX: the `osn` of its entry is the txid. The `osn` of a token's entry is `txid:position`. */
  readonly native: boolean
  readonly outcome: DepositOutcome
  readonly amount: Amount
}

/** Why a candidate cannot be decided now. */
export type PendingReason =
  /** It is recorded, and waits to be verified. */
  | 'queued'
  /** No node has an HTTP API configured, so TRX cannot be distinguished from TRC-10. */
  | 'no-api'
  /** No API answered, or the bytes do not hash to the txid. */
  | 'api-unavailable'
  /** The transaction's bytes cannot be read as a single TRX transfer. An operator must look at it. */
  | 'bytes-unreadable'
  /** The nodes disagree about the transaction. */
  | 'disagreement'
  /** The contract's `decimals()` is not the configured value. */
  | 'decimals-differ'
  /** The contract's `decimals()` could not be read. */
  | 'decimals-unknown'
  /** The currency is retired. The deposit is decided once the currency is accepted again. */
  | 'retired'

/** A candidate that is kept until it can be decided. */
export interface Pending extends OwnedTransfer {
  readonly reason: PendingReason
}

/** Why a candidate is worth nothing, finally. */
export type RefusalReason =
  | { readonly kind: 'failed' }
  /** A transaction of another type, by its number in the chain's protocol: it looked like a TRX transfer. */
  | { readonly kind: 'other-contract'; readonly type: number }

/** A candidate that is worth nothing. It is kept, so that it is not verified again. */
export interface Refusal extends OwnedTransfer {
  readonly reason: RefusalReason
}

/** A transfer to a caller in a block that is not final yet: information, not money. */
export interface Sighting extends OwnedTransfer {
  /** Decimals of `raw`. */
  readonly decimals: number
  /** About how long until it is final, when it was first seen. */
  readonly seconds: number
}

/**
 * Money that moved between two addresses of the service, left one, or came from an operator. Never a deposit; reconciliation needs it. An
 * outgoing TRX movement also cost a fee that JSON-RPC does not show.
 */
export interface Movement extends CreditKey {
  readonly block: BlockRef
  readonly cuy: CurrencyId
  readonly address: Address
  readonly direction: 'in' | 'out'
  /** Chain units; 0 where only the fee moved. */
  readonly raw: bigint
}
