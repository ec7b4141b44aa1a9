import type { Header } from '../chain/block.ts'
import type { AgreedHead, BlockReading, Chain, ChainResult, SharedBlocks, Tail } from '../chain/chain.ts'
import { ok } from '../common/result.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'

/** How long the newest final block, and the blocks above it, are news to another cell: half a block time. */
export const headKeptMs = 1_500
/** How long final blocks are kept for cells that come later. They never change. */
export const blocksKeptMs = 60_000
/** Longest range that is shared. A longer one is read by a cell that catches up alone. */
export const sharedRangeMax = 20
/**
 * A memory that has not answered after this time is done without for the rest of the tick. It is longer than a read of slow nodes takes: cells that did not wait
 * for one another would ask those nodes several times as much.
 */
export const sharedMs = 4_000

/** The parts that sharing needs. */
export interface ShareParts {
  readonly shared: SharedBlocks
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** Lets work continue after the tick. */
  readonly inBackground: (work: Promise<unknown>) => void
}

/**
 * The chain of a tick that reads what another cell of the deployment has read just now: final head, final blocks, and the blocks above them. What the other
 * cell has agreed on with the same nodes is as good as what this one would. If the memory fails, this cell reads for itself.
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
      // A cell that is ahead of this one has read them in other ranges: those that begin where this cell is are found one after the other.
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

/** A head that another cell has read is of use here if it is not lower than the stored one, and not of an earlier time. */
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
