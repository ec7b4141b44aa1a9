import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: only another overload of primaryKey is deprecated
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { amountMax } from '../common/amount.ts'
import {
  type BackendName,
  type DeciderName,
  type EntryId,
  type EntryType,
  entryTypes,
  type TransferId,
  type Uid,
  type WalletId,
} from '../common/ids.ts'
import { type HeldReason, heldReasons, type RefusedReason, refusedReasons } from '../common/reasons.ts'
import {
  address,
  between,
  blockHash,
  characters,
  cuy,
  deciderName,
  height,
  hex,
  instant,
  oneOf,
  orNull,
  positiveSafe,
  positiveUnits,
  rule,
  rules,
  safe,
  txid,
  uid,
} from './columns.ts'

// docs/database.md describes each table, and the rules that only SQL can express (STRICT and the triggers).
// The ledger and the chain are here; the state of the scan and of what watches is in state-tables.ts.

/** What a transfer can be. `moved` is never a deposit. */
export const transferStates = ['seen', 'dropped', 'held', 'refused', 'credited', 'moved'] as const
/** One of `transferStates`. */
export type TransferState = (typeof transferStates)[number]

/** What is decided about a transfer that was held for review. What was refused can still be credited. */
export const decisionKinds = ['credit', 'refuse'] as const
/** One of `decisionKinds`. */
export type DecisionKind = (typeof decisionKinds)[number]

/** Ranges that are read again: what the scan could not read, what an operator asked for, and what a payout's transaction needs. */
export const rescanKinds = ['gap', 'request', 'payout'] as const
/** One of `rescanKinds`. */
export type RescanKind = (typeof rescanKinds)[number]

/** The sums that are kept of each currency: entries by type, transfers by what became of them, and what was read of addresses. */
export const totalKinds = [
  ...Object.values(entryTypes).map((type) => `entry ${type}` as const),
  ...(['credited', 'held', 'refused', 'gas', 'collected', 'fees', 'read', 'difference'] as const),
] as const
/** One of `totalKinds`. */
export type TotalKind = (typeof totalKinds)[number]

/** The CHECK that fails where another scan has moved the position. */
export const scanSuperseded = 'scan_superseded'

/** The CHECK of a reason: one that fits what is held or refused, and none otherwise. */
export function reasonRule(isHeld: string, isRefused: string): string {
  const isOneOf = (reasons: readonly string[]) => `reason IS NOT NULL AND ${oneOf(...reasons)('reason')}`
  return `iif(${isHeld}, ${isOneOf(heldReasons)}, iif(${isRefused}, ${isOneOf(refusedReasons)}, reason IS NULL))`
}

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
    index('wallet_cuy').on(table.cuy),
    ...rules(positiveSafe, table.id, table.uid, table.cuy),
    ...rules(safe, table.balance, table.entry_count),
  ],
)

/** Ledger entries. `created_at` never decreases as `id` grows, so a time range is a range of ids. */
export const flows = sqliteTable(
  'flow',
  {
    id: integer().$type<EntryId>().primaryKey({ autoIncrement: true }),
    wallet_id: integer().$type<WalletId>().notNull(),
    uid: uid(),
    cuy: cuy(),
    type: integer().$type<EntryType>().notNull(),
    osn: text().notNull(),
    amount: integer().notNull(),
    balance: integer().notNull(),
    mark: text().notNull(),
    created_at: instant(),
    posted_by: text().$type<BackendName | ''>().notNull(),
    number: integer().notNull(), // among the entries of its wallet, from 1: so a count reads no entries
    type_number: integer().notNull(), // among those of its type in its wallet, from 1
  },
  (table) => [
    uniqueIndex('flow_osn').on(table.wallet_id, table.osn, table.type),
    index('flow_uid').on(table.uid),
    index('flow_wallet').on(table.wallet_id),
    index('flow_type').on(table.wallet_id, table.type),
    index('flow_time').on(table.created_at),
    index('flow_order').on(table.osn).where(sql.raw('type <> 1')), // of whatever user; a deposit is found by its transaction
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
    ...rules(positiveSafe, table.number, table.type_number),
  ],
)

/**
 * The only way in for entries other than recharges: a row with a list of them as JSON. Its trigger creates the entries and
 * removes the row, all in one statement, so that the table is empty before and after it.
 */
export const postings = sqliteTable(
  'posting',
  { id: integer().primaryKey(), entries: text().notNull(), posted_by: text().notNull(), created_at: instant() },
  (table) => [rule(table.id, 'id = 1')],
)

/** What was held for review has no other state until it is decided, and none against the decision. */
const reviewRule = `${oneOf('open', ...decisionKinds)('review')} AND (state IN ('seen', 'dropped', 'moved')
  OR (review = 'open' AND state = 'held' AND reason = 'review') OR (review = 'refuse' AND state = 'refused' AND reason = 'review')
  OR (review = 'credit' AND reason IS NOT 'review'))`

