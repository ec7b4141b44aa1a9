import { blockSeconds } from '../chain/block.ts'
import type { Chain, Payer } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import { callMs, scanMsMin, tickReadMs } from './limits.ts'
import type { ScanContext } from './rules.ts'
import { type ScanEnd, scan } from './scan.ts'
import type { TailMemory } from './tail.ts'

/** What running scans needs. */
export interface ScansParts extends ScanContext {
  /** The chain for one piece of work, whose requests `payer` pays for. */
  openChain(payer: Payer, deadline: UnixMs): Chain
  /** Makes each webhook endpoint look for new events, without waiting for it. */
  wakeEndpoints(): void
}

/** The scans of one instance: one at a time, and one for all callers that asked before it began. */
export interface Scans {
  /** Whether one was begun in this instance. */
  hasBegun(): boolean
  /** The scan of a tick. No scan of a caller takes anything from it. */
  tick(): Promise<ScanEnd>
  /** A scan that answers a call of this time, by whomever it was begun. Null where it does not end in time. */
  answer(payer: Payer, since: UnixMs): Promise<ScanEnd | null>
}

/** A scan that runs or has ended. */
interface Run {
  readonly payer: Payer
  readonly startedAt: UnixMs
  /** Resolves when it has ended, in whatever way. */
  readonly over: Promise<void>
  endedAt: UnixMs | null
  /** Null while it runs, and where it ended with an exception. */
  end: ScanEnd | null
  thrown: unknown
}

/** The scans of a new instance. What they remember can be lost at any time. */
export function createScans(parts: ScansParts): Scans {
  const { clock } = parts
  const tail: TailMemory = { newest: null }
  let newest: Run | null = null
  const start = (payer: Payer, deadline: UnixMs): Run => {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const run: Run = { payer, startedAt: clock.now(), over, endedAt: null, end: null, thrown: null }
    newest = run
    const work = async () => {
      try {
        run.end = await scan(parts, parts.openChain(payer, deadline), tail)
      } catch (thrown) {
        run.thrown = thrown
      } finally {
        run.endedAt = clock.now()
        resolve()
        parts.wakeEndpoints()
      }
    }
    work().catch(() => undefined) // it has its own
    return run
  }
  const isOver = async ({ over }: Run, by: number) => {
    const inTime = over.then(() => true)
    return await Promise.race([inTime, clock.sleep(Math.max(0, by - clock.now())).then(() => false)])
  }
  return {
    hasBegun: () => newest !== null,
    async tick() {
      const waitsUntil = clock.now() + callMs
      while (newest !== null && newest.endedAt === null) if (!(await isOver(newest, waitsUntil))) break
      const run = start({ kind: 'tick' }, (clock.now() + tickReadMs) as UnixMs) // safe: a later time
      await run.over
      return endOf(run)
    },
    async answer(payer, since) {
      const deadline = (since + callMs) as UnixMs // safe: a later time
      for (;;) {
        if (newest === null || (newest.endedAt !== null && !answers(newest, payer, since))) {
          if (deadline - clock.now() < scanMsMin) return null
          start(payer, deadline)
        }
        const run: Run | null = newest
        if (run === null || (run.endedAt === null && !(await isOver(run, deadline)))) return null
        if (answers(run, payer, since)) return endOf(run)
      }
    },
  }
}

/**
 * Whether a scan that has ended answers a call: it began after the call, or ended less than a block time before it. One that
 * another caller's share ended says nothing about this caller.
 */
function answers({ payer: paid, startedAt, endedAt, end }: Run, payer: Payer, since: UnixMs): boolean {
  if (paid === payer) return true
  if (end?.failure?.kind === 'limited' && end.failure.whose === 'caller') return false
  return startedAt >= since || (endedAt !== null && endedAt > since - blockSeconds * 1000)
}

function endOf({ end, thrown }: Run): ScanEnd {
  if (end === null) throw thrown
  return end
}
