import { getTableName, sql } from 'drizzle-orm'
import { check, customType, integer, type SQLiteColumn, text } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import { amountMax } from '../common/amount.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'

// The tables (tables.ts and its neighbours) are built of these: conditions for CHECKs first, then
// kinds of columns. A kind may be NULL only if its name begins with `optional`.

/** Makes the SQL of a condition for a CHECK from the name of a column. */
export type Condition = (column: string) => string

/** The column is a text of exactly this many lower-case hex digits. */
export function hex(digits: number): Condition {
  return (column) => `length(${column}) = ${digits} AND ${column} NOT GLOB '*[^0-9a-f]*'`
}

/** The column has exactly this many bytes. */
export function bytes(length: number): Condition {
  return (column) => `length(${column}) = ${length}`
}

/**
 * The column is a number from `least` to `most`, both included. Either may be SQL, such as the name
 * of another column.
 */
export function between(least: number | bigint | string, most: number | bigint | string): Condition {
  return (column) => `${column} BETWEEN ${least} AND ${most}`
}

/** The column is one of these texts, which must contain no quote. */
export function oneOf(...values: readonly string[]): Condition {
  return (column) => `${column} IN (${values.map((value) => `'${value}'`)})`
}

/** The column is NULL or satisfies `condition`. */
export function orNull(condition: Condition): Condition {
  return (column) => `${column} IS NULL OR (${condition(column)})`
}

/**
 * The column is at least 0 and at most 2^53 − 1: D1 returns integers as doubles, which keep no
 * larger ones exactly.
 */
export const safe = between(0, amountMax)
/** Like `safe`, and not 0. */
export const positiveSafe = between(1, amountMax)
/** The column is a text of `least` to `most` characters. */
export const characters =
  (least: number, most: number): Condition =>
  (column) =>
    `length(${column}) BETWEEN ${least} AND ${most}`

const digits: Condition = (column) => `${column} GLOB '[1-9]*' AND ${column} NOT GLOB '*[^0-9]*'`
/** The column is a positive amount in chain units, as text: 78 digits are enough for 2^256 − 1. */
export const positiveUnits: Condition = (column) => `${digits(column)} AND length(${column}) <= 78`
/** The column is an amount in chain units, as text; it may be 0. */
export const units: Condition = (column) => `${column} = '0' OR (${positiveUnits(column)})`
/**
 * The column is a sum of amounts in chain units, as text with a minus sign if it is negative. 90
 * characters are enough for 10^11 of the largest amounts.
 */
export const signedUnits: Condition = (column) =>
  `${column} = '0' OR (${digits(`ltrim(${column}, '-')`)} AND ${column} NOT GLOB '?*-*' AND length(${column}) <= 90)`

const backendName: Condition = (column) =>
  `length(${column}) BETWEEN 1 AND 64 AND ${column} NOT GLOB '*[^A-Za-z0-9._-]*'`
/**
 * The column is a `DeciderName`: the name of a backend, or the e-mail address of a person in lower
 * case.
 */
export const deciderName: Condition = (column) =>
  `(${backendName(column)}) OR (length(${column}) <= 254 AND ${column} = lower(${column}) AND ${column} GLOB '?*@?*' AND ${column} NOT GLOB '*@*@*' AND ${column} NOT GLOB '*[^!-~]*')`

/**
 * Makes a CHECK, named `<table>_<column>` without the table's prefix `stored_`: the name by which
 * `isRefusedBy` and tests know it.
 */
export function rule(column: SQLiteColumn, condition: Condition | string) {
  const text = typeof condition === 'string' ? condition : condition(column.name)
  return check(`${getTableName(column.table).replace('stored_', '')}_${column.name}`, sql.raw(text))
}

/** Makes one CHECK for each of the columns, all with the same condition. */
export function rules(condition: Condition, ...columns: readonly SQLiteColumn[]) {
  return columns.map((column) => rule(column, condition))
}

export const cuy = () => integer().$type<CurrencyId>().notNull()
export const uid = () => integer().$type<Uid>().notNull()
/** Milliseconds since 1970. */
export const instant = () => integer().$type<UnixMs>().notNull()
export const height = () => integer().$type<BlockHeight>().notNull()
/** An `Address` as text: 40 hex digits. */
export const address = () => text().$type<Address>().notNull()
/** A `Txid` as text: 64 hex digits. */
export const txid = () => text().$type<Txid>().notNull()

/**
 * Bytes in the database, hex digits in programs: bytes take half the space. `shown` and `ofHex`
 * (database.ts) convert.
 */
const inBytes = customType<{ data: string; driverData: Uint8Array }>({ dataType: () => 'blob' })
/** An `Address` as its 20 bytes. */
export const addressBytes = () => inBytes().$type<Address>().notNull()
/** A `Txid` as its 32 bytes. */
export const txidBytes = () => inBytes().$type<Txid>().notNull()
/** Like `txidBytes`, but NULL in a row that is about no transaction. */
export const optionalTxidBytes = () => inBytes().$type<Txid>()
/** Like `addressBytes`, but NULL in a row that is about no address. */
export const optionalAddressBytes = () => inBytes().$type<Address>()
