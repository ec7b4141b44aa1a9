import * as z from 'zod/mini'
import type { OrderId } from '../../common/ids.ts'
import { orderStates } from '../../common/order-states.ts'
import { listOrders } from '../../orders/list.ts'
import type { OrderSelection } from '../../orders/order.ts'
import { ownOrderItem } from '../../orders/order-item.ts'
import { ownOrderSchema } from '../../schemas/order.ts'
import * as schemas from '../../schemas/parts.ts'
import { jsonAmount } from '../../schemas/written.ts'
import { type Route, reading } from '../context.ts'
import { success } from '../envelope.ts'
import type * as docs from '../openapi/docs.ts'
import { badQuery } from '../openapi/failures.ts'
import { choiceParam, idParam, type ParametersOf, wholeNumber, withQuery } from '../query.ts'
import { orderParam } from '../use-cases.ts'
import { ledgerOrdersDocs, orderCount } from './ledger-orders.ts'
import { pageRowsMax } from './wallet-flow-list.ts'

const ordersQuery = z.object({
  order: z.optional(orderParam()),
  state: z.optional(choiceParam(orderStates)),
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<OrderId>()),
} satisfies Partial<ParametersOf<OrderSelection>>)

/** The user's orders, newest first. Reads only the database. */
export const tronOrders = {
  path: '/tron/orders',
  rateClass: () => 'lists',
  handle: withQuery(ordersQuery, async (c, selection) => {
    const { list, count } = await reading(c, (context) => listOrders(context, { ...selection, uid: c.get('uid') }))
    const { currencies } = c.env.services.settings
    return success({ list: list.map((order) => ownOrderItem(order, currencies, jsonAmount)), count })
  }),
} satisfies Route

/**
 * `GET /tron/orders` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const tronOrdersDocs = () => {
  const given = 'an open order and one that is partly paid'
  const { order, state, limit, before } = ledgerOrdersDocs().parameters
  return {
    id: 'listOwnOrders',
    summary: 'Your orders, and what is missing',
    description:
      'What shops wait for from you, newest first. Pay an order at its own `address`: nothing else counts for it. Asks no node.',
    query: ordersQuery,
    parameters: { order, state, limit, before },
    success: schemas.listBody('OwnOrderListResponse', ownOrderSchema, orderCount),
    examples: [
      { name: 'all', given },
      { name: 'one of them', given, query: '?order=cake-7' },
    ],
    failures: [badQuery('?limit=0')],
  } satisfies docs.Operation
}
