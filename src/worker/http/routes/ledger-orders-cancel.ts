import { remarkCharsMax } from '../../common/remark.ts'
import { cancellationWhy, orderCancellation, ordersMax, orderToCancel } from '../../orders/parse-order-request.ts'
import { orderSchema } from '../../schemas/order.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { toOrderProblem } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import type * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'

/** Cancels orders for which nothing is credited: all orders of the request or none. */
export const ledgerOrdersCancel = {
  path: '/ledger/orders/cancel',
  method: 'POST',
  ...useCases.cancelOrders,
  handle: handleWrite(useCases.cancelOrders, (c) => c.get('backend'), toOrderProblem),
} satisfies LedgerRoute

const body = () =>
  schemas.component('CancelOrdersRequest', () => {
    schemas.component('OrderKey', () => orderToCancel)
    schemas.described(orderToCancel.shape.uid, 'The user.')
    schemas.described(orderToCancel.shape.order, 'The reference.')
    schemas.described(orderCancellation.shape.orders, 'The orders. Each once.')
    schemas.describeWhy(
      cancellationWhy,
      `Why, in 1 to ${remarkCharsMax} characters: it is kept with the orders, for people.`,
    )
    return orderCancellation
  })

/**
 * `POST /ledger/orders/cancel` in the OpenAPI document. The Worker never calls this function, so
 * its bundle has none of these texts.
 */
export const ledgerOrdersCancelDocs = () => {
  const given = 'an open order and one that is partly paid'
  const sent = (order: string) => ({ orders: [{ uid: 7, order }], why: 'sold out' })
  return {
    id: 'cancelOrders',
    summary: 'Cancel orders: all or none',
    description:
      `Cancels 1 to ${ordersMax} orders. That is possible while nothing is credited for them. Sent again it is answered as the first time. ` +
      'What still arrives for a cancelled order is in the wallet, and its event `deposit.credited` names the order.',
    body: body(),
    success: schemas.listBody('CancelledOrders', orderSchema, 'The number of orders in the list.'),
    examples: [{ name: 'an open one', given, request: sent('tea-1042') }],
    failures: [
      {
        name: 'bad-key',
        cause: 'An order has a wrong `uid` or `order` or comes twice, or the reason is not readable.',
        cure: 'The message has the number of the order, the member, and what it takes.',
        given,
        request: { orders: [{ uid: 7 }] },
      },
      ...bodyFailures(sent('tea-1042'), given, '{"orders": [...], "why"}'),
      {
        name: 'unknown-order',
        cause: 'The user has no order with this reference.',
        cure: 'Nothing was changed. Look for it in `GET /ledger/orders`.',
        given,
        request: sent('coffee-1'),
      },
      refused('order-credited', { given, request: sent('cake-7') }),
    ],
  } satisfies docs.Operation
}
