import type { Header } from '../chain/block.ts'
import type { AgreedHead, BlockReading, Chain, ChainResult, SharedBlocks, Tail } from '../chain/chain.ts'
import { ok } from '../common/result.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'

/**
 * For how long other cells may use the newest final block, and the blocks above it, that one cell
 * has read: half a block time, because the chain grows.
 */
export const headKeptMs = 1_500
/**
 * For how long other cells may use final blocks that one cell has read. They never change, but
 * after some seconds no cell needs them any more.
 */
export const blocksKeptMs = 60_000
/**
 * Most blocks of a range that is shared. A cell reads a longer one when it catches up, and then no
 * other cell needs the same range.
 */
export const sharedRangeMax = 20
/**
 * If the shared memory has not answered after this time, the tick reads from nodes from then on.
 * The time is longer than a read of slow nodes takes: if cells did not wait for the cell that is
 * reading, each of them would send the same requests to nodes that are slow already.
 */
export const sharedMs = 4_000

export interface ShareParts {
  readonly shared: SharedBlocks
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** Lets work continue after the tick. */
  readonly inBackground: (work: Promise<unknown>) => void
}

/**
 * Returns a `Chain` for one tick. It takes the finalized head, final blocks and the blocks above
 * them (`tail`) from the shared memory, if another cell of the deployment has read them just now.
 * All cells use the same nodes and the same quorum, so what another cell has read proves as much as
 * what this cell would read. If the memory fails, this cell asks the nodes.
 */
export function shareReads(chain: Chain, shareParts: ShareParts): Chain {
  const parts = { ...shareParts, memory: { isSlow: false } }
  return {
    ...chain,
    finalizedHead: (stored) =>
      share<AgreedHead>(
        parts,
        { key: 'head', keptMs: headKeptMs },
        () => chain.finalizedHead(stored),
        ({ header }) => stored === null || isLater(header, stored),
      ),
    async finalBlocks(from, to) {
      if (to - from >= sharedRangeMax) return chain.finalBlocks(from, to)
      // The key of the shared value does not name the end of the range: a shorter or longer range
      // from the same block serves, too.
      const blocks = await share<readonly BlockReading[]>(parts, { key: `blocks ${from}`, keptMs: blocksKeptMs }, () =>
        chain.finalBlocks(from, to),
      )
      return blocks.ok ? ok(blocks.value.filter((block) => heightOf(block) <= to)) : blocks
    },
    tail: (known, head) =>
      share<Tail>(parts, { key: `tail ${known.height} ${known.hash} ${head.height}`, keptMs: headKeptMs }, () =>
        chain.tail(known, head),
      ),
  }
}

/**
 * Another cell's head is used only if neither its height nor its time is below this cell's stored
 * head.
 */
const isLater = (header: Header, stored: { readonly height: number; readonly time: number }) =>
  header.height >= stored.height && header.timestamp >= stored.time

const heightOf = (block: BlockReading) => (block.kind === 'read' ? block.header.height : block.height)

async function share<T>(
  { shared, clock, inBackground, memory }: ShareParts & { readonly memory: { isSlow: boolean } },
  { key, keptMs }: { readonly key: string; readonly keptMs: number },
  read: () => ChainResult<T>,
  isOfUse: (value: T) => boolean = () => true,
): ChainResult<T> {
  if (!memory.isSlow) {
    const asked = shared.take(key, keptMs).catch(() => null)
    memory.isSlow = !(await endsWithin(asked, sharedMs, clock))
    const found = memory.isSlow ? null : await asked
    const known = found === null ? null : (found.value as T) // safe: given under this key by this function
    if (known !== null && isOfUse(known)) return ok(known)
  }
  const own = await read()
  inBackground(shared.give(key, own.ok ? own.value : null).catch(() => undefined))
  return own
}
