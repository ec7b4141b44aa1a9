import type { Address } from '../addresses/address.ts'
import type { BlockHash, BlockHeight, BlockRef, Txid } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Deposit, Movement, Pending, Sighting } from '../deposits/deposit.ts'
import type { Amount } from './amount.ts'
import type { CurrencyId } from './currencies.ts'
import type { Flow, FlowId, FlowType, Uid, WalletId } from './entry.ts'

/** A caller's balance in one currency. */
export interface WalletBalance {
  readonly cuy: CurrencyId
  readonly amount: Amount
}

/** Which ledger entries; absent filters are null. */
export interface FlowFilter {
  readonly cuy: CurrencyId | null
  readonly wid: WalletId | null
  readonly type: FlowType | null
  /** A full `osn`, or a bare txid for all of its entries. */
  readonly osn: string | null
  /** `from` ≤ created_at. */
  readonly from: UnixMs | null
  /** created_at < `to`. */
  readonly to: UnixMs | null
}

/** Which page: counted from the newest entry, or the entries below an id, whose cost does not grow with depth. */
export type FlowPage =
  | { readonly kind: 'number'; readonly page: number; readonly limit: number }
  | { readonly kind: 'before'; readonly before: FlowId; readonly limit: number }

/** Entries newest first, and how many match the filter on all pages. */
export interface FlowList {
  readonly list: readonly Flow[]
  readonly count: number
}

/** Where the scan is. `hash` is null before the first block was read. */
export interface ScanState {
  /** Every block at or below is stored. */
  readonly position: { readonly height: BlockHeight; readonly hash: BlockHash | null }
  /** The newest finalized height that was ever agreed; never goes backwards. */
  readonly finalized: BlockHeight
  /** When `finalized` last grew. */
  readonly finalizedAt: UnixMs
  /** When the position last moved. */
  readonly advancedAt: UnixMs
  /** The start of the newest scan that ended caught up: all that was final then is stored. 0 where none did. */
  readonly caughtUpAt: UnixMs
  /** The start of the newest scan that ended, caught up or not; 0 where none did. */
  readonly triedAt: UnixMs
  /** What stopped that scan before it was caught up, or null. */
  readonly problem: ChainFailure['kind'] | null
  /** When the blocks after the finalized head were last looked at; 0 where never. */
  readonly unconfirmedReadAt: UnixMs
  /** Until when another scan holds the lease; in the past where none does. */
  readonly leaseUntil: UnixMs
  /** Why the scan can't go on and a person must look, or null. */
  readonly halted: string | null
}

/** A pending deposit as a caller may see it. */
export interface PendingRecord extends Pending {
  readonly since: UnixMs
}

/** Reads only. A list route that holds nothing but this can't write. */
export interface LedgerReader {
  /** The caller's wallets; a currency without an entry is absent. One query. */
  balances(uid: Uid): Promise<readonly WalletBalance[]>
  /** One round trip. */
  flows(uid: Uid, filter: FlowFilter, page: FlowPage): Promise<FlowList>
  /** What was credited to the caller at or after `since`, in each currency that had something. */
  creditedSince(uid: Uid, since: UnixMs): Promise<readonly WalletBalance[]>
  /** The caller's deposits in one transaction, by position. */
  depositsOf(uid: Uid, txid: Txid): Promise<readonly Deposit[]>
  /** The caller's undecided deposits, oldest first, at most 100; only those of `txid` where it is given. */
  pendingOf(uid: Uid, txid: Txid | null): Promise<readonly PendingRecord[]>
  /** Transfers to the caller's addresses that were seen after the finalized head, at most 100. */
  sightingsOf(uid: Uid): Promise<readonly Sighting[]>
  /** Null before the first address was asked for or the first tick ran. */
  scanState(): Promise<ScanState | null>
}

/** A step of the scan, all of it or nothing. */
export interface ScanStep {
  /** Where the position must be; anything else is `superseded`. */
  readonly after: BlockHeight
  readonly to: BlockRef
  readonly finalized: BlockHeight
  readonly deposits: readonly Deposit[]
  readonly pending: readonly Pending[]
  readonly movements: readonly Movement[]
  /** Name of the lease that the scan holds; a lost one is `superseded`. */
  readonly lease: string
  readonly at: UnixMs
}

/** What a claim found. */
export type LeaseAttempt =
  | { readonly kind: 'claimed'; readonly state: ScanState }
  | { readonly kind: 'held'; readonly state: ScanState }
  | { readonly kind: 'not-started' }

/**
 * Writes. Only the scan, the decision of one transaction and the cron tick hold it. Every method is one batch that
 * commits whole or not at all; a deposit's ledger entry and balance are made by the database itself, in triggers.
 */
export interface LedgerWriter {
  /** Stores the height below the first block to scan. A no-op where one is stored already. */
  start(position: { readonly height: BlockHeight; readonly hash: BlockHash | null }, at: UnixMs): Promise<void>
  /** Takes the lease until `until` unless somebody holds it at `at`. `lease` is this holder's unique name. */
  acquireLease(lease: string, at: UnixMs, until: UnixMs): Promise<LeaseAttempt>
  /**
   * Gives the lease back and stores `startedAt` as `triedAt`, and as `caughtUpAt` where `trouble` is null; a no-op
   * where the lease was lost.
   */
  releaseLease(lease: string, startedAt: UnixMs, trouble: ChainFailure['kind'] | null): Promise<void>
  /** Remembers a finalized height; a lower one than stored changes nothing. */
  recordFinalized(height: BlockHeight, at: UnixMs): Promise<void>
  /** Stores why the scan can't go on. The next step that is appended clears it. */
  halt(lease: string, why: string): Promise<void>
  /**
   * Position, deposits, entries, balances, pending and movements together. A credit key that is known already (the
   * caller's own `txid` question was quicker) is left as it is; the rest of the step is stored.
   */
  append(step: ScanStep): Promise<'appended' | 'superseded'>
  /**
   * Deposits decided outside the scan's order; those whose credit key is known already are left as they are. Their
   * pending rows go in the same batch.
   */
  credit(deposits: readonly Deposit[], at: UnixMs): Promise<void>
  /** Keeps candidates as pending; where one is pending already only its reason changes. */
  keepPending(pending: readonly Pending[], at: UnixMs): Promise<void>
  /**
   * Pending deposits whose next try is due, at most `max`: those that have waited longest for it, so that everyone's
   * turn comes. Their next try moves to `nextTry` in the same statement.
   */
  takeDue(at: UnixMs, nextTry: UnixMs, max: number): Promise<readonly PendingRecord[]>
  /** Removes pending rows that turned out to be worth nothing. */
  removePending(keys: readonly CreditKey[]): Promise<void>
  /** Replaces what is known of the blocks after the finalized head; null keeps it. Both store `at` as `tailReadAt`. */
  replaceSightings(sightings: readonly Sighting[] | null, at: UnixMs): Promise<void>
  /** Whether the contract's decimals were found to be `decimals` before. */
  knownDecimals(contract: Address): Promise<number | null>
  /** Remembers what the contract's `decimals()` said. */
  storeDecimals(contract: Address, decimals: number, at: UnixMs): Promise<void>
}
