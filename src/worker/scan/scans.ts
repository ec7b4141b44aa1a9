import { blockSeconds } from '../chain/block.ts'
import type { Chain, RequestQuota } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import { endsWithin } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import type { ScanContext } from './rules.ts'
import { type ScanEnd, scan } from './scan.ts'
import type { TailMemory } from './tail-memory.ts'

/** A tick requests no more blocks after this time since its start. */
const tickReadMs = 18_000
/**
 * After this time since its start, a user's call requests nothing more from nodes and waits for its
 * scan no longer.
 */
export const callMs = 12_000
/** A user's call that has less than this left of `callMs` starts no scan. */
const scanMsMin = 2_000

export interface ScansParts extends ScanContext {
  /** Opens the chain for one piece of work. Its requests count against `quota`. */
  openChain(quota: RequestQuota, deadline: UnixMs): Chain
  readonly host: ObjectHost
  /** Tells each webhook endpoint to look for new events, without waiting for it. */
  wakeEndpoints(): void
  /** Lets the platform continue `work` after the request or tick that began it has ended. */
  inBackground(work: Promise<unknown>): void
}

/**
 * The scans of one instance. A scan answers all users who asked before it began. A user's call
 * waits while the newest scan runs; a tick always begins one.
 */
export interface Scans {
  /**
   * Whether this instance has begun a scan. If it has not, the database knows whether one ever did.
   */
  hasBegun(): boolean
  /** The newest scan while it runs; null if it has ended. */
  running(): Promise<unknown> | null
  /** What the newest ended scan has found; null before the first end, and if that scan threw. */
  newestEnd(): ScanEnd | null
  /**
   * Runs the scan of a tick. It does not wait for a user's scan, and users' requests take nothing
   * from the tick's allowance.
   */
  tick(): Promise<ScanEnd>
  /**
   * Returns a scan that is fresh enough for a call made at `since`, whoever began it. Null if it
   * does not end in time.
   */
  answer(quota: RequestQuota, since: UnixMs): Promise<ScanEnd | null>
}

/** A scan that runs or has ended. */
interface Run {
  readonly quota: RequestQuota
  readonly startedAt: UnixMs
  readonly end: Promise<ScanEnd>
  endedAt: UnixMs | null
  /** Whether the scan ended early because the user who began it has used up an allowance. */
  isCut: boolean
}

/**
 * Makes the scans of a new instance. It keeps the newest scan only in memory, which may be lost at
 * any time. `ended` is told what each scan has found; null if it threw.
 */
export function createScans(parts: ScansParts, memory: TailMemory, ended: (end: ScanEnd | null) => void): Scans {
  const { clock } = parts
  let newest: Run | null = null
  let newestEnd: ScanEnd | null = null
  const start = (quota: RequestQuota, deadline: UnixMs): Run => {
    const end = scan(parts, parts.openChain(quota, deadline), parts.host, memory)
    const run: Run = { quota, startedAt: clock.now(), end, endedAt: null, isCut: false }
    newest = run
    const over = (found: ScanEnd | null) => {
      run.endedAt = clock.now()
      newestEnd = found
      ended(found)
      if (quota.kind !== 'tick') parts.wakeEndpoints() // a tick looks for events itself
    }
    end.then(
      (found) => {
        run.isCut = found.failure?.kind === 'limited' && found.failure.whose === 'caller'
        over(found)
      },
      () => over(null),
    )
    return run
  }
  const isOver = async ({ end, endedAt }: Run, by: UnixMs) =>
    endedAt !== null || (await endsWithin(end, by - clock.now(), clock))
  return {
    hasBegun: () => newest !== null,
    running: () => (newest === null || newest.endedAt !== null ? null : newest.end),
    newestEnd: () => newestEnd,
    async tick() {
      return await start({ kind: 'tick' }, (clock.now() + tickReadMs) as UnixMs).end // safe: a later time
    },
    async answer(quota, since) {
      const deadline = (since + callMs) as UnixMs // safe: a later time
      for (;;) {
        if (newest === null || (newest.endedAt !== null && !answers(newest, quota, since))) {
          if (deadline - clock.now() < scanMsMin) return null
          start(quota, deadline)
        }
        const run: Run | null = newest
        if (run === null || !(await isOver(run, deadline))) return null
        if (answers(run, quota, since)) return await run.end
      }
    },
  }
}

/**
 * Whether an ended scan answers a call: it began after the call, or ended less than a block time
 * before it. A scan that another user's allowance cut short does not answer.
 */
function answers({ quota: runQuota, startedAt, endedAt, isCut }: Run, quota: RequestQuota, since: UnixMs): boolean {
  if (runQuota === quota) return true
  return !isCut && (startedAt >= since || (endedAt !== null && endedAt > since - blockSeconds * 1000))
}
