import type { Block, BlockHeight } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { alarmUnreadable, type Decisions, decideCandidates } from '../deposits/credit-deposits.ts'
import { type FindTransfersParts, findOwnedTransfers } from '../deposits/detect-transfers.ts'
import type { EvidenceSources, KnownDecimals } from '../deposits/gather-evidence.ts'
import type { PendingDeposits } from '../deposits/pending-deposits.ts'
import { toPending } from '../deposits/verify-deposit.ts'
import type { ScanPosition, ScanStore } from './scan-store.ts'

/** What storing a step needs. */
export interface StoreStepParts extends EvidenceSources, FindTransfersParts {
  readonly scanStore: Pick<ScanStore, 'append'>
  readonly pending: Pick<PendingDeposits, 'keep'>
  /** Unique name of this invocation's lease. */
  readonly lease: string
}

/** Where the scan is after a step, and why it stops there, or null. */
interface StoredStep {
  readonly position: ScanPosition
  readonly failure: ChainFailure | null
}

/**
 * Decides the candidates of the blocks and stores the blocks up to the first one that is not fully decided, which is read
 * again by the next step. A first block that one invocation cannot decide is stored all the same, the rest of it as
 * pending: no block, however full, stops the scan for ever.
 */
export async function storeStep(
  parts: StoreStepParts,
  position: ScanPosition,
  blocks: readonly Block[],
  decimals: KnownDecimals,
): Promise<StoredStep> {
  const [first] = blocks
  if (first === undefined) return { position, failure: null }
  const { candidates, movements } = await findOwnedTransfers(parts, blocks)
  const decisions = await decideCandidates(parts, candidates, decimals)
  const disputed = decisions.pending.filter(({ reason }) => reason === 'disagreement')
  const { end, pending } = decidedUpTo(decisions, first.height)
  if (disputed.length > 0) await parts.pending.keep(disputed, parts.clock.now())
  const failure: ChainFailure | null =
    disputed.length > 0 ? { kind: 'disagreement', about: `a receipt at ${end}` } : decisions.stopped
  const to = blocks.findLast((block) => block.height < end)
  if (to === undefined) return { position, failure }
  const within = (entry: { readonly block: { readonly height: number } }) => entry.block.height <= to.height
  const appended = await parts.scanStore.append({
    after: position.height,
    to,
    finalized: to.height,
    deposits: decisions.deposits.filter(within),
    pending: pending.filter(within),
    movements: movements.filter(within),
    lease: parts.lease,
    at: parts.clock.now(),
  })
  // Another scan moved the position, or the lease is lost: the next scan reads the state anew.
  if (appended === 'superseded') return { position, failure: { kind: 'no-answer', why: 'superseded' } }
  alarmUnreadable(parts, pending.filter(within))
  return { position: { height: to.height, hash: to.hash }, failure }
}

/** The height of the first block that is not fully decided (infinity where all are), and what is stored as pending. */
function decidedUpTo({ pending, undecided, stopped }: Decisions, first: BlockHeight) {
  const disputed = pending.filter(({ reason }) => reason === 'disagreement')
  const kept = pending.filter(({ reason }) => reason !== 'disagreement')
  const open = [
    ...disputed.map(({ block }) => block.height),
    ...undecided.map(({ candidate }) => candidate.block.height),
  ]
  const end = Math.min(...open, Number.POSITIVE_INFINITY)
  const isTooMuch = stopped?.kind === 'out-of-budget' && disputed.length === 0 && end === first
  if (!isTooMuch) return { end, pending: kept }
  const queued = undecided.filter(({ candidate }) => candidate.block.height === end)
  return { end: end + 1, pending: [...kept, ...queued.map((owned) => toPending(owned, 'queued'))] }
}
