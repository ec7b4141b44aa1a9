import type { BackendName } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { WriteContext } from '../ledger/context.ts'
import type { OrderFailure } from './failure.ts'
import { cancelOrder, type OrderRow } from './lifecycle.ts'
import { readInOrder } from './list.ts'
import type { Order } from './order.ts'
import { parseOrderCancellation } from './parse-order-request.ts'
import { selectOrders, storeCancelled } from './store/rows.ts'

/** How often a request reads and decides anew if deposits are credited meanwhile. */
const triesMax = 5

/**
 * Cancels orders, all or none, and returns them in the order of the request. `body` is as the
 * backend sent it. One that is cancelled already stays as it is.
 */
export async function cancelOrders(
  { db, currencies, clock }: Pick<WriteContext, 'db' | 'currencies' | 'clock'>,
  body: unknown,
  by: BackendName,
): Promise<Result<readonly Order[], OrderFailure>> {
  const request = parseOrderCancellation(body)
  if (!request.ok) return request
  const { orders: keys, why } = request.value
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const stored = await selectOrders(db, keys)
    const changed: OrderRow[] = []
    for (const [i, { uid, order: reference }] of keys.entries()) {
      const order = stored.find((one) => one.uid === uid && one.reference === reference)
      if (order === undefined) return err({ kind: 'unknown-order', order: i + 1, why: 'its user has no such order' })
      const cancelled = cancelOrder(order, by, why, clock.now())
      if (cancelled === null) {
        return err({ kind: 'conflict', order: i + 1, reason: 'order-credited', why: 'a deposit counts for it' })
      }
      if (cancelled !== order) changed.push(cancelled)
    }
    if ((await storeCancelled(db, changed)) === 'stored') return ok(await readInOrder(db, keys, currencies))
  }
  throw new Error('orders change faster than they are decided about')
}
