import type { Txid } from '../../../src/worker/chain/block.ts'
import { formatUnits } from '../../../src/worker/common/amount.ts'
import type { Uid } from '../../../src/worker/common/ids.ts'
import type { Environment } from '../environment.ts'
import { hidesBlock, isLacked } from '../lacking.ts'
import { observe } from '../observed.ts'
import { expectedDeposit, mayWait } from '../oracle.ts'
import { currencies } from '../scenario.ts'
import type { Stored } from '../stored.ts'
import type { Client } from './client.ts'
import { readAmounts } from './recharge-message.ts'
import { tokenOf } from './tokens.ts'

/**
 * Asks about one transaction. A success must report exactly what is stored for this caller. A
 * transaction that owes the caller a credit must not be called worthless, and with healthy nodes it
 * must be credited.
 */
export async function checkTransaction(client: Client, uid: Uid, txid: Txid): Promise<void> {
  const { env, stored } = client
  const issued = new Set(env.owners.keys())
  const credited = observe(env, () => creditedAmounts(stored, uid, txid))
  const { status, msg, canRetry } = await client.get(`/tron/recharge?txid=${txid}`, tokenOf(env, uid))
  const states = credited.end()
  if (client.mayBeRefused(status)) return
  const isUnread = msg.includes('cannot be read now')
  if (env.phase === 'healthy' && !env.isForked && !mayBeRetired(env) && !isUnread) checkSent(client, uid, txid)
  if (status === 200) {
    const [first = ''] = msg.split('; ') // the other parts are about transfers of the transaction that are not credited
    const reported = spell(readAmounts(first))
    if (reported === '' || !states.includes(reported)) {
      env.violate(`${txid} was reported to ${uid} as credited with ${reported}`)
    }
    return
  }
  const isOwed = [...env.transfers.values()].some((transfer) => {
    const expected = transfer.txid === txid && issued.has(transfer.to) ? expectedDeposit(env, transfer) : null
    // it was credited as replaced blocks showed it
    const isTaken = env.creditedElsewhere.has(`${txid}:${transfer.position}`)
    if (expected?.uid !== uid || expected.state !== 'credited' || isTaken) return false
    const now = stored.transfer(txid, transfer.position)?.state
    return now !== 'held' && !(expected.isReviewed && now === 'refused')
  })
  if (status === 422 && isOwed && !mayBeRetired(env)) env.violate(`${txid} was reported to ${uid} as worth nothing`)
  // A deposit that does not fit its wallet waits for an operator, so the service answers that it is
  // undecided.
  const isUndecided = status === 409 && !canRetry
  const isFinalAnswer = status === 422 || (isUndecided && !isOwed)
  const { height = -1 } = env.chain.blockOf(txid) ?? {}
  if (env.phase === 'healthy' && !env.isForked && !isFinalAnswer && !isLacked(env, height))
    env.violate(`${uid} was answered ${status} about the final ${txid}`)
  if (![404, 409, 422].includes(status) && status < 500) env.violate(`${txid} was answered with ${status}`)
}

/**
 * Whether a currency is retired now, or was retired within the last minute. Nothing of a retired
 * currency is credited.
 */
const mayBeRetired = ({ retired, retiredAt, scheduler }: Environment) =>
  retired.size > 0 || scheduler.now() - retiredAt < 60_000

/**
 * TRX that contracts have sent to the caller in this transaction must be credited now, if the
 * transaction is final and a quorum of nodes shows its internal transactions.
 */
function checkSent({ env, stored }: Client, uid: Uid, txid: Txid): void {
  const { nodes, keepers, quorum } = env.scenario
  const isKept = (height: number) =>
    nodes.filter((_, i) => i < keepers && !hidesBlock(env, i + 1, height)).length >= quorum
  for (const transfer of env.sent.values()) {
    const expected = transfer.txid === txid ? expectedDeposit(env, transfer) : null
    if (expected?.uid !== uid || transfer.height > env.finalized() || mayWait(env, expected, 'wallet-full')) continue
    const { state } = stored.transfer(txid, transfer.position) ?? {}
    if (isLacked(env, transfer.height)) continue // too few nodes can show it
    if (isKept(transfer.height) && state !== 'credited')
      env.violate(`${txid}:${transfer.position} was asked for and is not credited`)
    if (state === 'credited') env.count('sent by a contract: credited')
  }
}

/** The stored amounts that a transaction has credited to a caller, such as `C1 25, C2 3`. */
function creditedAmounts(stored: Stored, uid: Uid, txid: Txid): string {
  const deposits = stored.transfersOf(uid, txid).filter(({ state }) => state === 'credited')
  const sums = new Map<string, string>()
  for (const { cuy, symbol, scale } of currencies) {
    const own = deposits.filter((deposit) => deposit.cuy === cuy)
    const sum = own.reduce((total, { amount }) => total + amount, 0n)
    if (own.length > 0) sums.set(symbol, formatUnits(sum, scale))
  }
  return spell(sums)
}

const spell = (amounts: ReadonlyMap<string, string>) =>
  [...amounts].map(([symbol, amount]) => `${symbol} ${amount}`).join(', ')
