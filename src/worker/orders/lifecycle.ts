import type { BackendName } from '../common/ids.ts'
import { type OrderState, orderHoldMs } from '../common/order-states.ts'
import type { UnixMs } from '../common/time.ts'
import type { orders } from '../d1/order-tables.ts'

// The state machine of an order. `npm run db:generate` writes `orderSteps` into the trigger
// `order_takes_its_steps`, which refuses every other step; migrations/steps.ts has what each event
// is in SQL. The database itself counts a deposit, in the statement that credits it: the trigger
// `credit_creates_its_entry`.

/** The row of an order. */
export type OrderRow = typeof orders.$inferSelect

/**
 * The causes of a change of an order. The events that backends receive are others: a trigger writes
 * them with the change.
 */
export type OrderEvent =
  /** A deposit that the order counts is credited. */
  | 'count'
  /** `until` has passed. */
  | 'pass'
  /** A backend cancels the order, for which nothing is credited. */
  | 'cancel'

/**
 * The allowed transitions, from state to state, with their events. A transition that is absent is
 * refused. A paid order counts surplus, and an expired one what is short; a cancelled one counts
 * nothing.
 */
export const orderSteps: Readonly<Record<OrderState, Partial<Readonly<Record<OrderState, readonly OrderEvent[]>>>>> = {
  open: { partly: ['count'], paid: ['count'], expired: ['pass'], cancelled: ['cancel'] },
  partly: { partly: ['count'], paid: ['count'], expired: ['pass'] },
  expired: { expired: ['count'], paid: ['count'], cancelled: ['cancel'] },
  paid: { paid: ['count'] },
  cancelled: {},
}

/**
 * The order as it is after it was cancelled; one that is cancelled already is returned unchanged.
 * Null: something is credited, so it can no longer be cancelled. `why` is empty if no reason was
 * given.
 */
export function cancelOrder(order: OrderRow, by: BackendName, why: string, at: UnixMs): OrderRow | null {
  if (order.state === 'cancelled') return order
  if (order.credited > 0 || orderSteps[order.state].cancelled?.includes('cancel') !== true) return null
  const hasEnded = order.ended_at !== null
  return {
    ...order,
    state: 'cancelled',
    ended_at: at,
    // safe: the earlier of two times
    held_until: hasEnded ? order.held_until : (Math.min(order.held_until, at + orderHoldMs) as UnixMs),
    cancelled_by: by,
    why: why === '' ? null : why,
  }
}
