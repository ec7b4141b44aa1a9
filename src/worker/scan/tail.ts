import type { BlockHeight, BlockRef, Header } from '../chain/block.ts'
import type { Chain, ChainFailure, Tail } from '../chain/chain.ts'
import { secondsToFinal } from '../chain/finality.ts'
import type { Uid } from '../common/ids.ts'
import { storeSeen } from '../deposits/store/transfers.ts'
import { type JudgedTransfer, type JudgeRules, judgeSeen, type Owners } from '../deposits/transfer.ts'
import { seenStatement } from '../payouts/conclusions.ts'
import { readOwners, type ScanContext, selectOwned, watchedFor } from './rules.ts'
import type { ScanState } from './store/position.ts'
import { hasNewer, type TailMemory } from './tail-memory.ts'

/**
 * Most replies that one scan reads of the tail (the blocks that are not final). The tail usually
 * fits into one reply.
 */
const tailReadsMax = 5
/**
 * Most transfers of one block that are stored as seen. The block's other transfers are stored when
 * the block is final.
 */
export const seenOfBlockMax = 200
/** Most transfers that are stored as seen at a time, over all blocks that are not final. */
export const seenMax = 1_000

/** A scan that has read all final blocks. */
export interface CaughtUp {
  readonly state: ScanState
  readonly head: Header
  readonly rules: JudgeRules
}

export interface TailEnd {
  /** The height of the node's newest block; null if there was no reply. */
  readonly latest: BlockHeight | null
  /** The users who were paid in the blocks that were read. */
  readonly paid: ReadonlySet<Uid>
  /**
   * The time of the newest block that the node has shown, or had shown before; 0 if none is known.
   */
  readonly newestTime: number
  /** Why the tail was not read to its end, or null. */
  readonly failure: ChainFailure | null
}

/**
 * Stores the transfers to users in the blocks that are not final (the tail). These are information
 * and never money, and failing to read them does not fail a scan. One node can cause only a bounded
 * number of rows. A block is not read twice, unless it has left the chain, or may have.
 */
export async function readTail(
  context: ScanContext,
  chain: Chain,
  { state, head, rules }: CaughtUp,
  memory: TailMemory,
): Promise<TailEnd> {
  const { db, clock, logger } = context
  const { height, hash } = state
  const { watched } = watchedFor(state, rules)
  const base = hash !== null && height > head.height ? { height, hash } : head
  const stored = await memory.load()
  let known: BlockRef = stored !== undefined && stored.height > base.height ? stored : base
  const paid = new Set<Uid>()
  let newestTime = known === stored ? stored.timestamp : 0
  const finalized = Math.max(height, head.height) as BlockHeight // safe: one of the two
  let latest: BlockHeight | null = null
  for (let reads = 0; reads < tailReadsMax; reads += 1) {
    const tail = await chain.tail(known, head)
    if (!tail.ok) {
      logger.info('tail-unread', { why: tail.error.kind })
      return { latest, paid, newestTime, failure: tail.error }
    }
    const { follows, blocks } = tail.value
    latest = tail.value.latest
    const seen = judgeTail(tail.value, await readOwners(db, blocks), rules, finalized)
    if (seen.length > 0) await storeSeen(db, seen, seenMax, clock.now())
    for (const one of seen) if ('uid' in one) paid.add(one.uid)
    const paying = blocks.flatMap(({ header, sent }) => {
      return sent.filter(({ owner }) => watched.has(owner)).map(({ txid }) => ({ txid, height: header.height }))
    })
    if (paying.length > 0) await seenStatement(db, paying, clock.now()).run()
    const newest = blocks.at(-1)?.header
    // If a node shows no block above the stored one, another node may have invented that one. So
    // the
    // tail is read from the final block on.
    const isDoubtful = newest === undefined && known === stored && memory.isDoubtful(stored)
    if (known !== base && (!follows || isDoubtful)) {
      known = base
      newestTime = 0
      continue
    }
    if (newest === undefined) return { latest, paid, newestTime, failure: null }
    const { height, hash, timestamp } = newest
    known = newest
    newestTime = timestamp
    memory.save({ height, hash, timestamp }, tail.value.node) // only after the transfers of the block are stored
    if (!hasNewer(timestamp, clock.now())) break
  }
  return { latest, paid, newestTime, failure: null }
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
