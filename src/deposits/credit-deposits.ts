import type { ChainFailure } from '../chain/failure.ts'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Deposit, Pending } from './deposit.ts'
import type { DepositStore } from './deposit-store.ts'
import type { OwnedCandidate } from './detect-transfers.ts'
import {
  type EvidenceSources,
  gatherEvidence,
  gatherReceipts,
  groupByReceipts,
  type KnownDecimals,
} from './gather-evidence.ts'
import type { PendingDeposits } from './pending-deposits.ts'
import { verifyDeposit } from './verify-deposit.ts'

/** What became of candidates. Each decided candidate is in exactly one list. */
export interface Decisions {
  readonly deposits: readonly Deposit[]
  readonly pending: readonly Pending[]
  /** Worth nothing, finally. */
  readonly refused: readonly CreditKey[]
  /** The candidates behind the last decided one, in their order. */
  readonly undecided: readonly OwnedCandidate[]
  /** Why there are undecided candidates, or null where there are none. */
  readonly stopped: ChainFailure | null
}

/**
 * Gathers evidence for candidates of final blocks and verifies each. A candidate with a problem of its own is pending;
 * where the nodes fail altogether, the rest stays undecided.
 */
export async function decideCandidates(
  sources: EvidenceSources,
  candidates: readonly OwnedCandidate[],
  decimals: KnownDecimals = new Map(),
): Promise<Decisions> {
  const deposits: Deposit[] = []
  const pending: Pending[] = []
  const refused: CreditKey[] = []
  let decided = 0
  const result = (stopped: ChainFailure | null): Decisions => {
    return { deposits, pending, refused, undecided: candidates.slice(decided), stopped }
  }
  for (const group of groupByReceipts(candidates)) {
    const receipts = await gatherReceipts(sources, group)
    if (!receipts.ok) return result(receipts.error)
    for (const owned of group) {
      const evidence = await gatherEvidence(sources, owned, receipts.value, decimals)
      if (!evidence.ok) return result(evidence.error)
      const verdict = verifyDeposit(owned, evidence.value)
      if (verdict.kind === 'deposit') deposits.push(verdict.deposit)
      else if (verdict.kind === 'pending') pending.push(verdict.pending)
      // A position that the receipt corrects is no credit key: what is pending under it goes.
      const isKey = verdict.kind === 'deposit' && verdict.deposit.position === owned.candidate.position
      if (verdict.kind !== 'pending' && !isKey) refused.push(owned.candidate)
      if (verdict.kind === 'deposit' && verdict.deposit.outcome === 'too-large') alarmTooLarge(sources, verdict.deposit)
      decided += 1
    }
  }
  return result(null)
}

function alarmTooLarge({ logger }: EvidenceSources, { txid, position }: CreditKey): void {
  logger.alarm('deposit-too-large', { txid, position })
}

/** Raises the alarm for deposits that are pending from now on because their bytes cannot be read. */
export function alarmUnreadable({ logger }: Pick<EvidenceSources, 'logger'>, newlyPending: readonly Pending[]): void {
  for (const { txid, reason } of newlyPending) {
    if (reason === 'bytes-unreadable') logger.alarm('bytes-unreadable', { txid })
  }
}

/** Where decisions outside a scan step are stored. */
export interface DecisionStores {
  readonly deposits: Pick<DepositStore, 'credit'>
  readonly pending: Pick<PendingDeposits, 'keep' | 'remove'>
}

/**
 * Stores decisions outside a scan step. Pending ones are stored first: when a part of a transaction is credited, the rest
 * of it is not looked for again. `halted`: the scan is halted, and the deposits are not credited.
 */
export async function storeDecisions(
  stores: DecisionStores,
  { deposits, pending, refused }: Pick<Decisions, 'deposits' | 'pending' | 'refused'>,
  at: UnixMs,
): Promise<'credited' | 'halted'> {
  if (refused.length > 0) await stores.pending.remove(refused)
  if (pending.length > 0) await stores.pending.keep(pending, at)
  return stores.deposits.credit(deposits, at)
}
