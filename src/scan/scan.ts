import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { readBlocksMax } from '../chain/limits.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { findOwnedTransfers } from '../deposits/detect-transfers.ts'
import type { Alarms } from '../platform/alarms.ts'
import type { Logger } from '../platform/logger.ts'
import { carefulBlocksMax } from './limits.ts'
import { secondsToFinal } from './plan.ts'
import { type ProveParts, proveOwn, proveQueue, takesPerTick } from './prove-queue.ts'
import { readStep } from './read-step.ts'
import type { ScanState, ScanStore } from './scan-store.ts'
import type { Sightings } from './sightings.ts'
import { type StoreStepParts, storeStep } from './store-step.ts'

/** How long the lease lasts: longer than any invocation scans, so that only the lease of a killed one is taken over. */
export const leaseMs = 40_000
/** Finality that does not advance for this long raises an alarm. It is never a reason to accept less. */
export const stallMs = 180_000

/**
 * What a scan needs. One scan is one invocation. Reading (`chain`) and proving have a deadline and a number of requests each,
 * so that neither uses up those of the other.
 */
export interface ScanParts extends StoreStepParts, ProveParts {
  readonly chain: Pick<Chain, 'finalizedHead' | 'finalizedBlocks' | 'unconfirmedBlocks' | 'requestsLeft'>
  readonly scanStore: Pick<ScanStore, 'acquireLease' | 'releaseLease' | 'recordFinalized' | 'halt' | 'append'>
  readonly sightings: Pick<Sightings, 'update'>
  readonly logger: Logger
  readonly alarms: Alarms
}

/** How a scan ended. `problem` is why it is not caught up, or null. */
export type ScanReport =
  | { readonly kind: 'scanned'; readonly problem: ChainFailure | null }
  /** Another scan has the lease. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'not-started' }

/**
 * Finds final deposits and credits them, in three stages: it reads every finalized block above the stored position, in order;
 * it records the candidates of a step together with the position; and it proves candidates from the queue. A scan that dies
 * anywhere is run again. The lease in the database allows one scan at a time.
 *
 * `caller` is the caller who asked for the scan, whose candidates are proven first; null for a tick, which proves more of the
 * queue.
 */
export async function scan(parts: ScanParts, caller: Uid | null): Promise<ScanReport> {
  const startedAt = parts.clock.now()
  const attempt = await parts.scanStore.acquireLease(parts.lease, startedAt, (startedAt + leaseMs) as UnixMs)
  if (attempt.kind !== 'acquired') return { kind: attempt.kind }
  let problem: ChainFailure | null = { kind: 'no-answer', why: 'the scan ended by a bug' }
  try {
    const end = await catchUp(parts, attempt.state)
    problem = end.ok ? null : end.error
    if (end.ok) await readUnconfirmed(parts, end.value, startedAt)
    if (caller !== null) await proveOwn(parts, caller)
    await proveQueue(parts, caller === null ? takesPerTick : 1)
  } finally {
    await parts.scanStore.releaseLease(parts.lease, startedAt, problem?.kind ?? null, parts.clock.now())
  }
  if (problem !== null) parts.logger.warn('scan-stopped', { ...problem })
  return { kind: 'scanned', problem }
}

/** Reads and records step by step up to the finalized head, which is returned once all of it is stored. */
async function catchUp(parts: ScanParts, state: ScanState): Promise<Result<BlockHeight, ChainFailure>> {
  const { chain, scanStore, clock, alarms } = parts
  const head = await chain.finalizedHead()
  if (!head.ok) return head
  await scanStore.recordFinalized(head.value.height, clock.now())
  const stalledMs = clock.now() - state.finalizedAt
  if (stalledMs > stallMs && head.value.height <= state.finalized) {
    const fields = { finalized: state.finalized, seconds: Math.floor(stalledMs / 1000) }
    await alarms.raise('finality-stalled', '', fields)
  }
  const isStuck = state.problem !== null && state.advancedAt < state.triedAt
  let blocksMax = isStuck ? carefulBlocksMax : readBlocksMax
  let position = state.position
  let cost = 0
  while (position.height < head.value.height) {
    const { blocks, failure, ...read } = await readStep(parts, position, head.value.height, cost, blocksMax)
    cost = read.cost
    const stored = await storeStep(parts, position, blocks)
    // Another scan moved the position, or the lease is lost: the next scan reads the state anew.
    if (stored === null) return err({ kind: 'no-answer', why: 'superseded' })
    // Halted only after the blocks before the break are stored: a stored step clears the halt.
    if (failure?.kind === 'forked') await scanStore.halt(parts.lease, `block ${failure.at} does not follow`)
    if (failure !== null) return err(failure)
    position = stored
    blocksMax = readBlocksMax
  }
  return ok(head.value.height)
}

/** Stores the transfers to callers above the finalized head: information for callers, never money. */
async function readUnconfirmed(parts: ScanParts, finalized: BlockHeight, startedAt: UnixMs): Promise<void> {
  const read = await parts.chain.unconfirmedBlocks(finalized)
  if (!read.ok) {
    parts.logger.info('unconfirmed-unread', { why: read.error.kind })
    await parts.sightings.update(null, startedAt)
    return
  }
  const { candidates } = await findOwnedTransfers(parts, read.value.blocks)
  const sightings = candidates.map(({ uid, candidate }) => {
    const { currency, ...rest } = candidate
    const seconds = secondsToFinal(candidate.block.height, finalized, read.value.latest)
    return { ...rest, cuy: currency.cuy, uid, decimals: currency.decimals, seconds }
  })
  await parts.sightings.update(sightings, startedAt)
}
