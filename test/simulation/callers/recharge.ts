import { parseUnits } from '../../../src/worker/common/amount.ts'
import type { Uid } from '../../../src/worker/common/ids.ts'
import { type Environment, statesSince } from '../environment.ts'
import { clockSkewMaxMs } from '../invocation.ts'
import { observe } from '../observed.ts'
import { expectedDeposit } from '../oracle.ts'
import { currencies } from '../scenario.ts'
import type { Client } from './client.ts'
import { type RechargeMessage, readRechargeMessage } from './recharge-message.ts'
import { tokenOf } from './tokens.ts'

/**
 * Asks for a check now. The message must not report more credited amounts or unconfirmed transfers
 * than there are, and its number of pending transfers must be right. If the message names no
 * problem and no backlog, everything that was final before must be stored.
 */
export async function recharge(client: Client, uid: Uid): Promise<void> {
  const { env, stored } = client
  const since = env.scheduler.now() - clockSkewMaxMs
  const finalBefore = stored.scan()?.finalized ?? -1
  const own = observe(env, () => {
    return { pending: stored.countHeldOf(uid), unconfirmed: stored.countSeenOf(uid) }
  })
  const { status, msg } = await client.get('/tron/recharge', tokenOf(env, uid))
  const states = own.end()
  if (client.mayBeRefused(status)) return
  if (status !== 200) {
    if (status < 500) env.violate(`recharge was answered with ${status}`)
    return
  }
  const message = readRechargeMessage(msg)
  checkCredited(client, uid, since, message)
  const isCount = (count: number) => (message.isAtLeast ? count >= message.pending : count === message.pending)
  if (!states.some(({ pending }) => isCount(pending))) {
    env.violate(`recharge reported ${message.pending} pending transfers to ${uid}`)
  }
  if (!states.some(({ unconfirmed }) => unconfirmed >= message.unconfirmed)) {
    env.violate(`recharge reported ${message.unconfirmed} unconfirmed transfers to ${uid}`)
  }
  if (env.isForked && message.problems.length === 0) env.violate(`recharge reported no problem to ${uid} during a fork`)
  if (message.problems.length > 0) {
    if (!client.mayWait() && !env.isForked) env.violate(`recharge reported ${message.problems.join()} to ${uid}`)
  } else if (message.behind === 0) {
    checkComplete(client, uid, since, finalBefore)
  }
}

function checkCredited({ env, stored }: Client, uid: Uid, since: number, { credited }: RechargeMessage): void {
  for (const [symbol, text] of credited) {
    const currency = currencies.find((one) => one.symbol === symbol)
    const amount = parseUnits(text, currency?.scale ?? 0)
    // The time of an entry is the start of the trip to the database that stored it. If a clock was
    // ahead, it is the time of the wallet's entry before it.
    const earliest =
      since - (isSlowAt(env.phase) ? slowTripMs : 0) - (env.counts.has('platform: clock') ? aheadMsMax : 0)
    const sum = currency === undefined ? 0n : stored.creditedSince(uid, currency.cuy, earliest)
    if (!amount.ok || amount.value <= 0n || amount.value > sum) {
      env.violate(`recharge reported ${text} ${symbol} as credited to ${uid}, and it was ${sum}`)
    }
  }
}

/**
 * The time between two blocks. A scan that ended less than this before a request answers the
 * request.
 */
const blockMs = 3_000
/**
 * While trips to the database are slow, the scanner learns up to this much later that a scan is
 * stored.
 */
const slowTripMs = 64_000
/**
 * At its end a scan reads the blocks that are not final. That takes up to this long if the service
 * may send a node few requests a second, or no batches.
 */
const tailMs = 18_000
/**
 * How far ahead a clock can have been. Entries that were stored then have a later time than any
 * clock shows now.
 */
const aheadMsMax = 3_600_000
/**
 * Whether a trip to the database can be slow. A trip that begins at the end of the phase `faults`
 * can still be slow in the next phase, `recovery`.
 */
const isSlowAt = (phase: Environment['phase']) => phase === 'faults' || phase === 'recovery'

/**
 * Checks an answer that names no problem. A scan since the request, or one that ended just before
 * it, must have stored all transfers that were final.
 */
function checkComplete({ env, stored }: Client, uid: Uid, since: number, finalBefore: number): void {
  const endedAfter = since - blockMs - tailMs - (isSlowAt(env.phase) ? slowTripMs : 1_000)
  const scans = statesSince(env, endedAfter).flatMap((scan) => scan ?? [])
  // an operator has corrected the height meanwhile, so the scan reads blocks again
  if (new Set(scans.map(({ correctedBy }) => correctedBy)).size > 1) return
  const newest = Math.max(...scans.map(({ caughtUpAt }) => caughtUpAt))
  // `caughtUpAt` is the start of the newest scan that was caught up. If its value has changed since
  // `endedAfter`, such a scan was stored since then.
  const isScanned = newest >= since || scans.some(({ caughtUpAt }) => caughtUpAt !== newest)
  if (finalBefore >= 0 && scans.length > 0 && !isScanned) {
    env.violate(`recharge reported no problem to ${uid}, and no scan since the request was caught up`)
  }
  // Blocks that became final after the newest scan began are left to the next scan.
  const later = Math.ceil(Math.max(0, since - newest + clockSkewMaxMs) / blockMs)
  for (const transfer of env.transfers.values()) {
    const { promised, height, txid, position } = transfer
    const isDue = promised && height <= finalBefore - later && !env.openGaps.has(height)
    if (!isDue || expectedDeposit(env, transfer)?.uid !== uid) continue
    if (!stored.isDecided(txid, position)) env.violate(`recharge reported no problem to ${uid} without ${txid}`)
  }
}
