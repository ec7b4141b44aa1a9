import { type BlockRef, blockSeconds, type Header } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'

/** A block of the tail that was read, and its time by the node that has shown it. */
export type NewestRead = BlockRef & Pick<Header, 'timestamp'>

/** The newest block of the tail that was read, from which the next read goes on. */
export interface TailMemory {
  load(): Promise<NewestRead | undefined>
  /** `node` is the number of the node that has shown the block. */
  save(newest: NewestRead, node: number): void
  /**
   * Whether a node that shows no block above the loaded one puts that one into doubt: another node
   * may have invented it.
   */
  isDoubtful(loaded: NewestRead): boolean
}

/** What scans and looks remember of the tail. */
export interface TailMemories {
  readonly ofScans: TailMemory
  /**
   * The memory of a look that asks the node with this number first. Each node continues its own
   * blocks, so that a node that invents blocks hides nothing of what the next one shows.
   */
  ofLook(node: number): TailMemory
  /** The time of the newest block that a scan of this instance has read; 0 if there is none. */
  scannedTime(): number
}

/**
 * Storage key of the newest block that a scan has read, so that an evicted object does not read
 * blocks again. It may be lost at any time.
 */
const storageKey = 'tail'

/**
 * If the newest block in a reply is this many milliseconds old or older, the node has more blocks
 * to read, or is behind.
 */
const newestMsMax = 2 * blockSeconds * 1000

/** Whether the newest block that a node shows is so old that there should be newer ones. */
export const hasNewer = (timestamp: number, now: UnixMs) => now - timestamp >= newestMsMax

/**
 * Makes the memories. That of scans is kept in the storage of the object. What looks have read
 * stays in the memory of the instance, because there is a look with each block.
 */
export function createTailMemories({
  clock,
  host,
}: {
  readonly clock: Pick<Clock, 'now'>
  readonly host: Pick<ObjectHost, 'load' | 'save'>
}): TailMemories {
  const byNode = new Map<number, NewestRead>()
  let [scanned, looked]: [NewestRead | null, NewestRead | null] = [null, null]
  const load = async () => {
    const stored = await host.load<NewestRead>(storageKey)
    return looked !== null && looked.height > (stored?.height ?? 0) ? looked : stored
  }
  return {
    scannedTime: () => scanned?.timestamp ?? 0,
    ofScans: {
      load,
      save(read) {
        scanned = read
        looked = null
        host.save(storageKey, read)
      },
      isDoubtful: ({ timestamp }) => hasNewer(timestamp, clock.now()),
    },
    ofLook: (node) => ({
      load: async () => byNode.get(node) ?? (await load()),
      save(read, shownBy) {
        looked = read
        byNode.set(shownBy, read)
        if (shownBy !== node) byNode.delete(node)
      },
      // The next scan finds whether a node has replaced blocks of its own.
      isDoubtful: (loaded) => loaded !== byNode.get(node),
    }),
  }
}
