import type { Txid } from '../../../src/chain/block.ts'
import { formatUnits } from '../../../src/common/amount.ts'
import type { Uid } from '../../../src/common/ids.ts'
import { observe } from '../observed.ts'
import { expectedDeposit } from '../oracle.ts'
import { currencies } from '../scenario.ts'
import type { Stored } from '../stored.ts'
import type { Client } from './client.ts'
import { readAmounts } from './recharge-message.ts'
import { tokenOf } from './tokens.ts'

/**
 * Asks about one transaction. A success must report exactly what is stored for this caller. A transaction that owes the
 * caller a credit must not be called worthless, and with healthy nodes it must be credited.
 */
export async function checkTransaction(client: Client, uid: Uid, txid: Txid): Promise<void> {
  const { env, stored } = client
  const issued = new Set(env.owners.keys())
  const credited = observe(env, () => creditedAmounts(stored, uid, txid))
  const { status, msg, canRetry } = await client.get(`/tron/recharge?txid=${txid}`, tokenOf(uid))
  const states = credited.end()
  if (client.mayBeRefused(status)) return
  if (status === 200) {
    const [first = ''] = msg.split('; ') // then why others are not credited
    const reported = spell(readAmounts(first))
    if (reported === '' || !states.includes(reported)) {
      env.violate(`${txid} was reported to ${uid} as credited with ${reported}`)
    }
    return
  }
  const isOwed = [...env.transfers.values()].some((transfer) => {
    const expected = transfer.txid === txid && issued.has(transfer.to) ? expectedDeposit(env, transfer) : null
    if (expected?.uid !== uid || expected.state !== 'credited') return false
    return stored.transfer(txid, transfer.position)?.state !== 'held'
  })
  // While a currency is retired nothing of it is credited.
  const mayBeRetired = env.retired.size > 0 || env.scheduler.now() - env.retiredAt < 60_000
  if (status === 422 && isOwed && !mayBeRetired) env.violate(`${txid} was reported to ${uid} as worth nothing`)
  // A deposit that does not fit its wallet waits for an operator: it is answered as undecided.
  const isUndecided = status === 409 && !canRetry
  const isFinalAnswer = status === 422 || (isUndecided && !isOwed)
  if (env.phase === 'healthy' && !env.isForked && !isFinalAnswer)
    env.violate(`${uid} was answered ${status} about the final ${txid}`)
  if (![404, 409, 422].includes(status) && status < 500) env.violate(`${txid} was answered with ${status}`)
}

/** What is stored of a transaction as credited to a caller: `C1 25, C2 3`. */
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
