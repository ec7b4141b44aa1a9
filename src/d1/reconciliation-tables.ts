import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: only another overload of primaryKey is deprecated
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { UnixMs } from '../common/time.ts'
import { amountMax } from '../common/amount.ts'
import {
  address,
  between,
  cuy,
  digits,
  height,
  instant,
  negativeUnits,
  orZero,
  positiveSafe,
  positiveUnits,
  reconciliationSuperseded,
  rule,
  safe,
  signedUnits,
  sum,
} from './columns.ts'
import { addresses } from './tables.ts'

// migrations/README.md describes each table, and the rules that only SQL can express (STRICT and the triggers).

/** The lease of reconciliation: one row after the first tick that compared. */
export const reconciliationLeases = sqliteTable(
  'reconciliation_lease',
  {
    id: integer().primaryKey(),
    lease: text(), // never null: reconciliation_superseded
    lease_until: instant(),
  },
  (table) => [rule(table.id, 'id = 1'), check(reconciliationSuperseded, sql.raw('lease IS NOT NULL'))],
)

/** Comparisons of all addresses with the chain: one row per currency and run. */
export const reconciliations = sqliteTable(
  'reconciliation',
  {
    id: integer().primaryKey(),
    cuy: cuy(),
    started_at: instant(),
    finished_at: integer().$type<UnixMs>(),
    cursor: integer().notNull().default(-1),
    last_index: integer().notNull(),
    addresses: integer().notNull().default(0),
    recorded: sum(),
    on_chain: sum(),
    differing: integer().notNull().default(0),
  },
  (table) => [
    index('reconciliation_cuy').on(table.cuy),
    rule(table.cuy, positiveSafe),
    rule(table.finished_at, 'finished_at IS NULL OR (finished_at >= started_at AND cursor = last_index)'),
    rule(table.cursor, between(-1, 'last_index')),
    rule(table.recorded, signedUnits),
    rule(table.on_chain, orZero(digits)),
    rule(table.differing, between(0, 'addresses')),
  ],
)

const issuedAddress = () => address().references(() => addresses.address)

/** The part of an address's difference that is explained by fees or confirmed. */
export const acceptedDifferences = sqliteTable(
  'accepted_difference',
  {
    address: issuedAddress(),
    cuy: cuy(),
    fees: sum(),
    outgoing_count: integer().notNull(),
    confirmed: sum(),
    reported: integer({ mode: 'boolean' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.cuy] }),
    index('accepted_difference_unreported').on(table.cuy).where(sql.raw('reported = 0')),
    rule(table.fees, orZero(negativeUnits)),
    rule(table.outgoing_count, safe),
    rule(table.confirmed, signedUnits),
  ],
)

/** Differences that are not confirmed yet, each with a reading that is not judged yet. */
export const openDifferences = sqliteTable(
  'open_difference',
  {
    address: issuedAddress(),
    cuy: cuy(),
    readings: integer().notNull(),
    amount: sum(),
    outgoing_count: integer().notNull(),
    balance: text().notNull(),
    from_height: height(),
    to_height: height(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.cuy] }),
    index('open_difference_due').on(table.cuy, table.to_height),
    rule(table.readings, `${between(0, 2)('readings')} AND (readings = 0) = (amount = '0')`),
    rule(table.amount, signedUnits),
    rule(table.outgoing_count, safe),
    rule(table.balance, orZero(positiveUnits)),
    rule(table.from_height, between(0, 'to_height')),
    rule(table.to_height, `to_height <= ${amountMax}`),
  ],
)

/** Addresses of which a deposit or movement was stored since they were last compared. Triggers fill it. */
export const movedAddresses = sqliteTable(
  'moved_address',
  {
    address: issuedAddress(),
    cuy: cuy(),
    oldest_height: height(),
    newest_height: height(),
    changes: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.cuy] }),
    index('moved_address_due').on(table.cuy, table.oldest_height),
    rule(table.cuy, positiveSafe),
    rule(table.oldest_height, between(0, 'newest_height')),
    rule(table.newest_height, `newest_height <= ${amountMax}`),
    rule(table.changes, positiveSafe),
  ],
)
