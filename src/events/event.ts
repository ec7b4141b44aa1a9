import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, EventId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, DepositOutcome, PendingReason, RefusalReason } from '../deposits/deposit.ts'
import type { Entry } from '../ledger/entry.ts'

/** Why a deposit cannot be decided for now. `too-large`: an operator must decide. */
export type HeldReason = Exclude<PendingReason, 'queued'> | Extract<DepositOutcome, 'too-large'>

/** Why a final transfer is worth nothing. */
export type RefusedReason = RefusalReason | { readonly kind: Extract<DepositOutcome, 'below-minimum' | 'dust'> }

/** A transfer to a caller. `raw` is in chain units. */
interface TransferFact extends CreditKey {
  readonly cuy: CurrencyId
  readonly raw: bigint
  readonly address: Address
}

/** What an event reports. */
export type EventFact =
  /** A transfer in a block that is not final. It will be final in about `seconds` seconds. `decimals` are those of `raw`. */
  | (TransferFact & { readonly type: 'deposit.seen'; readonly decimals: number; readonly seconds: number })
  /** The height at which the transfer was seen is final, and it is not there. */
  | { readonly type: 'deposit.dropped'; readonly txid: Txid; readonly position: number }
  | (CreditKey & { readonly type: 'deposit.credited'; readonly address: Address; readonly entry: Entry })
  | (TransferFact & { readonly type: 'deposit.held'; readonly reason: HeldReason })
  | (TransferFact & { readonly type: 'deposit.refused'; readonly reason: RefusedReason })
  /** Any other ledger entry. */
  | { readonly type: 'entry.posted'; readonly entry: Entry }

/** The type of an event. */
export type EventType = EventFact['type']

/** An event: stored with what it reports, and never changed. */
export interface StoredEvent {
  readonly id: EventId
  readonly uid: Uid
  readonly createdAt: UnixMs
  readonly fact: EventFact
}

/** The types of events. The type makes the list complete. */
const types: Readonly<Record<EventType, true>> = {
  'deposit.seen': true,
  'deposit.dropped': true,
  'deposit.credited': true,
  'deposit.held': true,
  'deposit.refused': true,
  'entry.posted': true,
}

/** All types of events. */
export const eventTypes = Object.keys(types) as readonly EventType[] // safe: the keys of the record
