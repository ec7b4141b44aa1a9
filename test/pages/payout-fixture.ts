/** Payouts, as the service has them for the desk. */
import { ago } from './ago.ts'
import { exact } from './scripted-service.ts'
import { txidOf } from './story.ts'

/** What payouts are paid from. */
export const payoutAddress = 'TXgoAQ1o6BJmtNbDmFu7QeatwATExE6xuw'
/** Who is paid. */
export const payoutTo = 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4'

/** A payout of user 7: 10 USDT and a fee. */
export const paidOut = (id: number, state: string, members: object = {}) => ({
  id,
  uid: 7,
  cuy: 2,
  amt: exact('10'),
  fee: exact('0.5'),
  to: payoutTo,
  osn: `payout-${id}`,
  mark: 'to my wallet',
  state,
  created_at: ago(120),
  by: 'shop',
  attempts: 0,
  ...members,
})

/** What the summary has of payouts where nothing is open. */
export const noneOpen = () => ({
  address: payoutAddress,
  open: [] as object[],
  stopped: null as object | null,
  holds: [{ symbol: 'USDT', amt: exact('250.25'), read_at: ago(60) }] as object[],
})

/** What is open in a state. */
export const openIn = (state: string, count: number, sum: string, seconds = 60, cuy = 2) => ({
  state,
  cuy,
  count,
  sum: exact(sum),
  oldest_at: ago(seconds),
})

/** What the service has of payouts. */
interface WithPayouts {
  readonly summary: { payouts: ReturnType<typeof noneOpen> | null }
  payouts: ReturnType<typeof paidOut>[]
}

const byLimits = { approved_by: 'limits' }
/** A transaction that can be mined for some minutes. */
const onItsWay = { ...byLimits, txid: txidOf(43) }
const stuckFor = (reason: string, more: object = {}) => {
  return { approved_by: 'office', reason, why: `${reason}: a sentence of the service`, ...more }
}

/** One payout in each state, and stuck ones of each kind. */
export function addPayouts(desk: WithPayouts): void {
  const other = [{ to: payoutAddress, contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', units: '12' }]
  desk.summary.payouts = noneOpen()
  desk.summary.payouts.open = [openIn('waiting', 1, '10'), openIn('signed', 1, '10')]
  desk.payouts = [
    paidOut(48, 'stuck', stuckFor('other', { txid: txidOf(48), height: 70_000_002, moved: other })),
    paidOut(47, 'stuck', stuckFor('expired', { txid: txidOf(47), attempts: 3 })),
    paidOut(46, 'cancelled', { why: 'asked for twice' }),
    paidOut(45, 'stuck', stuckFor('failed', { txid: txidOf(45), height: 70_000_001 })),
    paidOut(44, 'paid', { ...byLimits, fee: exact('0'), txid: txidOf(44), height: 70_000_000 }),
    paidOut(43, 'signed', { ...onItsWay, expires_at: ago(-600) }),
    paidOut(42, 'approved', { approved_by: 'office', attempts: 1 }),
    paidOut(41, 'waiting'),
  ]
}
