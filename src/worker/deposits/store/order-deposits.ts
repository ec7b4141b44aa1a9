import { sql } from 'drizzle-orm'
import { bareList, fixedStatement, ofHex, toJsonTexts, type WriteDatabase } from '../../d1/database.ts'
import { orderDeposits, orders } from '../../d1/order-tables.ts'
import { corrections } from '../../d1/state-tables.ts'
import { addresses, transfers } from '../../d1/tables.ts'
import type { TransferChange } from '../transitions.ts'

// Which order a transfer belongs to: the one that held its address, in its currency, when its block
// was made. Triggers do the rest: the credit of the transfer counts for the order.

/** Most rows in one JSON text. A row takes about 130 bytes, and D1 binds texts up to 2 MB. */
const rowsMax = 10_000

/**
 * Makes the statements that store to which orders the transfers of a batch belong. They run before
 * the transfers are stored, so that the events of the transfers name the orders. No statement is
 * made if no transfer goes to an address for orders, or may have gone to one before.
 */
export function orderDepositStatements(
  db: WriteDatabase,
  changed: readonly TransferChange[],
  fresh: readonly TransferChange[],
): readonly D1PreparedStatement[] {
  const list = [
    ...changed.map((change) => ({ ...change, place: 0 })),
    // A new row gets the highest id plus 1, and rows are inserted in this order.
    ...fresh.map((change, index) => ({ ...change, place: index + 1 })),
  ].flatMap(({ known, place, to, cuy, block: { height }, madeAt, ...decided }) => {
    const row = { id: known?.id ?? null, place, to, cuy, height, madeAt, isOpen: mayCount(decided) ? 1 : 0 }
    // A transfer to an address for orders may go to another address by this block.
    const mayLeave = known?.isSame === false
    return (madeAt === undefined && !mayLeave) || (known === null && row.isOpen === 0) ? [] : [row]
  })
  return toJsonTexts(list, rowsMax).flatMap((rows) => [forgetOthers(db, { rows }), storeOrders(db, { rows })])
}

/**
 * Movements and what is worth nothing leave no row, also where they were seen before: nobody can
 * fill the table with dust. What was refused in its review can still be credited.
 */
const mayCount = ({ state, review }: Pick<TransferChange, 'state' | 'review'>) =>
  state === 'seen' || state === 'held' || state === 'credited' || (state === 'refused' && review !== null)

const { order_id, transfer_id, made_at } = orderDeposits
const rows = sql.placeholder('rows')
const value = (name: string) => sql`value ->> ${sql.raw(`'${name}'`)}`
/** SQL: the height that was final when the order was made, or what it was corrected to since. */
const afterHeight = sql`min(${orders.after_height}, coalesce((SELECT min(${corrections.finalized}) FROM ${corrections}
  WHERE ${corrections.created_at} >= ${orders.created_at}), ${orders.after_height}))`
/** SQL that is true if the order counts transfers of this value's currency and block. */
const counts = sql`${value('isOpen')} = 1
  AND ${orders.created_at} < ${value('madeAt')} AND ${value('madeAt')} < ${orders.held_until}
  AND ${orders.cuy} = ${value('cuy')} AND ${afterHeight} < ${value('height')}`

/**
 * A transfer that is seen in another block, or to another address, may belong to another order than
 * before, or to none. Without `madeAt` only the address decides.
 */
const forgetOthers = fixedStatement<'rows'>(sql`
DELETE FROM ${orderDeposits} WHERE (${bareList([order_id, transfer_id])}) IN (
  SELECT ordered_transfer.order_id, ordered_transfer.transfer_id FROM json_each(${rows})
    CROSS JOIN ${transfers} ON ${transfers.id} = ${value('id')}
    CROSS JOIN ordered_transfer ON ordered_transfer.address = ${transfers.to_address}
      AND ordered_transfer.transfer_id = ${transfers.id}
    CROSS JOIN ${orders} ON ${orders.id} = ordered_transfer.order_id
    CROSS JOIN ${addresses} ON ${addresses.id} = ${orders.address_id}
  WHERE NOT (${counts} AND ${addresses.address} = ${ofHex(value('to'))}))`)

/** Of the orders of an address, the newest one that was asked for before the block was made. */
const storeOrders = fixedStatement<'rows'>(sql`
INSERT INTO ${orderDeposits} (${bareList([order_id, transfer_id, made_at])})
SELECT ${orders.id},
  coalesce(${value('id')}, ${value('place')} + (SELECT coalesce(max(${transfers.id}), 0) FROM ${transfers})),
  ${value('madeAt')}
FROM json_each(${rows}) CROSS JOIN ${addresses} ON ${addresses.address} = ${ofHex(value('to'))}
  CROSS JOIN ${orders} ON ${orders.id} = (
    SELECT at_address.id FROM ${orders} AS at_address INDEXED BY order_address
    WHERE at_address.address_id = ${addresses.id} AND at_address.created_at < ${value('madeAt')}
    ORDER BY at_address.id DESC LIMIT 1)
WHERE ${counts}
ON CONFLICT (order_id, transfer_id) DO UPDATE SET made_at = excluded.made_at WHERE made_at <> excluded.made_at`)
