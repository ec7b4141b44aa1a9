import { formatBase58 } from '../chain/address.ts'
import { formatPosition } from '../chain/block.ts'
import { formatInstant } from '../common/time.ts'
import { type Currencies, configured } from '../ledger/currencies.ts'
import type { WriteAmount } from '../ledger/entry.ts'
import type { OrderItem, OwnOrderItem } from '../schemas/order.ts'
import type { Order } from './order.ts'

/** Shows an order in an answer to a backend, and in events. */
export function orderItem<A>(order: Order, currencies: Currencies, write: WriteAmount<A>): OrderItem<A> {
  const { id, uid, cuy, state, return_to, ended_at } = order
  const { scale } = configured(cuy, currencies)
  return {
    id,
    uid,
    cuy,
    amt: write(BigInt(order.amount), scale),
    at_least: write(BigInt(order.at_least), scale),
    order: order.reference,
    address: formatBase58(order.address),
    state,
    seen: write(order.seen, scale),
    credited: write(BigInt(order.credited), scale),
    late: order.late,
    taken: order.taken,
    until: formatInstant(order.until),
    ...(return_to === null ? {} : { return: return_to }),
    mark: order.mark,
    by: order.posted_by,
    created_at: formatInstant(order.created_at),
    ...(state === 'paid' && ended_at !== null ? { paid_at: formatInstant(ended_at) } : {}),
    deposits: order.deposits.map(({ txid, position, amount, state }) => {
      return { txid, position: formatPosition(position), amt: write(amount, scale), state }
    }),
  }
}

/** Shows an order in an answer to its user; see `orderItem`. */
export function ownOrderItem<A>(order: Order, currencies: Currencies, write: WriteAmount<A>): OwnOrderItem<A> {
  const { by: _, ...own } = orderItem(order, currencies, write)
  return own
}
