import { countedMax } from '../../common/counted.ts'
import { pageRowsDefault } from '../../ledger/store/entries.ts'
import { orderSearchMax, userSearchMax } from '../../orders/store/lists.ts'
import { orderSchema } from '../../schemas/order.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { handleRead } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'
import { pageRowsMax } from './wallet-flow-list.ts'

/** The orders of all users, newest first, in pages, for the selection in the query. */
export const ledgerOrders = {
  path: '/ledger/orders',
  method: 'GET',
  ...useCases.orders,
  handle: handleRead(useCases.orders),
} satisfies LedgerRoute

/** The count of a page of orders, for the document. */
export const orderCount = `The number of orders that match, on all pages; ${countedMax} means that many or more.`

/**
 * `GET /ledger/orders` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const ledgerOrdersDocs = () => {
  const given = 'an open order and one that is partly paid'
  return {
    id: 'listOrders',
    summary: 'Orders, and what is missing',
    description:
      'Orders of all users, newest first; every parameter selects further. For older ones use `before`: the cost of a page does not grow ' +
      'with its depth. `at_least` − `credited` is what is missing. Open and paid orders, and a state at an address, are looked for ' +
      `among the newest ${orderSearchMax} below \`before\`, of one user among ${userSearchMax}.`,
    query: useCases.orders.input,
    parameters: {
      ...docs.uidNote,
      order: { description: 'Only the order with this reference.', example: 'tea-1042' },
      state: { description: 'Only this state; the response schema lists them.', example: 'partly' },
      address: { description: 'Only orders that are or were paid at this address.', example: docs.depositAddress },
      limit: {
        description: `Orders in the list, at most ${pageRowsMax}; the default is ${pageRowsDefault}.`,
        example: 20,
      },
      before: { description: 'Only orders with a smaller `id`: the last one of the previous page.', example: 1000 },
    },
    success: schemas.listBody('OrderListResponse', orderSchema, orderCount),
    examples: [
      { name: 'of a user', given, query: '?uid=7' },
      { name: 'of all users, partly paid', given, query: '?state=partly' },
      { name: 'by reference', given, query: '?order=tea-1042' },
    ],
    failures: [badQuery('?state=lost')],
  } satisfies docs.Operation
}
