/** Payouts as the service shows them to the desk. */
import { ago } from './ago.ts'
import { exact } from './scripted-service.ts'
import { txidOf } from './story.ts'

export const payoutAddress = 'TXgoAQ1o6BJmtNbDmFu7QeatwATExE6xuw'
export const payoutTo = 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4'

/** A payout of user 7: 10 USDT, with a fee. */
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

/** The summary's `payouts` where no payout is open. */
export const noneOpen = () => ({
  address: payoutAddress,
  open: [] as object[],
  stopped: null as object | null,
  holds: [{ symbol: 'USDT', amt: exact('250.25'), read_at: ago(60) }] as object[],
})

/** An item of the summary's `open`: the payouts in one state, the oldest `seconds` old. */
export const openIn = (state: string, count: number, sum: string, seconds = 60, cuy = 2) => ({
  state,
  cuy,
  count,
  sum: exact(sum),
  oldest_at: ago(seconds),
})

interface WithPayouts {
  readonly summary: { payouts: ReturnType<typeof noneOpen> | null }
  payouts: ReturnType<typeof paidOut>[]
}

const byLimits = { approved_by: 'limits' }
/** A transaction that can still come into a block. */
const onItsWay = { ...byLimits, txid: txidOf(43) }
const stuckFor = (reason: string, more: object = {}) => {
  return { approved_by: 'office', reason, why: `${reason}: a sentence of the service`, ...more }
}

/** Adds payouts in each state; stuck ones for each reason. */
export function addPayouts(desk: WithPayouts): void {
  const other = [{ to: payoutAddress, contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', units: '12' }]
  desk.summary.payouts = noneOpen()
  desk.summary.payouts.open = [openIn('waiting', 1, '10'), openIn('signed', 1, '10')]
  desk.payouts = [
    paidOut(48, 'stuck', stuckFor('other', { txid: txidOf(48), height: 70_000_002, moved: other })),
    paidOut(47, 'stuck', stuckFor('expired', { txid: txidOf(47), attempts: 3 })),
    paidOut(46, 'cancelled', { why: 'asked for twice' }),
    paidOut(
      45,
      'stuck',
      stuckFor('failed', {
        txid: txidOf(45),
        height: 70_000_001,
        failure: { result: 'OUT_OF_ENERGY', burnt: exact('1.53'), energy: 11_850 },
      }),
    ),
    paidOut(44, 'paid', { ...byLimits, fee: exact('0'), txid: txidOf(44), height: 70_000_000 }),
    paidOut(43, 'signed', { ...onItsWay, expires_at: ago(-600) }),
    paidOut(42, 'approved', { approved_by: 'office', attempts: 1 }),
    paidOut(41, 'waiting'),
  ]
}