/** Transfers to callers, and money that moved otherwise. A step to `credited` creates the ledger entry. */
export const transfers = sqliteTable(
  'transfer',
  {
    id: integer().$type<TransferId>().primaryKey(),
    version: integer().notNull().default(1), // each change adds 1, so that a decision names what it was made about
    txid: txid(),
    position: integer().notNull(), // `Position`: below 0 for TRX that a contract sent
    osn: text() // of the entry that credits it
      .generatedAlwaysAs(
        sql.raw(`iif(native, txid || iif(position < 0, ':i' || (-1 - position), ''), txid || ':' || position)`),
        { mode: 'virtual' },
      )
      .notNull(),
    height: height(),
    block_hash: blockHash(),
    cuy: cuy(),
    uid: integer().$type<Uid>(), // null exactly where it is moved
    from_address: address(),
    to_address: address(),
    raw: text().notNull(), // chain units
    native: integer({ mode: 'boolean' }).notNull(),
    state: text().$type<TransferState>().notNull(),
    reason: text().$type<HeldReason | RefusedReason>(),
    amount: integer().notNull(), // ledger units
    review: text().$type<'open' | DecisionKind>(), // null: it was never held for review
    sought: integer({ mode: 'boolean' }).notNull().default(false), // credited above a corrected height, and not found again yet
    seconds: integer(), // until it is final, when it was first seen
    seen_by: integer(), // the node that has shown it before it was final, by its number
    created_at: instant(),
    changed_at: instant(),
  },
  (table) => [
    uniqueIndex('transfer_key').on(table.txid, table.position),
    index('transfer_uid').on(table.uid, table.id),
    index('transfer_uid_state').on(table.uid, table.state, table.cuy),
    index('transfer_to').on(table.to_address, table.uid),
    index('transfer_height').on(table.height),
    index('transfer_cuy').on(table.cuy, table.state),
    index('transfer_seen').on(table.height).where(sql.raw(`state = 'seen'`)),
    index('transfer_held').on(table.reason, table.cuy, table.id).where(sql.raw(`state = 'held'`)),
    index('transfer_held_from').on(table.from_address).where(sql.raw(`state = 'held'`)),
    index('transfer_sought').on(table.height).where(sql.raw('sought = 1')),
    index('transfer_dropped').on(table.changed_at).where(sql.raw(`state = 'dropped' AND review IS NULL`)),
    ...rules(hex(64), table.txid, table.block_hash),
    ...rules(hex(40), table.from_address, table.to_address),
    ...rules(safe, table.height, table.created_at, table.changed_at),
    rule(table.position, between(-amountMax, amountMax)),
    rule(table.cuy, positiveSafe),
    rule(table.uid, `(uid IS NULL) = (state = 'moved') AND (${orNull(positiveSafe)('uid')})`),
    rule(table.raw, positiveUnits),
    rule(table.native, '(native = 0 AND position >= 0) OR (native = 1 AND position <= 0)'),
    rule(table.state, oneOf(...transferStates)),
    rule(table.reason, reasonRule(`state = 'held'`, `state = 'refused'`)),
    rule(table.amount, `${safe('amount')} AND (amount > 0) = (state = 'credited')`),
    rule(table.review, `iif(review IS NULL, reason IS NOT 'review', ${reviewRule})`),
    rule(table.sought, `sought = 0 OR (sought = 1 AND state = 'credited')`),
    rule(table.seconds, orNull(safe)),
    rule(table.seen_by, orNull(positiveSafe)),
  ],
)

/**
 * The only way by which a credited transfer creates its ledger entry. The table's own trigger creates it and ignores the row, so that the
 * table is always empty.
 */
export const credits = sqliteTable('credit', {
  uid: uid(),
  cuy: cuy(),
  osn: text().notNull(),
  amount: integer().notNull(),
  created_at: instant(),
})

/** Decisions about transfers that were held for review, each with its reason and who has made it. */
export const decisions = sqliteTable(
  'decision',
  {
    txid: txid(),
    position: integer().notNull(),
    decision: text().$type<DecisionKind>().notNull(),
    why: text().notNull(),
    decided_by: text().$type<DeciderName>().notNull(),
    created_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.txid, table.position, table.decision] }),
    rule(table.decision, oneOf(...decisionKinds)),
    rule(table.why, characters(1, 200)),
    rule(table.decided_by, deciderName),
  ],
)

/** Transactions that an address of the service has sent: each costs a fee in the native currency. */
export const sentTransactions = sqliteTable(
  'sent',
  { txid: txid(), address: address(), height: height(), cuy: cuy() },
  (table) => [
    primaryKey({ columns: [table.txid, table.address] }),
    index('sent_height').on(table.height),
    rule(table.txid, hex(64)),
    rule(table.address, hex(40)),
    rule(table.height, safe),
    rule(table.cuy, positiveSafe),
  ],
)

/** What the stored data means: what must not change under it. */
export const storedSettings = sqliteTable(
  'stored_setting',
  { name: text().primaryKey(), value: text().notNull(), stored_at: instant() },
  (table) => [rule(table.name, characters(1, 100)), rule(table.value, characters(1, 200))],
)
