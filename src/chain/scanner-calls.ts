import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import type { Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Address } from './address.ts'
import type { Asset } from './asset.ts'
import type { Txid } from './block.ts'

/** Why a scan that answered a call is not caught up. */
export type ScanProblem = 'no-answer' | 'disagreement' | 'forked' | 'limited' | 'out-of-time' | 'still-running'

/** How the scan ended that answers a call. */
export interface ScanAnswer {
  readonly problem: ScanProblem | null
  /** When the call began, by the clock that credits are stored with. */
  readonly since: UnixMs
}

/** What the Worker asks of the scanner, the only place that talks to nodes. Each call is charged to its caller by its requests. */
export interface ScannerCalls {
  /** Makes sure that the next tick is due: the cron calls it. */
  wake(): Promise<void>
  /** Makes sure that an address may be issued: the scan has started, and the key was never used by another database. */
  prepareIssue(uid: Uid): Promise<Result<null, QueryFailure>>
  /** The newest balances of a caller's addresses in one asset, in the order given, in chain units, by one node. */
  balances(uid: Uid, addresses: readonly Address[], asset: Asset): Promise<Result<readonly bigint[], QueryFailure>>
  /** Returns when a scan that began at or after the call, or that ended less than a block time before it, has ended. */
  scanNow(uid: Uid): Promise<Result<ScanAnswer, QueryFailure>>
  /**
   * Credits the caller's transfers in one transaction, which is read from the nodes where it is not decided yet, or says why
   * there is nothing to credit. `already`: they were credited before.
   */
  checkTransaction(uid: Uid, txid: Txid): Promise<Result<'credited' | 'already', QueryFailure>>
}
