import type { Address } from '../chain/address.ts'
import type { CurrencyId, EventId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { HeldReason, RefusedReason } from '../d1/tables.ts'
import type { CreditKey } from '../deposits/transfer.ts'
import type { Entry } from '../ledger/entry.ts'

/** A transfer to a caller. `raw` is in chain units; its decimals are those of the currency, which stays configured. */
interface TransferFact extends CreditKey {
  readonly cuy: CurrencyId
  readonly raw: bigint
  readonly address: Address
}

/** What an event reports. */
export type EventFact =
  /** A transfer in a block that is not final. It will be final in about `seconds` seconds. */
  | (TransferFact & { readonly type: 'deposit.seen'; readonly seconds: number })
  /** The height at which the transfer was seen is final, and it is not there. */
  | (CreditKey & { readonly type: 'deposit.dropped' })
  | (CreditKey & { readonly type: 'deposit.credited'; readonly address: Address; readonly entry: Entry })
  | (TransferFact & { readonly type: 'deposit.held'; readonly reason: HeldReason })
  | (TransferFact & { readonly type: 'deposit.refused'; readonly reason: RefusedReason })
  /** Any other ledger entry. */
  | { readonly type: 'entry.posted'; readonly entry: Entry }

/** An event: stored with what it reports, and never changed. */
export interface StoredEvent {
  readonly id: EventId
  readonly uid: Uid
  readonly createdAt: UnixMs
  readonly fact: EventFact
}

/** Events in a page, at most. */
export const eventsMax = 100
