import type { OrderId } from '../common/ids.ts'
import type { OrderState } from '../common/order-states.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { worthOf } from './list.ts'
import { type Order, orderDepositsMax } from './order.ts'
import type { OrderOfEvent } from './store/of-events.ts'

/** What the event itself contains: what changes of an order, and the chain units that were seen. */
type AtEvent = readonly [id: OrderId, state: OrderState, credited: number, seen: readonly string[]]

/** The order as it was at the event with this id, with the deposits that had counted by then. */
export function orderAtEvent(
  about: string,
  { order, counted }: OrderOfEvent,
  event: number,
  currencies: Currencies,
): Order {
  const [, state, credited, seen] = JSON.parse(about) as AtEvent // safe: a trigger has written it
  const isPaid = state === 'paid'
  return {
    ...order,
    ...{ state, credited, late: isPaid && order.late, taken: isPaid && order.taken },
    seen: state === 'cancelled' ? 0n : seen.reduce((sum, raw) => sum + worthOf(raw, order.cuy, currencies), 0n),
    deposits: counted
      .filter(({ entry_id }) => entry_id < event)
      .slice(-orderDepositsMax)
      .map(({ txid, position, amount }) => ({ txid, position, state: 'credited', amount: BigInt(amount) })),
  }
}
