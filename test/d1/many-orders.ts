import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { orderStates } from '../../src/worker/common/order-states.ts'
import { numbers } from './fixtures.ts'

/** The id of the address of all orders. It belongs to user 7. */
const ordersAddress = 100_001
/** The address of all orders. */
export const ordersBase58 = formatBase58((6_000_001).toString(16).padStart(40, '0') as Address)
/** A user has at most as many addresses for orders as orders that hold one. */
const addressesMax = 1_000

/** SQL that stores orders, as many in each state. */
const ordersOf = (id: string, owner: string, reference: string) => `INSERT INTO payment_order
  (id, uid, cuy, reference, amount, at_least, address_id, after_height, until, take, mark, posted_by,
    created_at, state, credited, newest_entry, held_until, ended_at, cancelled_by)
  SELECT ${id}, ${owner}, 2, ${reference}, 5, 5, ${ordersAddress}, 1, 9000000000000, 0, '', 'shop',
    1, state, credited, credited, 2, iif(state IN ('open', 'partly'), NULL, 1), iif(state = 'cancelled', 'shop', NULL)
  FROM (SELECT i, state, CASE state WHEN 'paid' THEN 5 WHEN 'partly' THEN 1 ELSE 0 END AS credited
    FROM (SELECT i, '${JSON.stringify(orderStates)}' ->> (i % ${orderStates.length}) AS state FROM n))`

/**
 * SQL, to run without triggers, that stores orders in the worst shape: `count` of user 7, with the
 * references `o1` and so on, and one of each of `count` other users, with the reference `same`. The
 * newest order of user 7 has `count` deposits, the transfers 1010, 1020 and so on.
 */
export const manyOrders = (count: number): readonly string[] => [
  `${numbers(Math.min(count, addressesMax))} INSERT INTO stored_address
    SELECT ${ordersAddress} - 1 + i, 7, unhex(printf('%040x', 6000000 + i)), 1, 1, NULL, 1 FROM n`,
  `${numbers(count)} ${ordersOf('2 * i', '7', `'o' || i`)}`,
  `${numbers(count)} ${ordersOf('2 * i + 1', '1000 + i', `'same'`)}`,
  `${numbers(count)} INSERT INTO order_deposit SELECT ${2 * count}, 1000 + 10 * i, 1 FROM n`,
]
