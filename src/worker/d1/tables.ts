import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: only another overload of primaryKey is deprecated
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { BlockHeight } from '../chain/block.ts'
import { amountMax } from '../common/amount.ts'
import type { BackendName, DeciderName, EntryId, EntryType, TransferId, Uid, WalletId } from '../common/ids.ts'
import { type HeldReason, heldReasons, type RefusedReason, refusedReasons } from '../common/reasons.ts'
import {
  address,
  addressBytes,
  between,
  bytes,
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
  txidBytes,
  uid,
} from './columns.ts'

// docs/database.md describes each table, and the rules that only SQL can express (STRICT and the triggers).
// The ledger and the chain are here; the state of the scan and of what watches is in state-tables.ts.

/** The states of a transfer. `moved` is never a deposit. */
export const transferStates = ['seen', 'dropped', 'held', 'refused', 'credited', 'moved'] as const
/** One of `transferStates`. */
export type TransferState = (typeof transferStates)[number]

/** Decisions about a transfer that was held for review. A refused transfer can still be credited. */
export const decisionKinds = ['credit', 'refuse'] as const
/** One of `decisionKinds`. */
export type DecisionKind = (typeof decisionKinds)[number]

/** Kinds of rescans: blocks that the scan could not read, that an operator asked for, or that a payout's transaction needs. */
export const rescanKinds = ['gap', 'request', 'payout'] as const
/** One of `rescanKinds`. */
export type RescanKind = (typeof rescanKinds)[number]

/** The kinds of sums that are kept for each currency: transfers by state, and readings of addresses. */
export const totalKinds = ['credited', 'held', 'refused', 'gas', 'collected', 'fees', 'read', 'difference'] as const
/** One of `totalKinds`. */
export type TotalKind = (typeof totalKinds)[number]

/** The CHECK that fails if another scan has moved the position. */
export const scanSuperseded = 'scan_superseded'

/** The CHECK of a reason: present and fitting in a held or refused row, absent in any other. */
export function reasonRule(isHeld: string, isRefused: string): string {
  const isOneOf = (reasons: readonly string[]) => `reason IS NOT NULL AND ${oneOf(...reasons)('reason')}`
  return `iif(${isHeld}, ${isOneOf(heldReasons)}, iif(${isRefused}, ${isOneOf(refusedReasons)}, reason IS NULL))`
}

// The largest tables store addresses and transactions as bytes, and nothing twice. Such a table is named `stored_…`. The view with the name after that prefix
// (0001_invariants.sql) shows it as people read it.

/** Every address that was ever issued. `id` is the last step of its derivation path plus 1. */
export const addresses = sqliteTable(
  'stored_address',
  {
    id: integer().primaryKey(),
    uid: uid(),
    address: addressBytes(),
    issued_height: height(), // transfers that were final before the address was shown do not belong to its user
    created_at: instant(),
  },
  (table) => [
    uniqueIndex('address_address').on(table.address),
    index('address_uid').on(table.uid),
    rule(table.id, between(1, 2 ** 31)), // a non-hardened derivation step has 31 bits
    rule(table.uid, positiveSafe),
    rule(table.address, bytes(20)),
    rule(table.issued_height, safe),
  ],
)

/** A user's balance in one currency. Triggers keep it. `newest_entry` is the id of its newest entry, 0 before the first. */
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

/**
 * Ledger entries. Each is an event, too, and both share one numbering. `created_at` never decreases as `id` grows, so a time range is a range of ids. A deposit
 * refers to its transfer in place of an `osn` and a `mark`.
 */
export const flows = sqliteTable(
  'stored_flow',
  {
    id: integer().$type<EntryId>().primaryKey(),
    wallet_id: integer().$type<WalletId>().notNull(),
    type: integer().$type<EntryType>().notNull(),
    osn: text(),
    transfer_id: integer().$type<TransferId>(),
    amount: integer().notNull(),
    balance: integer().notNull(),
    mark: text().notNull(),
    created_at: instant(),
    posted_by: text().$type<BackendName | ''>().notNull(),
    number: integer().notNull(), // its number among the entries of its wallet, from 1, so that counting reads no entries
    type_number: integer().notNull(), // its number among those of its type in its wallet, from 1
  },
  (table) => [
    uniqueIndex('flow_key').on(table.osn, table.wallet_id, table.type).where(sql.raw('osn IS NOT NULL')),
    uniqueIndex('flow_deposit').on(table.wallet_id, table.transfer_id).where(sql.raw('transfer_id IS NOT NULL')),
    index('flow_wallet').on(table.wallet_id),
    index('flow_type').on(table.wallet_id, table.type),
    rule(table.id, positiveSafe),
    rule(
      table.type,
      `(type IN (1, 5) AND amount > 0) OR (type IN (2, 4) AND amount < 0) OR (type IN (3, 9) AND amount <> 0)`,
    ),
    rule(
      table.osn,
      `(osn IS NULL) = (type = 1) AND (osn IS NULL OR (length(osn) BETWEEN 1 AND 200 AND osn NOT GLOB '*[^ -~]*'))`,
    ),
    rule(table.transfer_id, `(transfer_id IS NOT NULL) = (type = 1)`),
    rule(table.mark, `type <> 1 OR mark = ''`),
    rule(
      table.posted_by, // empty for entries that only the chain creates
      `(posted_by = '') = (type = 1) AND length(posted_by) <= 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'`,
    ),
    rule(table.amount, between(-amountMax, amountMax)),
    ...rules(safe, table.balance, table.created_at),
    ...rules(positiveSafe, table.number, table.type_number),
  ],
)

