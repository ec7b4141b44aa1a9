import type { Uid } from '../../../src/common/ids.ts'
import { parseUnits } from '../../../src/common/amount.ts'
import { clockSkewMaxMs } from '../invocation.ts'
import { observe } from '../observed.ts'
import { expectedDeposit } from '../oracle.ts'
import { currencies } from '../scenario.ts'
import type { StoredScan } from '../stored.ts'
import type { Client } from './client.ts'
import { type RechargeMessage, readRechargeMessage } from './recharge-message.ts'
import { tokenOf } from './tokens.ts'

/**
 * "Check now". What its message reports must be true: the amounts, the caller's own pending and unconfirmed transfers, and
 * without a problem or a backlog that all which was final before is stored.
 */
export async function recharge(client: Client, uid: Uid): Promise<void> {
  const { env, stored } = client
  const since = env.scheduler.now() - clockSkewMaxMs
  const finalBefore = stored.scan()?.finalized ?? -1
  const own = observe(env, () => {
    return { pending: stored.countPendingOf(uid), unconfirmed: stored.countSightingsOf(uid), scan: stored.scan() }
  })
  const { status, msg } = await client.get('/tron/recharge', tokenOf(uid))
  const states = own.end()
  if (client.mayBeRefused(status)) return
  if (status !== 200) {
    if (status < 500) env.violate(`recharge was answered with ${status}`)
    return
  }
  const message = readRechargeMessage(msg)
  checkCredited(client, uid, since, message)
  if (!states.some(({ pending }) => pending === message.pending)) {
    env.violate(`recharge reported ${message.pending} pending transfers to ${uid}`)
  }
  if (!states.some(({ unconfirmed }) => unconfirmed >= message.unconfirmed)) {
    env.violate(`recharge reported ${message.unconfirmed} unconfirmed transfers to ${uid}`)
  }
  if (env.isForked && message.problems.length === 0) env.violate(`recharge reported no problem to ${uid} during a fork`)
  if (message.problems.length > 0) {
    if (env.phase === 'healthy' && !env.isForked) env.violate(`recharge reported ${message.problems.join()} to ${uid}`)
  } else if (message.behind === 0) {
    const scans = states.flatMap(({ scan }) => scan ?? [])
    checkComplete(client, uid, since, finalBefore, scans)
  }
}

function checkCredited({ env, stored }: Client, uid: Uid, since: number, { credited }: RechargeMessage): void {
  for (const [symbol, text] of credited) {
    const currency = currencies.find((one) => one.symbol === symbol)
    const amount = parseUnits(text, currency?.scale ?? 0)
    const sum = currency === undefined ? 0n : stored.creditedSince(uid, currency.cuy, since)
    if (!amount.ok || amount.value <= 0n || amount.value > sum) {
      env.violate(`recharge reported ${text} ${symbol} as credited to ${uid}, and it was ${sum}`)
    }
  }
}

/** A scan that ended less than one block time before a request answers it. */
const blockMs = 3_000

/** Without a problem the caller may rely on it: a scan since the request, or one that just ended, has stored all that was final. */
function checkComplete(
  { env, stored }: Client,
  uid: Uid,
  since: number,
  finalBefore: number,
  scans: readonly StoredScan[],
): void {
  const isScanned = ({ caughtUpAt, leaseUntil }: StoredScan) =>
    caughtUpAt >= since || leaseUntil > since - blockMs - clockSkewMaxMs
  // Any state during the request can have been read: a correction and a late lease hide when the scan before them ended.
  if (finalBefore >= 0 && scans.length > 0 && !scans.some(isScanned)) {
    env.violate(`recharge reported no problem to ${uid}, and no scan since the request was caught up`)
  }
  // What became final after the beginning of that scan is left to the next one.
  const later = Math.ceil(Math.max(0, since - (scans.at(-1)?.caughtUpAt ?? since) + clockSkewMaxMs) / blockMs)
  for (const transfer of env.transfers.values()) {
    const { promised, height, txid, position, to } = transfer
    const isDue = promised && height <= finalBefore - later && !env.openGaps.has(height)
    if (!isDue || expectedDeposit(env, transfer)?.uid !== uid) continue
    if (!stored.isKnown(txid, position, to)) env.violate(`recharge reported no problem to ${uid} without ${txid}`)
  }
}
