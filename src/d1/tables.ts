import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: only another overload of primaryKey is deprecated
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { BackendName, EntryId, EntryType, WalletId } from '../common/ids.ts'
import type { DepositOutcome, Movement, PendingReason, RefusalReason } from '../deposits/deposit.ts'
import { amountMax } from '../common/amount.ts'
import {
  address,
  between,
  cuy,
  height,
  hex,
  instant,
  oneOfTexts,
  orZero,
  pendingReason,
  place,
  placeRules,
  positiveSafe,
  positiveUnits,
  refusalReason,
  rule,
  rules,
  safe,
  transfer,
  transferRules,
  uid,
} from './columns.ts'

// migrations/README.md describes each table, and the rules that only SQL can express (STRICT and the triggers).

/** Every address that was ever issued. */
export const addresses = sqliteTable(
  'address',
  {
    id: integer().primaryKey(),
    derivation_index: integer().notNull(),
    uid: uid(),
    address: address(),
    issued_height: height(), // what was final before the address was shown is not its owner's
    created_at: instant(),
  },
  (table) => [
    uniqueIndex('address_derivation_index').on(table.derivation_index),
    uniqueIndex('address_address').on(table.address),
    index('address_uid').on(table.uid, table.derivation_index),
    rule(table.id, 'id = derivation_index + 1'), // indices have no gaps, so ids have none
    rule(table.derivation_index, between(0, 2 ** 31 - 1)), // a non-hardened derivation step has 31 bits
    rule(table.uid, positiveSafe),
    rule(table.address, hex(40)),
    rule(table.issued_height, safe),
  ],
)

/** A caller's balance in one currency. Triggers keep it. `newest_entry` is the id of its newest entry, 0 before any. */
export const wallets = sqliteTable(
  'wallet',
  {
    id: integer().$type<WalletId>().primaryKey(),
    uid: uid(),
    cuy: cuy(),
    balance: integer().notNull().default(0),
    entry_count: integer().notNull().default(0),
    newest_entry: integer().$type<EntryId | 0>().notNull().default(0),
  },
  (table) => [
    uniqueIndex('wallet_owner').on(table.uid, table.cuy),
    ...rules(positiveSafe, table.id, table.uid, table.cuy),
    ...rules(safe, table.balance, table.entry_count),
  ],
)

/** Ledger entries. `created_at` never decreases as `id` grows, so a time range is a range of ids. */
export const flows = sqliteTable(
  'flow',
  {
    id: integer().$type<EntryId>().primaryKey({ autoIncrement: true }),
    wallet_id: integer()
      .$type<WalletId>()
      .notNull()
      .references(() => wallets.id),
    uid: uid(),
    cuy: cuy(),
    type: integer().$type<EntryType>().notNull(),
    osn: text().notNull(),
    amount: integer().notNull(),
    balance: integer().notNull(),
    mark: text().notNull(),
    created_at: instant(),
    posted_by: text().$type<BackendName | ''>().notNull(),
  },
  (table) => [
    uniqueIndex('flow_osn').on(table.wallet_id, table.osn, table.type),
    index('flow_uid').on(table.uid),
    index('flow_wallet').on(table.wallet_id),
    index('flow_type').on(table.wallet_id, table.type),
    index('flow_time').on(table.created_at),
    rule(table.id, positiveSafe),
    rule(
      table.type,
      `(type IN (1, 5) AND amount > 0) OR (type IN (2, 4) AND amount < 0) OR (type IN (3, 9) AND amount <> 0)`,
    ),
    rule(table.osn, `length(osn) BETWEEN 1 AND 200 AND osn NOT GLOB '*[^ -~]*'`),
    rule(
      table.posted_by, // empty for what only the chain creates
      `(posted_by = '') = (type = 1) AND length(posted_by) <= 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'`,
    ),
    rule(table.amount, between(-amountMax, amountMax)),
    ...rules(safe, table.balance, table.created_at),
  ],
)

