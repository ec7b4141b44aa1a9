import { type BlockHeight, type BlockRef, blockSeconds, type Header } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import { type JudgeRules, judgeSeen } from '../deposits/judge.ts'
import { storeTransfers } from '../deposits/transfers.ts'
import { createOwners } from './owners.ts'
import type { ScanContext } from './rules.ts'
import type { ScanState } from './scan-state.ts'
import { secondsToFinal } from './schedule.ts'

/** Replies that one scan reads: a tail usually fits into one. */
const readsMax = 5
/** A block of this age is not the newest one of a node that is well. */
const newestMsMax = 2 * blockSeconds * 1000

/** What the scans of one instance remember: the newest block of the tail that was read. It can be lost at any time. */
export interface TailMemory {
  newest: BlockRef | null
}

/** What a scan that is caught up knows. */
interface CaughtUp {
  readonly state: ScanState
  readonly head: Header
  readonly rules: JudgeRules
}

/**
 * Stores the transfers to callers in the blocks that are not final: information, never money, and no reason for a scan to
 * fail. Blocks that were read before are not read again, unless they have left the chain.
 * @returns the newest block of the node, or null where there was no reply
 */
export async function readTail(
  context: ScanContext,
  chain: Pick<Chain, 'tail'>,
  { state, head, rules }: CaughtUp,
  memory: TailMemory,
): Promise<BlockHeight | null> {
  const { db, clock, logger } = context
  const { height, hash } = state
  const base = hash !== null && height > head.height ? { height, hash } : head
  if (memory.newest === null || memory.newest.height <= base.height) memory.newest = base
  const finalized = Math.max(height, head.height) as BlockHeight // safe: one of the two
  let latest: BlockHeight | null = null
  for (let reads = 0; reads < readsMax; reads += 1) {
    const { match, owners } = createOwners(db)
    const tail = await chain.tail(memory.newest, match)
    if (!tail.ok) {
      logger.info('tail-unread', { why: tail.error.kind })
      return latest
    }
    const { follows, blocks } = tail.value
    latest = tail.value.latest
    const seen = blocks.flatMap(({ header, transfers }) => {
      const seconds = secondsToFinal(header.height, finalized, tail.value.latest)
      return transfers.flatMap((transfer) => judgeSeen(transfer, header, owners, rules, seconds) ?? [])
    })
    await storeTransfers(db, seen, clock.now())
    const newest = blocks.at(-1)?.header
    const hasLeft = !follows && memory.newest !== base
    if (!hasLeft && (newest === undefined || clock.now() - newest.timestamp < newestMsMax)) return latest
    memory.newest = newest ?? base
  }
  return latest
}
