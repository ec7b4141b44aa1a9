import { sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { columnName, fixedStatement, isInBytes, ofHex, type ReadDatabase, resultRows } from '../d1/database.ts'
import { payouts, payoutTransactions } from '../d1/payout-tables.ts'
import { addresses, transfers } from '../d1/tables.ts'
import type { HexRange } from './part.ts'

/** Most values of each column that are read for one search. */
export const candidatesMax = 200

const ofAddresses = [valuesIn(addresses, addresses.address), valuesIn(payouts, payouts.to_address)]
const ofTxids = [valuesIn(transfers, transfers.txid), valuesIn(payoutTransactions, payoutTransactions.txid)]

/**
 * Finds what is stored in a range: addresses that were issued or that payouts go to, or txids of
 * deposits and payouts, as hex digits, each once. `isCut`: there are more in the range.
 */
export async function selectInRange(
  db: ReadDatabase,
  what: 'addresses' | 'txids',
  { first, last }: HexRange,
): Promise<{ readonly values: readonly string[]; readonly isCut: boolean }> {
  const statements = (what === 'addresses' ? ofAddresses : ofTxids).map((make) => make(db, { first, last }))
  const lists = (await db.batch(statements)).map((one) => resultRows<{ value: string }>(one))
  const values = new Set(lists.flatMap((rows) => rows.slice(0, candidatesMax).map(({ value }) => value)))
  return { values: [...values], isCut: lists.some(({ length }) => length > candidatesMax) }
}

/**
 * A statement for the different values of a column in a range. Each is one look-up in an index that
 * begins with the column, so it costs the same however many rows have the value.
 */
function valuesIn(table: SQLiteTable, column: SQLiteColumn) {
  const name = columnName(column)
  const isBytes = isInBytes(column)
  const bound = (value: 'first' | 'last') => (isBytes ? ofHex(sql.placeholder(value)) : sql`${sql.placeholder(value)}`)
  return fixedStatement<'first' | 'last'>(sql`
WITH RECURSIVE found(value) AS (
  SELECT (SELECT min(${name}) FROM ${table} WHERE ${name} BETWEEN ${bound('first')} AND ${bound('last')})
  UNION ALL
  SELECT (SELECT min(${name}) FROM ${table} WHERE ${name} > found.value AND ${name} <= ${bound('last')})
  FROM found WHERE found.value IS NOT NULL LIMIT ${sql.raw(String(candidatesMax + 1))}
)
SELECT ${isBytes ? sql`lower(hex(value))` : sql`value`} AS value FROM found WHERE value IS NOT NULL`)
}
