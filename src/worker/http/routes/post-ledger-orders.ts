import * as z from 'zod/mini'
import { ordersHeldMax } from '../../common/order-states.ts'
import { remarkCharsMax } from '../../common/remark.ts'
import { ordersMax, requestedOrder, returnCharsMax } from '../../orders/parse-order-request.ts'
import { orderSchema } from '../../schemas/order.ts'
import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { toOrderProblem } from '../errors.ts'
import { handleWrite } from '../handlers.ts'
import * as docs from '../openapi/docs.ts'
import { bodyFailures, refused } from '../openapi/failures.ts'
import { useCases } from '../use-cases.ts'

/**
 * Takes a backend's request for orders: all or none. A repeated request stores nothing, and gets
 * the orders as they are now.
 */
export const postLedgerOrders = {
  path: '/ledger/orders',
  method: 'POST',
  ...useCases.askOrders,
  handle: handleWrite(useCases.askOrders, (c) => c.get('backend'), toOrderProblem),
} satisfies LedgerRoute

/** The schema of an order in a request: the one that parses it, with what the document adds. */
const orderToAsk = () =>
  schemas.component('OrderToAsk', () => {
    // cloned, because other routes describe these schemas in other words
    const { uid, cuy, order, until, take, return: back } = requestedOrder.shape
    return z.strictObject({
      uid: schemas.described(uid.clone(), 'The user who pays.'),
      cuy: schemas.described(cuy.clone(), `The currency. ${docs.cuyExpected}`),
      amt: schemas.sentAmountSchema('positive'),
      order: schemas.described(
        order.clone(),
        'Your reference: with `uid` the key of the order. The page finds the order by it.',
      ),
      atLeast: schemas.described(
        z.optional(schemas.sentAmountSchema('positive')),
        'From how much on it is paid, at most `amt`, which is the default. For exchanges that keep a fee.',
      ),
      until: schemas.described(
        until,
        'When it expires: ISO 8601 with a zone, at most 30 days ahead. By default in a day.',
      ),
      take: schemas.described(
        take,
        'Whether an entry of type 4 takes `credited`, at most `amt`, from the wallet once it is paid. By default it stays there.',
      ),
      return: schemas.described(
        back,
        `Where the page leads its reader after the payment: an https URL of an origin in \`PAGE_ORIGINS\` (http on this machine), at most ${returnCharsMax} characters.`,
      ),
      mark: z.optional(schemas.remarkSchema(`A remark for people, at most ${remarkCharsMax} characters.`)),
    })
  })

const body = () =>
  schemas.object('AskOrdersRequest', () => ({
    orders: schemas.sentListSchema(orderToAsk(), ordersMax, 'The orders.'),
  }))

const response = () =>
  schemas.dataBody('AskedOrders', () => ({
    list: z.array(orderSchema()),
    count: schemas.countSchema('The number of orders in the list.'),
    replayed: schemas.described(z.boolean(), 'Whether they were asked for before.'),
  }))

const tea = { uid: 7, cuy: 2, amt: '25', order: 'tea-1042' }
const cake = { uid: 7, cuy: 2, amt: '25', order: 'cake-7', atLeast: '24', take: true, mark: 'a whole one' }
const before = 'two deposits, credited'
const after = 'an open order and one that is partly paid'

const failures = (): readonly docs.Failure[] => {
  const sent = (given: docs.Situation, changes: object) => ({ given, request: { orders: [{ ...tea, ...changes }] } })
  return [
    {
      name: 'bad-order',
      cause:
        'An order has a wrong member: its form, its currency, too many decimals, `atLeast` above `amt`, `until` more than 30 days ahead. Or a ' +
        'reference comes twice.',
      cure: 'The message has the number of the order, the member, and what it takes.',
      ...sent(before, { atLeast: '26' }),
    },
    ...bodyFailures({ orders: [tea] }, before, '{"orders": [...]}'),
    refused('content-differs', sent(after, { amt: '26' })),
    refused('partly-known', { given: after, request: { orders: [tea, { ...tea, order: 'tea-1043' }] } }),
    refused('backend-differs', { ...sent(after, {}), by: 'office' }),
    refused('key-in-use', sent('two deposits and a payment', { order: 'order-1001', take: true })),
    refused('too-many-orders', sent('as many orders of a user as hold an address', {})),
    refused('retired', sent('a transaction of each kind', { cuy: 3 })),
    refused('decimals-unknown', sent('an address', {})),
    refused('chain-forked', sent('a chain that has forked', {})),
    refused('issuing-off', sent('no issue of addresses', { cuy: 1 })),
    refused('nodes-unavailable', sent('nodes that do not respond', { cuy: 1 })),
  ]
}

/**
 * `POST /ledger/orders` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const postLedgerOrdersDocs = () =>
  ({
    id: 'askOrders',
    summary: 'Ask for orders: all or none',
    description:
      `Asks for 1 to ${ordersMax} orders: so much of a currency from a user, at an address that counts for nothing else meanwhile. The key of ` +
      'an order is its `uid` and `order`: asked for again with the same content by the same backend it is shown as it is now, with ' +
      '`replayed: true`, so a request whose answer was lost can always be sent again. An order holds its address while it is open and for 24 ' +
      `hours after it has ended; at most ${ordersHeldMax} of a user are held. The page of the user shows it where the token has the claim ` +
      '`order`. Events: `order.partly`, `order.paid`, `order.expired`, `order.cancelled`.',
    body: body(),
    success: response(),
    examples: [
      { name: 'an order', given: before, request: { orders: [tea] } },
      { name: 'two at once', given: before, request: { orders: [tea, cake] } },
      { name: 'the same again', given: after, request: { orders: [tea] } },
    ],
    failures: failures(),
  }) satisfies docs.Operation
