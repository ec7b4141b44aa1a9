import type { BlockHeight, Txid } from '../chain/block.ts'
import type { ScannerCalls, ScanProblem } from '../chain/chain.ts'
import { secondsLeft } from '../chain/finality.ts'
import type { Uid } from '../common/ids.ts'
import type { HeldReason } from '../common/reasons.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { ReadDatabase } from '../d1/database.ts'
import {
  type CreditedSum,
  selectCreditedSince,
  selectOpenTransfers,
  selectTransfersOf,
} from '../deposits/store/of-caller.ts'
import type { StoredTransfer } from '../deposits/transfer.ts'
import type { Clock } from '../platform/clock.ts'
import { selectScan } from './store/position.ts'

/**
 * The parts that `checkNow` and `askTransaction` need. The first query of `db` must see everything
 * that the scanner has stored.
 */
interface CheckParts {
  readonly db: ReadDatabase
  readonly clock: Clock
  readonly scanner: Pick<ScannerCalls, 'scanNow' | 'checkTransaction'>
}

export interface CheckNowResult {
  /** Credits since the call began, by currency. A currency without a credit is absent. */
  readonly credited: readonly CreditedSum[]
  /**
   * The user's transfers that are not final: how many, and the estimated seconds until the last one
   * is final (null: unknown). Null if there are none.
   */
  readonly unconfirmed: { readonly count: number; readonly seconds: number | null } | null
  /** The user's final transfers of which the service cannot decide now whether to credit them. */
  readonly held: readonly { readonly reason: HeldReason }[]
  /** Final blocks that are not scanned yet. */
  readonly behindBlocks: number
  /** Why the scan is not caught up, or null. */
  readonly problem: ScanProblem | null
}

/**
 * Answers `/tron/recharge` without a txid: waits for a scan that is fresh enough for this call, and
 * reads what it has stored for the user. Fails with `chain-unavailable` if no node answered, and
 * neither a credit nor an unread block is known.
 */
export async function checkNow(
  { db, clock, scanner }: CheckParts,
  uid: Uid,
): Promise<Result<CheckNowResult, QueryFailure>> {
  const answer = await scanner.scanNow(uid)
  if (!answer.ok) return answer
  const { since, problem } = answer.value
  const [state, credited, open] = await Promise.all([
    selectScan(db),
    selectCreditedSince(db, uid, since),
    selectOpenTransfers(db, uid),
  ])
  if (state === null) return ok({ credited, unconfirmed: null, held: [], behindBlocks: 0, problem: null })
  const behindBlocks = Math.max(0, state.finalized - state.height)
  const isUnread = problem === 'no-answer' && state.caughtUpAt < since && credited.length === 0
  if (isUnread && behindBlocks === 0) return err({ kind: 'chain-unavailable' })
  const seen = open.filter((one) => one.state === 'seen' && one.block.height > state.height)
  const newest = Math.max(0, ...seen.map(({ block }) => block.height)) as BlockHeight // safe: one of the heights, or 0
  const seconds = secondsLeft(newest, state, clock.now())
  return ok({
    credited,
    unconfirmed: seen.length === 0 ? null : { count: seen.length, seconds },
    // safe: held transfers have such reasons
    held: open.flatMap((one) => (one.state === 'held' ? [{ reason: one.reason as HeldReason }] : [])),
    behindBlocks,
    // this scan may have ended before it met a known fork again, so the stored `halted` counts
    problem: state.halted === null ? problem : 'forked',
  })
}

/**
 * The user's credited transfers of one transaction. `already`: they were credited before this call.
 */
export interface TransactionResult {
  readonly credited: readonly StoredTransfer[]
  readonly already: boolean
  /** Why the user's other transfers in the transaction are not credited: one sentence for each. */
  readonly uncredited: readonly string[]
  /** Whether the TRX that contracts sent in the transaction cannot be read now. */
  readonly isUnread: boolean
}

/**
 * Answers `/tron/recharge` with a txid. The scanner looks at the database first, and asks nodes
 * only about what is not decided. The scanner is called before the user's session reads, so that
 * the session sees the credit.
 */
export async function askTransaction(
  { db, scanner }: CheckParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionResult, QueryFailure>> {
  const answer = await scanner.checkTransaction(uid, txid)
  if (!answer.ok) return answer
  const stored = await selectTransfersOf(db, uid, txid)
  const { when, ...others } = answer.value
  return ok({ credited: stored.filter(({ state }) => state === 'credited'), already: when === 'already', ...others })
}
