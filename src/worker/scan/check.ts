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

/** What both checks need. The first query of `db` must see what the scanner has stored. */
interface CheckParts {
  readonly db: ReadDatabase
  readonly clock: Clock
  readonly scanner: Pick<ScannerCalls, 'scanNow' | 'checkTransaction'>
}

/** The result of "check now" for one caller. */
export interface CheckNowReport {
  /** What was credited since the call began, per currency; a currency without a credit is absent. */
  readonly credited: readonly CreditedSum[]
  /** Transfers to the caller that are not final, and about how long until the last of them is; null if nobody knows. */
  readonly unconfirmed: { readonly count: number; readonly seconds: number | null } | null
  /** The caller's transfers that cannot be decided now. */
  readonly held: readonly { readonly reason: HeldReason }[]
  /** Final blocks that are not scanned yet. */
  readonly behindBlocks: number
  /** Why the scan is not caught up, or null. */
  readonly problem: ScanProblem | null
}

/** "Check now" for one caller: what a scan that answers this call has found. */
export async function checkNow(
  { db, clock, scanner }: CheckParts,
  uid: Uid,
): Promise<Result<CheckNowReport, QueryFailure>> {
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
  const newest = Math.max(0, ...seen.map(({ block }) => block.height)) as BlockHeight // safe: one of them
  const seconds = secondsLeft(newest, state, clock.now())
  return ok({
    credited,
    unconfirmed: seen.length === 0 ? null : { count: seen.length, seconds },
    held: open.flatMap((one) => (one.state === 'held' ? [{ reason: one.reason as HeldReason }] : [])), // safe: its state
    behindBlocks,
    problem: state.halted === null ? problem : 'forked', // known from before: this scan can have ended too early to find it again
  })
}

/** The caller's credited transfers of one transaction, and whether they were credited before this call. */
export interface TransactionReport {
  readonly credited: readonly StoredTransfer[]
  readonly already: boolean
  /** Why the caller's other transfers in it are not credited: one sentence for each. */
  readonly uncredited: readonly string[]
  /** Whether it cannot be read now what contracts have sent in it. */
  readonly isUnread: boolean
}

/**
 * Answers for one transaction. The scanner knows what is stored, so nodes are asked only where it is not decided yet. It is asked
 * first, so that the caller's session is at least as new as the credit.
 */
export async function askTransaction(
  { db, scanner }: CheckParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const answer = await scanner.checkTransaction(uid, txid)
  if (!answer.ok) return answer
  const stored = await selectTransfersOf(db, uid, txid)
  const { when, ...others } = answer.value
  return ok({ credited: stored.filter(({ state }) => state === 'credited'), already: when === 'already', ...others })
}
