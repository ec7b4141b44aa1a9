import type { Txid } from '../chain/block.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Pending, Refusal } from './deposit.ts'

/** A stored pending deposit. */
export interface PendingRecord extends Pending {
  readonly since: UnixMs
}

/** Which pending deposits to take. */
export interface DueQuery {
  /** Those whose next try is at or before this time. */
  readonly dueBy: UnixMs
  /** When they are due again. */
  readonly nextTry: UnixMs
  readonly max: number
  /** One caller's only, or (null) those of all callers. */
  readonly uid: Uid | null
  /** Those of one transaction of this caller only, whether they are due or not. */
  readonly txid: Txid | null
  /** The currencies that are not retired. */
  readonly accepted: readonly CurrencyId[]
}

/** The queue of candidates that are not decided, and those that were found worth nothing. Each method is one batch that commits whole or not at all. */
export interface PendingDeposits {
  /** The caller's pending deposits, in the order they were found, at most 100; only those of `txid` where it is given. */
  of(uid: Uid, txid: Txid | null): Promise<readonly PendingRecord[]>
  /** Stores candidates as pending, except for decided ones. Where one is pending already, only its reason changes. */
  keep(pending: readonly Pending[], at: UnixMs): Promise<void>
  /**
   * At most `max` pending deposits whose next try is due: the n-th of each caller before the (n+1)-th of any, those first that
   * were never tried, and then those that have been due longest. Their next try moves to `nextTry` in the same statement, so each gets its turn. None
   * while the scan is halted. Of those that were found retired, only those whose currency is accepted again.
   */
  takeDue(query: DueQuery): Promise<readonly PendingRecord[]>
  /** Makes pending deposits due at `at`, which were taken and not tried. */
  putBack(keys: readonly CreditKey[], at: UnixMs): Promise<void>
  /** Stores candidates that are worth nothing in place of their pending rows. */
  refuse(refused: readonly Refusal[], at: UnixMs): Promise<void>
  /** The caller's transfers in a transaction that are worth nothing, by position. */
  refusals(uid: Uid, txid: Txid): Promise<readonly Refusal[]>
  /** Removes pending deposits whose position is no credit key. */
  remove(keys: readonly CreditKey[]): Promise<void>
}
