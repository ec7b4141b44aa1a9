import * as z from 'zod/mini'
import { orderStates } from '../common/order-states.ts'
import * as schemas from './parts.ts'
import type { WithAmounts } from './written.ts'

/** An order as backends see it. `A` is the type of an amount. */
export type OrderItem<A> = WithAmounts<z.output<ReturnType<typeof orderSchema>>, A>
/** An order as its user sees it. `A` is the type of an amount. */
export type OwnOrderItem<A> = WithAmounts<z.output<ReturnType<typeof ownOrderSchema>>, A>

/** Where a deposit to an order's address can be: on its way, or credited and counted. */
const orderDepositStates = ['seen', 'held', 'credited'] as const

const orderDeposit = () =>
  schemas.object('OrderDeposit', () => ({
    txid: schemas.textSchema('The transaction, 64 hex digits.', /^[0-9a-f]{64}$/),
    position: schemas.positionSchema(),
    amt: schemas.amountSchema('How much, in whole units.'),
    state: schemas.described(
      z.enum(orderDepositStates),
      '`credited`: it counts for the order. `seen`: in a block that is not final. `held`: final, and undecidable for now.',
    ),
  }))

/** The schemas of an order's members that its user sees. */
const ownMembers = () => ({
  id: schemas.idSchema('The order. Newer ones have higher ids.'),
  uid: schemas.idSchema('The user who pays.'),
  cuy: schemas.idSchema('The currency.'),
  amt: schemas.amountSchema('What is asked for, in whole units.'),
  at_least: schemas.amountSchema('From how much on it is paid.'),
  order: schemas.textSchema('The reference that the backend has given to it.'),
  address: schemas.textSchema('Where it is paid: an address that counts for nothing else meanwhile.', /^T\w{33}$/),
  state: schemas.described(
    z.enum(orderStates),
    '`open`: nothing is credited. `partly`: less than `at_least` is credited. `paid`: at least that much is. `expired`: `until` has passed; ' +
      'what comes within 24 hours still counts. `cancelled`: nothing counts any more.',
  ),
  seen: schemas.amountSchema('What was seen at the address and is not credited yet.'),
  credited: schemas.amountSchema('What is credited and counts for it; it can be more than `amt`.'),
  late: schemas.described(z.boolean(), 'Whether it was paid by a block after `until`.'),
  taken: schemas.described(
    z.boolean(),
    'Whether an entry of type 4 has taken the money from the wallet. Of a paid order with `take` it is false where the user had spent it.',
  ),
  until: schemas.described(schemas.instantSchema(), 'When it expires.'),
  return: z.exactOptional(
    schemas.textSchema('Where the page leads its reader after the payment. Absent: nowhere.', /^https?:\/\//),
  ),
  mark: schemas.textSchema('A remark for people.'),
})

const ends = () => ({
  created_at: schemas.instantSchema(),
  paid_at: z.exactOptional(schemas.described(schemas.instantSchema(), 'When it was paid. Absent: it is not.')),
  deposits: schemas.described(z.array(orderDeposit()), 'The deposits at its address that count for it or may count.'),
})

/** The schema of an order as its user sees it: without the name of the backend. */
export const ownOrderSchema = () => schemas.object('OwnOrder', () => ({ ...ownMembers(), ...ends() }))

/** The schema of an order as backends and people at the desk see it. */
export const orderSchema = () =>
  schemas.object('Order', () => ({
    ...ownMembers(),
    by: schemas.textSchema('The backend that has asked for it.'),
    ...ends(),
  }))