/**
 * Entries other than recharges are created only through this table: a row with a list of them as JSON. The table's trigger creates the entries and ignores the
 * row, so the table is always empty.
 */
export const postings = sqliteTable('posting', {
  entries: text().notNull(),
  posted_by: text().notNull(),
  created_at: instant(),
})

/** The condition of an index: a transfer to a user that is not credited. A statement must repeat these words to use the index. */
export const isOpenTransfer = `state IN ('seen', 'dropped', 'held', 'refused')`
/** The condition of an index: a transfer that a correction takes back. */
export const isDecidedTransfer = `state IN ('held', 'refused', 'moved')`

/** A transfer that is held for review keeps its state until it is decided, and cannot contradict the decision. */
const reviewRule = `${oneOf('open', ...decisionKinds)('review')} AND (state IN ('seen', 'dropped', 'moved')
  OR (review = 'open' AND state = 'held' AND reason = 'review') OR (review = 'refuse' AND state = 'refused' AND reason = 'review')
  OR (review = 'credit' AND reason IS NOT 'review'))`

/** Transfers to users, and other movements of money. A change to `credited` creates the ledger entry. */
export const transfers = sqliteTable(
  'stored_transfer',
  {
    id: integer().$type<TransferId>().primaryKey(),
    version: integer().notNull().default(1), // grows by 1 with each change, so that a decision names the version on which it rests
    txid: txidBytes(),
    position: integer().notNull(), // `Position`: below 0 for TRX that a contract sent
    osn: text() // of the entry that credits it
      .generatedAlwaysAs(
        sql.raw(`lower(hex(txid)) || iif(native, iif(position < 0, ':i' || (-1 - position), ''), ':' || position)`),
        { mode: 'virtual' },
      )
      .notNull(),
    height: height(),
    cuy: cuy(),
    uid: integer().$type<Uid>(), // null exactly if the state is `moved`
    from_address: addressBytes(),
    to_address: addressBytes(),
    raw: text().notNull(), // chain units
    native: integer({ mode: 'boolean' }).notNull(),
    state: text().$type<TransferState>().notNull(),
    reason: text().$type<HeldReason | RefusedReason>(),
    amount: integer().notNull(), // ledger units
    review: text().$type<'open' | DecisionKind>(), // null: it was never held for review
    sought: integer({ mode: 'boolean' }).notNull().default(false), // credited above a corrected height, and not found again yet
    seconds: integer(), // until it is final, when it was first seen
    seen_by: integer(), // the number of the node that showed it before it was final
    created_at: instant(),
    changed_at: instant(),
  },
  (table) => [
    uniqueIndex('transfer_key').on(table.txid, table.position),
    index('transfer_to').on(table.to_address).where(sql.raw('uid IS NOT NULL')),
    index('transfer_uid_state').on(table.uid, table.state, table.cuy).where(sql.raw(isOpenTransfer)),
    index('transfer_credited').on(table.cuy).where(sql.raw(`state = 'credited'`)),
    index('transfer_uncredited').on(table.cuy, table.state).where(sql.raw(isOpenTransfer)),
    index('transfer_seen').on(table.height).where(sql.raw(`state = 'seen'`)),
    index('transfer_decided').on(table.height).where(sql.raw(isDecidedTransfer)),
    index('transfer_held').on(table.reason, table.cuy, table.id).where(sql.raw(`state = 'held'`)),
    index('transfer_held_from').on(table.from_address).where(sql.raw(`state = 'held'`)),
    index('transfer_sought').on(table.height).where(sql.raw('sought = 1')),
    index('transfer_dropped').on(table.changed_at).where(sql.raw(`state = 'dropped' AND review IS NULL`)),
    rule(table.txid, bytes(32)),
    ...rules(bytes(20), table.from_address, table.to_address),
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
 * The newest entry at the time when this height was the newest final one. Every entry up to it credits a transfer of at most this height, or none. So a
 * correction finds the credits above a height without an index of heights. A trigger adds a mark every 1,000 blocks.
 */
export const marks = sqliteTable(
  'credit_mark',
  { height: integer().$type<BlockHeight>().primaryKey(), entry_id: integer().notNull() },
  (table) => [rule(table.height, safe), rule(table.entry_id, safe)],
)

/**
 * A credited transfer creates its ledger entry only through this table. The table's trigger creates the entry and ignores the row, so the table is always
 * empty.
 */
export const credits = sqliteTable('credit', {
  uid: uid(),
  cuy: cuy(),
  transfer_id: integer().notNull(),
  amount: integer().notNull(),
  created_at: instant(),
})

/** Decisions about transfers that were held for review, each with its reason and its author. */
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

/** Transactions that addresses of the service have sent. Each may cost a fee in the native currency. */
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

/** Settings that give stored data its meaning, so they must not change. */
export const storedSettings = sqliteTable(
  'stored_setting',
  { name: text().primaryKey(), value: text().notNull(), stored_at: instant() },
  (table) => [rule(table.name, characters(1, 100)), rule(table.value, characters(1, 200))],
)
