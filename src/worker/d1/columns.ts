import { getTableName, sql } from 'drizzle-orm'
import { check, customType, integer, type SQLiteColumn, text } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import { amountMax } from '../common/amount.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'

// What the tables are built of: conditions for CHECKs first, then kinds of columns. Only an `optional…` column may be NULL.

/** A condition on a column for a CHECK, as SQL. */
export type Condition = (column: string) => string

/** Lower-case hex with this many digits. */
export function hex(digits: number): Condition {
  return (column) => `length(${column}) = ${digits} AND ${column} NOT GLOB '*[^0-9a-f]*'`
}

/** Exactly this many bytes. */
export function bytes(length: number): Condition {
  return (column) => `length(${column}) = ${length}`
}

/** An integer from `least` to `most`; either may name another column. */
export function between(least: number | bigint | string, most: number | bigint | string): Condition {
  return (column) => `${column} BETWEEN ${least} AND ${most}`
}

/** One of these texts. */
export function oneOf(...values: readonly string[]): Condition {
  return (column) => `${column} IN (${values.map((value) => `'${value}'`)})`
}

/** NULL, or a value that satisfies `condition`. */
export function orNull(condition: Condition): Condition {
  return (column) => `${column} IS NULL OR (${condition(column)})`
}

/** An integer that a double keeps exactly: D1 returns integers as doubles. */
export const safe = between(0, amountMax)
/** A positive integer that a double keeps exactly. */
export const positiveSafe = between(1, amountMax)
/** A text of this many characters. */
export const characters =
  (least: number, most: number): Condition =>
  (column) =>
    `length(${column}) BETWEEN ${least} AND ${most}`

const digits: Condition = (column) => `${column} GLOB '[1-9]*' AND ${column} NOT GLOB '*[^0-9]*'`
/** Positive chain units as text: 78 digits are enough for 2^256 − 1. */
export const positiveUnits: Condition = (column) => `${digits(column)} AND length(${column}) <= 78`
/** Chain units as text. */
export const units: Condition = (column) => `${column} = '0' OR (${positiveUnits(column)})`
/** A sum of chain units as text, with a sign: 90 characters are enough for 10^12 of the largest amounts. */
export const signedUnits: Condition = (column) =>
  `${column} = '0' OR (${digits(`ltrim(${column}, '-')`)} AND ${column} NOT GLOB '?*-*' AND length(${column}) <= 90)`

/** The name of a backend. */
const backendName: Condition = (column) =>
  `length(${column}) BETWEEN 1 AND 64 AND ${column} NOT GLOB '*[^A-Za-z0-9._-]*'`
/** The name of a backend, or the e-mail address of a person in lower case. Columns about who posted accept only backends. */
export const deciderName: Condition = (column) =>
  `(${backendName(column)}) OR (length(${column}) <= 254 AND ${column} = lower(${column}) AND ${column} GLOB '?*@?*' AND ${column} NOT GLOB '*@*@*' AND ${column} NOT GLOB '*[^!-~]*')`

/** A CHECK of one column, named after its table and column; `stored_` is left out, as in the view of the table. */
export function rule(column: SQLiteColumn, condition: Condition | string) {
  const text = typeof condition === 'string' ? condition : condition(column.name)
  return check(`${getTableName(column.table).replace('stored_', '')}_${column.name}`, sql.raw(text))
}

/** The same CHECK for several columns. */
export function rules(condition: Condition, ...columns: readonly SQLiteColumn[]) {
  return columns.map((column) => rule(column, condition))
}

export const cuy = () => integer().$type<CurrencyId>().notNull()
export const uid = () => integer().$type<Uid>().notNull()
/** Milliseconds since 1970. */
export const instant = () => integer().$type<UnixMs>().notNull()
export const height = () => integer().$type<BlockHeight>().notNull()
/** A Tron address without the leading 41. */
export const address = () => text().$type<Address>().notNull()
/** A txid in hex digits. */
export const txid = () => text().$type<Txid>().notNull()

/** Hex digits in programs, bytes in the database, which takes half the space. `shown` and `ofHex` (database.ts) convert. */
const inBytes = customType<{ data: string; driverData: Uint8Array }>({ dataType: () => 'blob' })
/** A Tron address without the leading 41, in bytes. */
export const addressBytes = () => inBytes().$type<Address>().notNull()
/** A txid in bytes. */
export const txidBytes = () => inBytes().$type<Txid>().notNull()
/** A txid in bytes, or NULL. */
export const optionalTxidBytes = () => inBytes().$type<Txid>()
/** An address like that of `addressBytes`, or NULL. */
export const optionalAddressBytes = () => inBytes().$type<Address>()
