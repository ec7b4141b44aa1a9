import { entryTypes } from '../../worker/common/ids.ts'
import { type BookContext, type BookPart, shortKey } from './book-part.ts'
import { readUnits } from './currencies.ts'
import type { LineOf } from './lines.ts'
import { demand } from './wrong-line.ts'

interface PayoutRow {
  readonly id: number
  readonly uid: number
  readonly cuy: number
  readonly osn: string
  readonly amount: number
  readonly fee: number
  readonly state: LineOf<'payout'>['state']
  readonly txid: string | null
  readonly height: number | null
}

interface PaymentRow {
  readonly payout: number | null
  readonly ended: string | null
  readonly height: number | null
}

/**
 * Checks payouts and their transactions: each payout has taken its money, a cancelled one has given
 * it back, and a paid one has the one transaction that paid it, which pays no other.
 */
export function takePayouts(context: BookContext): BookPart {
  const { prepare } = context
  const select = prepare('SELECT id, uid, cuy, osn, amount, fee, state, txid, height FROM payout WHERE id = ?')
  const selectPayment = prepare('SELECT payout, ended, height FROM payment WHERE txid = ?')
  const selectPaid = prepare(`SELECT txid FROM payment WHERE payout = ? AND ended = 'paid'`)
  const selectEntry = prepare('SELECT amount FROM entry WHERE key = ?')
  const checkPayout = (id: number) => {
    const row = select.get(id) as PayoutRow | undefined
    if (row === undefined) return
    const booked = (type: number) =>
      (selectEntry.get(shortKey(row.uid, row.cuy, type, row.osn)) as { amount: number } | undefined)?.amount
    demand(booked(entryTypes.withdraw) === -row.amount, 'no entry has taken its amount')
    demand(row.fee === 0 || booked(entryTypes.payment) === -row.fee, 'no entry has taken its fee')
    const isBack = row.state !== 'cancelled' || booked(entryTypes.refund) === row.amount + row.fee
    demand(isBack, 'it is cancelled, and no entry has given its money back')
    const paid = selectPaid.all(id) as unknown as readonly { txid: string }[]
    demand(paid.length <= 1, 'two transactions have paid it')
    demand(row.state === 'paid' || paid.length === 0, 'a transaction has paid it, and it is not paid')
    if (row.state !== 'paid') return
    const payment = selectPayment.get(row.txid) as PaymentRow | undefined
    const isPaid = payment?.payout === id && payment.ended === 'paid' && payment.height === row.height
    demand(isPaid, 'it is paid, and its transaction has not paid it')
  }
  return {
    takers: { payout: takePayoutRows(context), transaction: takeTransactions(context) },
    checks: { payout: checkPayout, payment: checkPayout },
  }
}

function takePayoutRows({ counts, prepare, currency, later }: BookContext) {
  const select = prepare('SELECT version, key, amount, fee, state FROM payout WHERE id = ?')
  const selectByKey = prepare('SELECT id FROM payout WHERE key = ? AND id <> ?')
  const store = prepare('INSERT OR REPLACE INTO payout VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  return (line: LineOf<'payout'>, number: number) => {
    const { id, version, uid, cuy, osn, state, txid = null, height = null } = line
    const key = shortKey(uid, cuy, osn)
    const [amount, fee] = [readUnits(line.amt, currency(cuy)), readUnits(line.fee, currency(cuy))]
    demand(amount > 0 && fee >= 0, 'its amount or its fee is negative')
    const known = select.get(id) as
      | { version: number; key: string; amount: number; fee: number; state: string }
      | undefined
    demand(known === undefined || version >= known.version, `version ${known?.version} of it stands before`)
    const isSame = known === undefined || known.key === key
    demand(
      isSame && (known?.amount ?? amount) === amount && (known?.fee ?? fee) === fee,
      'what was asked for is changed',
    )
    demand(selectByKey.get(key, id) === undefined, 'another payout has its user, currency and osn')
    store.run(id, version, key, uid, cuy, osn, amount, fee, state, txid, height)
    counts.paid += Number(state === 'paid') - Number(known?.state === 'paid')
    later('payout', id, number)
  }
}

function takeTransactions({ prepare, later }: BookContext) {
  const select = prepare('SELECT version, txid, payout FROM payment WHERE id = ?')
  const selectByTxid = prepare('SELECT id FROM payment WHERE txid = ? AND id <> ?')
  const store = prepare('INSERT OR REPLACE INTO payment VALUES (?, ?, ?, ?, ?, ?)')
  return (line: LineOf<'transaction'>, number: number) => {
    const { id, version, txid, payout_id = null, ended = null, height = null } = line
    const known = select.get(id) as { version: number; txid: string; payout: number | null } | undefined
    demand(known === undefined || version >= known.version, `version ${known?.version} of it stands before`)
    const isSame = known === undefined || (known.txid === txid && (known.payout ?? payout_id) === payout_id)
    demand(isSame, 'its id belongs to another transaction or payout')
    demand(selectByTxid.get(txid, id) === undefined, 'another row has its txid')
    store.run(id, version, txid, payout_id, ended, height)
    if (payout_id !== null) later('payment', payout_id, number)
  }
}