/** Proven deposits, credited or not. The insertion of a credited one creates its ledger entry. */
export const deposits = sqliteTable(
  'deposit',
  {
    ...place(),
    ...transfer(),
    native: integer({ mode: 'boolean' }).notNull(),
    outcome: text().$type<DepositOutcome>().notNull(),
    amount: integer().notNull(),
    created_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.txid, table.position] }),
    index('deposit_uid').on(table.uid, table.created_at),
    index('deposit_to').on(table.to_address),
    ...placeRules(table),
    ...transferRules(table),
    rule(table.native, 'native = 0 OR (native = 1 AND position = 0)'),
    rule(
      table.outcome,
      oneOfTexts<DepositOutcome>({ credited: true, 'below-minimum': true, dust: true, 'too-large': true }),
    ),
    rule(table.amount, `${safe('amount')} AND (amount > 0) = (outcome = 'credited')`),
    rule(table.created_at, safe),
  ],
)

/** The queue of candidates that are not decided. */
export const pendingDeposits = sqliteTable(
  'pending',
  {
    id: integer().primaryKey(), // in the order of the chain, as they were found
    ...place(),
    ...transfer(),
    reason: text().$type<PendingReason>().notNull(),
    reason_at: instant(), // since when it has this reason
    since: instant(),
    next_try: instant(),
  },
  (table) => [
    uniqueIndex('pending_key').on(table.txid, table.position),
    index('pending_uid').on(table.uid),
    index('pending_due').on(table.next_try).where(sql.raw(`reason <> 'retired'`)),
    index('pending_retired').on(table.cuy).where(sql.raw(`reason = 'retired'`)),
    ...placeRules(table),
    ...transferRules(table),
    rule(table.reason, pendingReason),
  ],
)

/** Candidates that are worth nothing. They are kept, so that they are not verified again. */
export const refusals = sqliteTable(
  'refusal',
  {
    ...place(),
    ...transfer(),
    reason: text().$type<RefusalReason['kind']>().notNull(),
    contract_type: integer(),
    created_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.txid, table.position] }),
    index('refusal_height').on(table.height),
    ...placeRules(table),
    ...transferRules(table),
    rule(table.reason, refusalReason),
    rule(table.contract_type, `(contract_type IS NOT NULL) = (reason = 'other-contract')`),
    rule(table.created_at, safe),
  ],
)

/** Transfers in blocks that are not final. `seconds` was the estimated time to finality at `seen_at`. */
export const sightings = sqliteTable(
  'sighting',
  { ...place(), ...transfer(), decimals: integer().notNull(), seconds: integer().notNull(), seen_at: instant() },
  (table) => [
    primaryKey({ columns: [table.txid, table.position] }),
    index('sighting_uid').on(table.uid),
    ...placeRules(table),
    ...transferRules(table),
    rule(table.decimals, between(0, 255)),
    ...rules(safe, table.seconds, table.seen_at),
  ],
)

/** Money that left an address of the service, or moved between two of them. */
export const movements = sqliteTable(
  'movement',
  { ...place(), address: address(), direction: text().$type<Movement['direction']>().notNull(), raw: text().notNull() },
  (table) => [
    // One transaction can move TRX and a token at position 0, and a transfer between two addresses goes out and in.
    primaryKey({ columns: [table.address, table.txid, table.position, table.cuy, table.direction] }),
    ...placeRules(table),
    rule(table.address, hex(40)),
    rule(table.direction, oneOfTexts<Movement['direction']>({ in: true, out: true })),
    rule(table.raw, orZero(positiveUnits)),
  ],
)

/** The `decimals()` of token contracts. */
export const tokens = sqliteTable(
  'token',
  { contract: address().primaryKey(), decimals: integer().notNull(), created_at: instant() },
  (table) => [rule(table.contract, hex(40)), rule(table.decimals, between(0, 255))],
)
