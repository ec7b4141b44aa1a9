import type { Address } from '../../src/worker/chain/address.ts'
import { formatUnits } from '../../src/worker/common/amount.ts'
import type { BackendName } from '../../src/worker/common/ids.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import type { Verdict } from '../../src/worker/deposits/transfer.ts'
import { eventItem } from '../../src/worker/events/events.ts'
import { selectEvents } from '../../src/worker/events/store/events.ts'
import { askOrders } from '../../src/worker/orders/ask.ts'
import { cancelOrders } from '../../src/worker/orders/cancel.ts'
import { listOrders } from '../../src/worker/orders/list.ts'
import type { Order, OrderSelection } from '../../src/worker/orders/order.ts'
import { expireOrders } from '../../src/worker/orders/store/rows.ts'
import { addressAt, block, credited, ms, nth, openDatabase, seen, uid } from '../d1/fixtures.ts'
import { currencies } from '../support/currencies.ts'

export const shop = 'shop' as BackendName
export const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000] as const
/** When the orders of tests are asked for, unless a test says otherwise. */
export const asked = ms(10 * day)
/** A time so long after `asked`. */
export const after = (duration: number) => ms(asked + duration)

/** A database in which no address is issued, and block 120 is the newest final one. */
export async function openOrders(): Promise<WriteDatabase> {
  return await openDatabase()
}

/** The context of requests, with made-up addresses and a scanner that lets all be issued. */
export const contextOf = (db: WriteDatabase, now: UnixMs = asked) => ({
  db,
  currencies,
  addressAt,
  ...{ firstIndex: 0, issuesAddresses: true, payouts: null },
  scanner: { prepareIssue: async () => ({ ok: true, value: null }) as const },
  clock: { now: () => now, sleep: async () => undefined, random: () => 0 },
})

/** An order of 25 TRX of user 7. */
export const order = (reference: string, changes: object = {}) => {
  return { uid: 7, cuy: 1, amt: '25', order: reference, ...changes }
}

/** Asks for orders; throws if that is refused. */
export async function ask(db: WriteDatabase, list: readonly object[], at = asked): Promise<readonly Order[]> {
  const answer = await askOrders(contextOf(db, at), list, shop, at)
  if (!answer.ok) throw new Error(JSON.stringify(answer.error))
  return answer.value.orders
}

/** Asks for one order. */
export async function askOne(db: WriteDatabase, changes: object = {}, at = asked): Promise<Order> {
  const [one] = await ask(db, [order('A', changes)], at)
  if (one === undefined) throw new Error('an order is missing')
  return one
}

/** Cancels an order; returns the word of a refusal, or the state. */
export async function cancel(db: WriteDatabase, reference = 'A', at = asked, why?: string): Promise<string> {
  const body = { orders: [{ uid: 7, order: reference }], ...(why === undefined ? {} : { why }) }
  const answer = await cancelOrders(contextOf(db, at), body, shop)
  if (answer.ok) return answer.value[0]?.state ?? ''
  return 'reason' in answer.error ? answer.error.reason : answer.error.kind
}

/** A deposit of `units` to an order's address, whose block was made at `madeAt`. */
export interface Payment {
  readonly to: Address
  readonly units: bigint
  readonly madeAt: UnixMs
  /** When it is stored; one second after the block if absent. */
  readonly at?: UnixMs
  readonly height?: number
  readonly cuy?: number
  readonly uid?: number
  readonly verdict?: Verdict
}

/** The transfer of a payment, in the transaction `n`. */
export function transferOf(n: number, payment: Payment) {
  const { to, units, madeAt, height = 150 + n, cuy = 1, uid: owner = 7, verdict = credited(units) } = payment
  const facts = { to, raw: units, madeAt, block: block(height), cuy, uid: uid(owner) }
  return nth(n, verdict, facts as object)
}

/** Makes the block at this height final, unless it is already. */
export const finalize = (db: WriteDatabase, height: number) =>
  db.prepare('UPDATE scan SET finalized = max(finalized, ?)').bind(height).run()

/** Stores a payment in the transaction `n`: credited, unless it has another verdict. */
export async function pay(db: WriteDatabase, n: number, payment: Payment): Promise<void> {
  if (payment.verdict?.state !== 'seen') await finalize(db, payment.height ?? 150 + n)
  const stored = await storeTransfers(db, [transferOf(n, payment)], payment.at ?? ms(payment.madeAt + second))
  if (stored !== 'stored') throw new Error(stored)
}

/** Shows a payment in a block that is not final. */
export const see = (db: WriteDatabase, n: number, payment: Payment) =>
  pay(db, n, { height: 250, ...payment, verdict: seen() })

export const expire = (db: WriteDatabase, at: UnixMs) => expireOrders(db, at, 100)

/** The only order that is selected, as a list shows it. */
export async function read(db: WriteDatabase, selection: OrderSelection = { order: 'A' }): Promise<Order> {
  const { list } = await listOrders({ db, currencies }, selection)
  if (list[0] === undefined) throw new Error('no order is selected')
  return list[0]
}

/** An order in one line: state, credited TRX and what is true of it. */
function say({ state, credited, seen: shown, late, taken }: Order): string {
  const words = [late ? 'late' : '', taken ? 'taken' : '', shown > 0n ? `seen ${formatUnits(shown, 6)}` : '']
  return [state, formatUnits(BigInt(credited), 6), ...words].filter((word) => word !== '').join(' ')
}
export const sayOne = async (db: WriteDatabase, reference = 'A') => say(await read(db, { order: reference }))

/** The events in order: type, and what it says of an order. */
export async function events(db: WriteDatabase): Promise<readonly string[]> {
  return (await selectEvents(db, 0, 100)).map((event) => {
    const { type, data } = eventItem(event, currencies, formatUnits)
    const { state, credited: sum, order: reference, seen: shown } = data as Readonly<Record<string, unknown>>
    if (type.startsWith('order.'))
      return `${type} ${reference}: ${state} ${sum}${shown === '0' ? '' : ` seen ${shown}`}`
    return reference === undefined ? type : `${type} ${reference}`
  })
}

/** The balance of user 7 in TRX. */
export async function balance(db: WriteDatabase): Promise<number> {
  const found = await db.prepare('SELECT balance FROM wallet WHERE uid = 7 AND cuy = 1').first<number>('balance')
  return (found ?? 0) / 1e6
}
