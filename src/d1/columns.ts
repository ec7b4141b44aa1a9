import { getTableName, sql } from 'drizzle-orm'
import { check, integer, type SQLiteColumn, text } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { BlockHash, BlockHeight, Txid } from '../chain/block.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { PendingReason, RefusalReason } from '../deposits/deposit.ts'
import { amountMax } from '../common/amount.ts'

// Kinds of columns, and the CHECKs for them.

/** What a CHECK requires of a column, as SQL. */
export type Condition = (column: string) => string

/** Lower-case hex of this many digits. */
export function hex(digits: number): Condition {
  return (column) => `length(${column}) = ${digits} AND ${column} NOT GLOB '*[^0-9a-f]*'`
}

/** An integer from `least` to `most`, which can be other columns. */
export function between(least: number | bigint | string, most: number | bigint | string): Condition {
  return (column) => `${column} BETWEEN ${least} AND ${most}`
}

/** One of these texts. The type makes the list complete. */
export function oneOfTexts<T extends string>(values: Record<T, true>): Condition {
  return (column) => `${column} IN (${Object.keys(values).map((value) => `'${value}'`)})`
}

/** Whether the column `type` is one of these. */
export function isType<T extends string>(...types: readonly T[]): string {
  return `type IN (${types.map((type) => `'${type}'`)})`
}

/** Why a candidate is held: every reason to be pending but `queued`. */
export const heldReasons: Record<Exclude<PendingReason, 'queued'>, true> = {
  'no-api': true,
  'api-unavailable': true,
  'bytes-unreadable': true,
  disagreement: true,
  'decimals-differ': true,
  'decimals-unknown': true,
  retired: true,
}

/** Why a candidate is pending. */
export const pendingReason = oneOfTexts<PendingReason>({ queued: true, ...heldReasons })

/** Why a candidate is worth nothing. */
export const refusalReason = oneOfTexts<RefusalReason['kind']>({ failed: true, 'other-contract': true })

/** The text 0, or what `condition` requires. */
export function orZero(condition: Condition): Condition {
  return (column) => `${column} = '0' OR (${condition(column)})`
}

/** An integer that a double keeps exactly: D1 returns integers as doubles. */
export const safe = between(0, amountMax)
/** A positive integer that a double keeps exactly. */
export const positiveSafe = between(1, amountMax)
/** A positive integer as text, of any length. */
export const digits: Condition = (column) => `${column} GLOB '[1-9]*' AND ${column} NOT GLOB '*[^0-9]*'`
/** Positive chain units as text: 78 digits are enough for 2^256 − 1. */
export const positiveUnits: Condition = (column) => `${digits(column)} AND length(${column}) <= 78`
/** A negative sum of chain units as text: 90 characters are enough for 10^12 of the largest amounts. */
export const negativeUnits: Condition = (column) =>
  `${column} GLOB '-*' AND ${digits(`substr(${column}, 2)`)} AND length(${column}) <= 90`
/** A sum of chain units as text, with a sign. */
export const signedUnits: Condition = (column) =>
  `${column} = '0' OR (${digits(column)} AND length(${column}) <= 90) OR (${negativeUnits(column)})`

/** A CHECK of one column, named after its table and column. */
export function rule(column: SQLiteColumn, condition: Condition | string) {
  const text = typeof condition === 'string' ? condition : condition(column.name)
  return check(`${getTableName(column.table)}_${column.name}`, sql.raw(text))
}

/** The same CHECK of several columns. */
export function rules(condition: Condition, ...columns: readonly SQLiteColumn[]) {
  return columns.map((column) => rule(column, condition))
}

/** The CHECK that fails where another scan has moved the position or has the lease. */
export const scanSuperseded = 'scan_superseded'
/** The CHECK that fails where another tick has the lease of reconciliation. */
export const reconciliationSuperseded = 'reconciliation_superseded'

/** A currency. */
export const cuy = () => integer().$type<CurrencyId>().notNull()
/** A caller. */
export const uid = () => integer().$type<Uid>().notNull()
/** Milliseconds since 1970. */
export const instant = () => integer().$type<UnixMs>().notNull()
/** The height of a block. */
export const height = () => integer().$type<BlockHeight>().notNull()
/** A Tron address without the leading 41. */
export const address = () => text().$type<Address>().notNull()
/** A sum of chain units. */
export const sum = () => text().notNull().default('0')

/** A transfer's place on the chain, and its currency. */
export const place = () => ({
  txid: text().$type<Txid>().notNull(),
  position: integer().notNull(),
  height: height(),
  block_hash: text().$type<BlockHash>().notNull(),
  cuy: cuy(),
})

/** The rules for the columns of `place`. */
export function placeRules(table: Record<keyof ReturnType<typeof place>, SQLiteColumn>) {
  const { txid, position, height, block_hash, cuy } = table
  return [...rules(hex(64), txid, block_hash), ...rules(safe, position, height), rule(cuy, positiveSafe)]
}

/** A transfer to an address of a caller. */
export const transfer = () => ({ uid: uid(), from_address: address(), to_address: address(), raw: text().notNull() })

/** The rules for the columns of `transfer`. */
export function transferRules(table: Record<keyof ReturnType<typeof transfer>, SQLiteColumn>) {
  const { uid, from_address, to_address, raw } = table
  return [rule(uid, positiveSafe), ...rules(hex(40), from_address, to_address), rule(raw, positiveUnits)]
}
