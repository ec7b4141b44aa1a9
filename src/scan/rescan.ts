import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import { readBlocksMax } from '../chain/limits.ts'
import type { UnixMs } from '../common/time.ts'
import { type FindTransfersParts, findOwnedTransfers } from '../deposits/detect-transfers.ts'
import { toPending } from '../deposits/verify-deposit.ts'
import type { Clock } from '../platform/clock.ts'
import type { Rescan, Rescans } from './rescans.ts'

/** Time after which a range that could not be read is read again. */
export const rescanRetryMs = 60_000
/** Reads of one tick, whatever requests they take. */
export const rescanReadsMax = 10

/** What reading again needs. `rescanChain` has requests of its own, so that the scan does not wait for rescans. */
export interface RescanParts extends FindTransfersParts {
  readonly rescanChain: Pick<Chain, 'finalizedBlocks'>
  readonly rescans: Pick<Rescans, 'due' | 'record'>
  readonly clock: Clock
}

/**
 * Reads the ranges that are due again: gaps, and what an operator asked for. Their candidates go to the queue, where credit
 * keys make it idempotent. The position of the scan does not move.
 */
export async function readAgain(parts: RescanParts): Promise<void> {
  for (let reads = 0; reads < rescanReadsMax; reads += 1) {
    const due = await parts.rescans.due(parts.clock.now())
    if (due === null || !(await readPart(parts, due))) return
  }
}

/** Reads the next blocks of a rescan. False where the invocation has no requests left. */
async function readPart(parts: RescanParts, { id, kind, next, to }: Rescan): Promise<boolean> {
  const last = Math.min(next + readBlocksMax - 1, to) as BlockHeight
  const read = await parts.rescanChain.finalizedBlocks(next, last)
  if (!read.ok && read.error.kind === 'out-of-budget') return false
  const at = parts.clock.now()
  const retry = { id, next, nextTry: (at + rescanRetryMs) as UnixMs, candidates: [], movements: [], unreadable: [], at }
  if (!read.ok) {
    await parts.rescans.record(retry)
    return true
  }
  const { candidates, movements } = await findOwnedTransfers(parts, read.value)
  const unreadable = read.value.flatMap(({ height, logs }) => (logs === null ? [height] : []))
  const queued = candidates.map((owned) => toPending(owned, 'queued'))
  // What could be read of a gap is stored, and the gap stays.
  if (kind === 'gap' && unreadable.length > 0) {
    await parts.rescans.record({ ...retry, candidates: queued, movements })
  } else {
    const after = (last + 1) as BlockHeight
    await parts.rescans.record({ id, next: after, nextTry: at, candidates: queued, movements, unreadable, at })
  }
  return true
}
