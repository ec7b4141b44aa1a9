import type { ChainFailure } from '../chain/failure.ts'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Deposit, Pending, Refusal } from './deposit.ts'
import type { DepositStore } from './deposit-store.ts'
import type { OwnedCandidate } from './detect-transfers.ts'
import { type EvidenceSources, gatherEvidence, type KnownDecimals } from './gather-evidence.ts'
import type { PendingDeposits } from './pending-deposits.ts'
import { verifyDeposit } from './verify-deposit.ts'

/** What became of candidates. Each decided candidate is in exactly one of the first three lists. */
export interface Decisions {
  readonly deposits: readonly Deposit[]
  readonly pending: readonly Pending[]
  /** Worth nothing, finally. */
  readonly refused: readonly Refusal[]
  /** Positions that receipts corrected: they are no credit keys. */
  readonly corrected: readonly CreditKey[]
  /** The candidates for which the nodes gave no evidence, in their order. */
  readonly undecided: readonly OwnedCandidate[]
  /** Why there are undecided candidates, or null where there are none. */
  readonly stopped: ChainFailure | null
}

/** Gathers evidence for candidates of final blocks and verifies each. A candidate with a problem of its own is pending. */
export async function decideCandidates(
  sources: EvidenceSources,
  candidates: readonly OwnedCandidate[],
  decimals: KnownDecimals = new Map(),
): Promise<Decisions> {
  const deposits = new Map<string, Deposit>()
  const pending: Pending[] = []
  const refused: Refusal[] = []
  const corrected: CreditKey[] = []
  const undecided: OwnedCandidate[] = []
  let stopped: ChainFailure | null = null
  for (const { owned, evidence } of await gatherEvidence(sources, candidates, decimals)) {
    if (!evidence.ok) {
      undecided.push(owned)
      if (stopped?.kind !== 'out-of-budget') stopped = evidence.error
      continue
    }
    const verdict = verifyDeposit(owned, evidence.value)
    if (verdict.kind === 'pending') pending.push(verdict.pending)
    if (verdict.kind === 'refused') refused.push(verdict.refusal)
    if (verdict.kind !== 'proven') continue
    for (const deposit of verdict.deposits) deposits.set(`${deposit.txid}:${deposit.position}`, deposit)
    const isKey = verdict.deposits.some(({ position }) => position === owned.candidate.position)
    if (!isKey) corrected.push(owned.candidate)
  }
  for (const deposit of deposits.values()) if (deposit.outcome === 'too-large') await alarmTooLarge(sources, deposit)
  return { deposits: [...deposits.values()], pending, refused, corrected, undecided, stopped }
}

async function alarmTooLarge({ alarms }: EvidenceSources, { txid, position }: CreditKey): Promise<void> {
  await alarms.raise('deposit-too-large', `${txid}:${position}`, { txid, position })
}

/** Raises the alarm for deposits that are pending from now on because their bytes cannot be read. */
export async function alarmUnreadable(
  { alarms }: Pick<EvidenceSources, 'alarms'>,
  newlyPending: readonly Pending[],
): Promise<void> {
  for (const { txid, reason } of newlyPending) {
    if (reason === 'bytes-unreadable') await alarms.raise('bytes-unreadable', txid, { txid })
  }
}

/** Where decisions are stored. */
export interface DecisionStores {
  readonly deposits: Pick<DepositStore, 'credit'>
  readonly pending: Pick<PendingDeposits, 'keep' | 'remove' | 'refuse'>
}

/** Stores decisions. `halted`: the scan is halted, and the deposits are not credited. */
export async function storeDecisions(
  stores: DecisionStores,
  { deposits, pending, refused, corrected }: Pick<Decisions, 'deposits' | 'pending' | 'refused' | 'corrected'>,
  at: UnixMs,
): Promise<'credited' | 'halted'> {
  if (refused.length > 0) await stores.pending.refuse(refused, at)
  if (pending.length > 0) await stores.pending.keep(pending, at)
  const outcome = await stores.deposits.credit(deposits, at)
  // Only now: a corrected position stays in the queue until its deposit is stored under the right one.
  if (outcome === 'credited' && corrected.length > 0) await stores.pending.remove(corrected)
  return outcome
}
