import { type BlockHeight, type BlockRef, blockSeconds, type Header } from '../chain/block.ts'
import type { Chain, Tail } from '../chain/chain.ts'
import { secondsToFinal } from '../chain/finality.ts'
import { storeSeen } from '../deposits/store/transfers.ts'
import { type JudgedTransfer, type JudgeRules, judgeSeen, type Owners } from '../deposits/transfer.ts'
import { seenStatement } from '../payouts/conclusions.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { readOwners, type ScanContext, selectOwned, watchedFor } from './rules.ts'
import type { ScanState } from './store/position.ts'

/**
 * Most replies that one scan reads of the tail (the blocks that are not final). The tail usually
 * fits into one reply.
 */
const tailReadsMax = 5
/**
 * If the newest block in a reply is this many milliseconds old or older, the node has more blocks
 * to read, or is behind.
 */
const newestMsMax = 2 * blockSeconds * 1000
/**
 * Most transfers of one block that are stored as seen. The block's other transfers are stored when
 * the block is final.
 */
export const seenOfBlockMax = 200
/** Most transfers that are stored as seen at a time, over all blocks that are not final. */
export const seenMax = 1_000

/**
 * Storage key of the newest tail block that was read, so that an evicted object does not read
 * blocks again. It may be lost at any time.
 */
const storageKey = 'tail'
type NewestRead = BlockRef & Pick<Header, 'timestamp'>

/** A scan that has read all final blocks. */
interface CaughtUp {
  readonly state: ScanState
  readonly head: Header
  readonly rules: JudgeRules
}

/**
 * Stores the transfers to users in the blocks that are not final (the tail). These are information
 * and never money, and failing to read them does not fail a scan. One node can cause only a bounded
 * number of rows. A block is not read twice, unless it has left the chain, or may have. Returns the
 * height of the node's newest block, or null if there was no reply.
 */
export async function readTail(
  context: ScanContext,
  chain: Chain,
  { state, head, rules }: CaughtUp,
  host: Pick<ObjectHost, 'load' | 'save'>,
): Promise<BlockHeight | null> {
  const { db, clock, logger } = context
  const { height, hash } = state
  const { watched } = watchedFor(state, rules)
  const base = hash !== null && height > head.height ? { height, hash } : head
  const stored = await host.load<NewestRead>(storageKey)
  let known: BlockRef = stored !== undefined && stored.height > base.height ? stored : base
  const finalized = Math.max(height, head.height) as BlockHeight // safe: one of the two
  let latest: BlockHeight | null = null
  for (let reads = 0; reads < tailReadsMax; reads += 1) {
    const tail = await chain.tail(known, head)
    if (!tail.ok) {
      logger.info('tail-unread', { why: tail.error.kind })
      return latest
    }
    const { follows, blocks } = tail.value
    latest = tail.value.latest
    const seen = judgeTail(tail.value, await readOwners(db, blocks), rules, finalized)
    if (seen.length > 0) await storeSeen(db, seen, seenMax, clock.now())
    const paying = blocks.flatMap(({ header, sent }) => {
      return sent.filter(({ owner }) => watched.has(owner)).map(({ txid }) => ({ txid, height: header.height }))
    })
    if (paying.length > 0) await seenStatement(db, paying, clock.now()).run()
    const newest = blocks.at(-1)?.header
    const isOld = (at: number) => clock.now() - at >= newestMsMax
    // If a node shows no block above the stored one, and the stored one is old, another node may
    // have invented it. So the tail is read from the final block on.
    const isDoubtful = newest === undefined && known === stored && isOld(stored.timestamp)
    if (known !== base && (!follows || isDoubtful)) {
      known = base
      continue
    }
    if (newest === undefined) return latest
    const { height, hash, timestamp } = newest
    known = newest
    host.save<NewestRead>(storageKey, { height, hash, timestamp }) // only after the transfers of the block are stored
    if (!isOld(timestamp)) return latest
  }
  return latest
}

/** The transfers in a tail that are stored as seen. */
function judgeTail(
  { blocks, latest, node }: Tail,
  owners: Owners,
  rules: JudgeRules,
  finalized: BlockHeight,
): readonly JudgedTransfer[] {
  return blocks.flatMap(({ header, transfers }) => {
    const seconds = secondsToFinal(header.height, finalized, latest)
    const seen = selectOwned(transfers, owners).flatMap(
      (one) => judgeSeen(one, header, owners, rules, { seconds, node }) ?? [],
    )
    return seen.slice(0, seenOfBlockMax)
  })
}

/**
 * Reports to each node's health how many transfers it has shown that are in no final block.
 * `dropped` has one item for each such transfer: the node that showed it, or null.
 */
export function noteFalseTails(chain: Pick<Chain, 'noteFalse'>, dropped: readonly (number | null)[]): void {
  for (const [node, { length }] of Map.groupBy(dropped, (one) => one)) if (node !== null) chain.noteFalse(node, length)
}
