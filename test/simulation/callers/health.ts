import { statesSince } from '../environment.ts'
import { clockSkewMaxMs } from '../invocation.ts'
import type { StoredScan } from '../stored.ts'
import type { Client } from './client.ts'

/** If the scan makes no progress for this many milliseconds, the health is `stopped`. */
const stoppedAfterMs = 180_000
/** Milliseconds from a block to its finality: 19 blocks of 3 s. */
const rotationMs = 57_000
/** If the scan is more blocks behind than this, the health is `behind`. */
const behindBlocksMax = 100

/**
 * Asks for the health. The answer must be that of the stored scan at one moment: never `ok` while
 * the scan is halted or has not advanced for three minutes, and 503 exactly where it is `stopped`.
 */
export async function readHealth(client: Client): Promise<void> {
  const { env } = client
  if (env.scenario.neighbour !== null) return // the answer is about the worse of two cells
  const from = env.scheduler.now() - clockSkewMaxMs
  const { status, data } = await client.get('/health', null)
  const states = statesSince(env, from - cachedMs)
  if (status === 500 || data === undefined) return // `checkAnswer` checks whether an answer may be a 500
  const to = env.scheduler.now() + clockSkewMaxMs
  const isTrue = states.some((state) => {
    const heights = heightsOf(state)
    return (
      data?.scanned === String(heights.scanned) &&
      data.finalized === String(heights.finalized) &&
      Number(data.behind) >= behindAt(state, from) &&
      Number(data.behind) <= behindAt(state, to) &&
      possibleStatuses(state, from, to).includes(String(data.status))
    )
  })
  if (!isTrue) env.violate(`health is ${JSON.stringify(data)}, and the scan was ${JSON.stringify(states)}`)
  if ((status === 503) !== (data?.status === 'stopped')) env.violate(`health is ${data?.status} with status ${status}`)
}

/**
 * The oldest state in milliseconds that an answer may show. An isolate reads the state of the scan
 * once a second, and uses the last state until the read has ended.
 */
const cachedMs = 2_000

function heightsOf(scan: StoredScan | undefined): { readonly scanned: number; readonly finalized: number } {
  const scanned = scan?.height ?? 0
  return { scanned, finalized: Math.max(scan?.finalized ?? 0, scanned) }
}

/**
 * Whether the newest known final block is older than a working scan lets it become: the time to
 * finality (`rotationMs`), and 70 s for two scans.
 */
const isOld = (scan: StoredScan, now: number) =>
  scan.finalizedTime > 0 && scan.finalized >= scan.height && now - scan.finalizedTime > rotationMs + 70_000

/**
 * How many blocks the scan is behind: the final blocks above its position that nodes have shown. If
 * the newest of these blocks is old, blocks that must be final by the clock count, too.
 */
function behindAt(scan: StoredScan | undefined, now: number): number {
  const { scanned, finalized } = heightsOf(scan)
  const unknown = scan !== undefined && isOld(scan, now) ? now - scan.finalizedTime - rotationMs : 0
  return finalized - scanned + Math.floor(unknown / 3_000)
}

/** The statuses that are right at some time between `from` and `to`. */
function possibleStatuses(scan: StoredScan | undefined, from: number, to: number): readonly string[] {
  if (scan === undefined || scan.triedAt === 0) return ['stopped'] // no scan has run
  if (scan.halted !== null) return ['stopped']
  const isFar = scan.finalized - scan.height > behindBlocksMax
  const moving = [...(isFar || isOld(scan, to) ? ['behind'] : []), ...(isFar || isOld(scan, from) ? [] : ['ok'])]
  const canMove = from - scan.advancedAt <= stoppedAfterMs
  const canBeStopped = to - scan.advancedAt > stoppedAfterMs
  return [...(canMove ? moving : []), ...(canBeStopped ? ['stopped'] : [])]
}
