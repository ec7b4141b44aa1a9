import type { Address } from '../chain/address.ts'
import type { BlockHeight, BlockRef, Txid } from '../chain/block.ts'
import type { Amount } from '../common/amount.ts'
import type { CurrencyId, TransferId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { HeldReason, RefusedReason, TransferState } from '../d1/tables.ts'

/** The permanent identity of a transfer. `position`: 0 for TRX; for a token the place of its log among those of its transaction. */
export interface CreditKey {
  readonly txid: Txid
  readonly position: number
}

/** A transfer as agreed or seen, with whom it concerns. */
export interface TransferFacts extends CreditKey {
  readonly block: BlockRef
  readonly cuy: CurrencyId
  /** TRX: the `osn` of its entry is the txid; that of a token's entry is `txid:position`. */
  readonly native: boolean
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly raw: bigint
}

/** What became of a transfer. A state that cannot happen cannot be written down. */
export type Verdict =
  /** In a block that is not final; it will be final in about `seconds`. */
  | { readonly state: 'seen'; readonly uid: Uid; readonly seconds: number }
  /** Final, and undecidable for now. */
  | { readonly state: 'held'; readonly uid: Uid; readonly reason: HeldReason }
  /** Final, and worth nothing. */
  | { readonly state: 'refused'; readonly uid: Uid; readonly reason: RefusedReason }
  /** Final, and in the ledger. `amount` is in ledger units, positive. */
  | { readonly state: 'credited'; readonly uid: Uid; readonly amount: Amount }
  /** Between two addresses of the service, out of one of them, or from an operator: never a deposit. */
  | { readonly state: 'moved' }

/** A transfer that was judged, as it is to be stored. */
export type DecidedTransfer = TransferFacts & Verdict

/** A stored transfer to a caller. */
export interface StoredTransfer extends TransferFacts {
  readonly id: TransferId
  readonly uid: Uid
  readonly state: Exclude<TransferState, 'moved'>
  readonly reason: HeldReason | RefusedReason | null
  /** Ledger units; 0 unless it is credited. */
  readonly amount: Amount
  /** Seconds until it is final, when it was first seen. */
  readonly seconds: number | null
  readonly createdAt: UnixMs
  /** When it came into its present state. */
  readonly changedAt: UnixMs
}

/** A transaction that an address of the service has sent: it costs a fee in the native currency `cuy`. */
export interface SentFact {
  readonly txid: Txid
  readonly address: Address
  readonly height: BlockHeight
  readonly cuy: CurrencyId
}
