import { blockSeconds } from '../chain/block.ts'
import type { Chain, Payer } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import { endsWithin } from '../platform/clock.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import type { ScanContext } from './rules.ts'
import { type ScanEnd, scan } from './scan.ts'

/** After this, a tick requests no further blocks. */
const tickReadMs = 18_000
/** After this, a call of a caller requests nothing more and waits for nothing more. */
export const callMs = 12_000
/** A call begins no scan with less time left. */
const scanMsMin = 2_000

/** What running scans needs. */
export interface ScansParts extends ScanContext {
  /** The chain for one piece of work, whose requests `payer` pays for. */
  openChain(payer: Payer, deadline: UnixMs): Chain
  readonly host: ObjectHost
  /** Makes each webhook endpoint look for new events, without waiting for it. */
  wakeEndpoints(): void
  /** Lets work go on that nothing waits for. */
  inBackground(work: Promise<unknown>): void
}

/** The scans of one instance: one at a time, and one for all callers that asked before it began. */
export interface Scans {
  /** Whether one was begun in this instance. */
  hasBegun(): boolean
  /** The scan of a tick. It waits for no scan of a caller, and none takes anything from it. */
  tick(): Promise<ScanEnd>
  /** A scan that answers a call of this time, by whomever it was begun. Null if it does not end in time. */
  answer(payer: Payer, since: UnixMs): Promise<ScanEnd | null>
}

/** A scan that runs or has ended. */
interface Run {
  readonly payer: Payer
  readonly startedAt: UnixMs
  readonly end: Promise<ScanEnd>
  endedAt: UnixMs | null
  /** Whether the payer's share has ended it. */
  isCut: boolean
}

/** The scans of a new instance. What they remember can be lost at any time. */
export function createScans(parts: ScansParts): Scans {
  const { clock } = parts
  let newest: Run | null = null
  const start = (payer: Payer, deadline: UnixMs): Run => {
    const end = scan(parts, parts.openChain(payer, deadline), parts.host)
    const run: Run = { payer, startedAt: clock.now(), end, endedAt: null, isCut: false }
    newest = run
    const over = () => {
      run.endedAt = clock.now()
      if (payer.kind !== 'tick') parts.wakeEndpoints() // a tick finds out whether there is an event
    }
    end.then(({ failure }) => {
      run.isCut = failure?.kind === 'limited' && failure.whose === 'caller'
      over()
    }, over)
    return run
  }
  const isOver = async ({ end, endedAt }: Run, by: UnixMs) =>
    endedAt !== null || (await endsWithin(end, by - clock.now(), clock))
  return {
    hasBegun: () => newest !== null,
    async tick() {
      return await start({ kind: 'tick' }, (clock.now() + tickReadMs) as UnixMs).end // safe: a later time
    },
    async answer(payer, since) {
      const deadline = (since + callMs) as UnixMs // safe: a later time
      for (;;) {
        if (newest === null || (newest.endedAt !== null && !answers(newest, payer, since))) {
          if (deadline - clock.now() < scanMsMin) return null
          start(payer, deadline)
        }
        const run: Run | null = newest
        if (run === null || !(await isOver(run, deadline))) return null
        if (answers(run, payer, since)) return await run.end
      }
    },
  }
}

/**
 * Whether a scan that has ended answers a call: it began after the call, or ended less than a block time before it. One that
 * another caller's share ended says nothing about this caller.
 */
function answers({ payer: paid, startedAt, endedAt, isCut }: Run, payer: Payer, since: UnixMs): boolean {
  if (paid === payer) return true
  return !isCut && (startedAt >= since || (endedAt !== null && endedAt > since - blockSeconds * 1000))
}
