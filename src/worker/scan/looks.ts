import { blockSeconds, type Header } from '../chain/block.ts'
import type { Uid } from '../common/ids.ts'
import { isAhead, type UnixMs } from '../common/time.ts'
import { endsWithin } from '../platform/clock.ts'
import { stackOf } from '../platform/logger.ts'
import type { ScanEnd } from './scan.ts'
import type { Scans, ScansParts } from './scans.ts'
import { readTail } from './tail.ts'
import type { TailMemories } from './tail-memory.ts'

/**
 * For how long somebody who was given an address, or has asked for a scan, is waited for: ten
 * minutes, and the minute in which an isolate says it only once (`compose.ts`).
 */
export const expectedMs = 660_000
/** Nobody is waited for longer than this without saying it again. */
const waitMsMax = expectedMs
const blockMs = blockSeconds * 1000
/** How long after the time of a block nodes show it. */
const shownMs = 1_000
/** The next node is asked this long after a node that does not show the next block yet. */
const againMs = 1_000
/** A look requests nothing after this time since its start. */
const lookMs = 6_000
/** A look that runs longer than this is given up: the database hangs. */
const lostLookMs = lookMs + 3_000
/** A look waits this long for a scan that is running, because scans read the tail, too. */
const scanMsMax = 2_000

export interface LooksParts extends ScansParts {
  readonly nodeCount: number
  readonly scanEverySeconds: number
}

/**
 * Looks at the tail (the blocks that are not final), one with each block while somebody waits for a
 * payment. Whoever and how many wait, it is one state of the instance. It ends by itself, and is
 * lost with the instance.
 */
export interface Looks {
  /** Somebody waits for a payment, for `ms` milliseconds from now. */
  expect(ms: number): void
}

/** Is told what looks have found. */
export interface LooksListener {
  /** These users were paid in blocks that are not final. `end` is the scan that was continued. */
  seen(paid: ReadonlySet<Uid>, end: ScanEnd): Promise<void>
  /** A look has failed for another reason than the nodes: the database may be away. */
  lost(): void
}

/**
 * Makes the looks of a new instance. A look asks one node, the next one each time, so a node that
 * is slow, silent, behind or lying costs one turn of the next one. Looks are told apart from ticks
 * by their quota: they are dropped where the nodes' allowances have no room for them.
 */
export function createLooks(
  parts: LooksParts,
  scans: Pick<Scans, 'running' | 'newestEnd'>,
  memories: TailMemories,
  listener: LooksListener,
): Looks {
  const { clock, host, logger } = parts
  let waitedUntil = 0
  let isPlanned = false
  let turns = 0
  /** Looks in a row of nodes that lack the newest block, and those that have failed. */
  let [empty, failed] = [0, 0]
  const isAwaited = () => isAhead(waitedUntil, waitMsMax, clock.now())
  const plan = (ms: number) => {
    isPlanned = true
    host.later(Math.max(ms, 0), run)
  }
  const run = async () => {
    let pauseMs = blockMs
    try {
      pauseMs = await begin()
    } catch (thrown) {
      logger.warn('look-failed', { why: stackOf(thrown) })
      listener.lost()
    }
    isPlanned = false
    if (isAwaited()) plan(pauseMs)
  }
  /** Runs a look if one is due. Returns the milliseconds until the next one. */
  const begin = async (): Promise<number> => {
    const running = scans.running()
    if (running !== null) await endsWithin(running, scanMsMax, clock)
    const end = scans.newestEnd()
    if (end?.caughtUp == null) return blockMs // until the next scan nobody knows where the tail begins
    const now = clock.now()
    const { slot, nextMs } = slotOf(end.caughtUp.head, now)
    const scanned = memories.scannedTime()
    // A scan has just read the newest block, unless its node shows blocks of times to come.
    if (slot <= scanned && scanned <= now) return nextMs
    const work = look(end, end.caughtUp)
    if (await endsWithin(work, lostLookMs, clock)) return await work
    throw new Error('the look has not ended in time')
  }
  const look = async (end: ScanEnd, caughtUp: NonNullable<ScanEnd['caughtUp']>): Promise<number> => {
    const node = (turns % parts.nodeCount) + 1
    turns += 1
    const chain = parts.openChain({ kind: 'look', node }, (clock.now() + lookMs) as UnixMs) // safe: a later time
    const { paid, newestTime, failure } = await readTail(parts, chain, caughtUp, memories.ofLook(node))
    if (paid.size > 0) await listener.seen(paid, end)
    if (failure?.kind === 'limited') waitedUntil = 0 // ticks and callers need what is left
    failed = failure === null ? 0 : failed + 1
    if (failed > 0) return Math.min(blockMs * 2 ** failed, parts.scanEverySeconds * 1000)
    const { slot, nextMs } = slotOf(caughtUp.head, clock.now())
    empty = newestTime >= slot ? 0 : empty + 1
    return empty > 0 && empty <= Math.max(parts.nodeCount - 1, 1) ? Math.min(againMs, nextMs) : nextMs
  }
  return {
    expect(ms) {
      const until = clock.now() + Math.min(ms, waitMsMax)
      waitedUntil = isAwaited() ? Math.max(waitedUntil, until) : until
      if (!isPlanned) plan(0)
    },
  }
}

/**
 * The time of the newest block that nodes should show by now, and the milliseconds until they show
 * the next one. Blocks are made at whole block times from each other, so the agreed `head` gives
 * the times of all, whatever a node shows above it.
 */
function slotOf({ timestamp }: Pick<Header, 'timestamp'>, now: UnixMs) {
  const sinceMs = now - shownMs - timestamp
  const intoMs = ((sinceMs % blockMs) + blockMs) % blockMs
  return { slot: now - shownMs - intoMs, nextMs: blockMs - intoMs }
}
