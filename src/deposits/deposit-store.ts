import type { Txid } from '../chain/block.ts'
import type { Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { WalletBalance } from '../ledger/ledger-reader.ts'
import type { Deposit } from './deposit.ts'

/** Proven deposits, credited or not. Each method is one round trip. */
export interface DepositReader {
  /** The caller's deposits in one transaction, by position. */
  of(uid: Uid, txid: Txid): Promise<readonly Deposit[]>
  /** What was credited to the caller at or after `since`, per currency; a currency without a credit is absent. */
  creditedSince(uid: Uid, since: UnixMs): Promise<readonly WalletBalance[]>
}

/** Crediting outside a scan step. */
export interface DepositStore extends DepositReader {
  /**
   * Stores proven deposits in one batch that commits whole or not at all. Triggers of the database make each one's
   * entry and balance and remove its pending row. A known credit key is left unchanged. `halted`: the scan is halted, and
   * nothing was stored.
   */
  credit(deposits: readonly Deposit[], at: UnixMs): Promise<'credited' | 'halted'>
}
