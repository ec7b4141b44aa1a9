import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: another overload of primaryKey is deprecated
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import { amountMax } from '../common/amount.ts'
import type {
  BackendName,
  CurrencyId,
  DeciderName,
  EntryId,
  EntryType,
  TransferId,
  Uid,
  WalletId,
} from '../common/ids.ts'
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

// The tables of the ledger and of transfers. Those of the scan, holdings, events and alarms are in
// state-tables.ts. docs/database.md describes each table, and the rules that only SQL can express:
// STRICT and the triggers.

/** The states of a transfer (docs/concepts.md, Words). `moved` is money that is never a deposit. */
export const transferStates = ['seen', 'dropped', 'held', 'refused', 'credited', 'moved'] as const
export type TransferState = (typeof transferStates)[number]

/**
 * What a backend or a person decides about a transfer that is held for review. After `refuse`,
 * `credit` is still possible; after `credit` nothing is.
 */
export const decisionKinds = ['credit', 'refuse'] as const
export type DecisionKind = (typeof decisionKinds)[number]

/**
 * Why blocks are read again: the scan could not read them (`gap`), an operator asked for it
 * (`request`), or a payout's transaction may be in them (`payout`).
 */
export const rescanKinds = ['gap', 'request', 'payout'] as const
export type RescanKind = (typeof rescanKinds)[number]

/** The kinds of sums that are kept for each currency; `totals` explains them. */
export const totalKinds = ['credited', 'held', 'refused', 'gas', 'collected', 'fees', 'read', 'difference'] as const
export type TotalKind = (typeof totalKinds)[number]

/**
 * The name of the CHECK that refuses a step of the scan if another scan has moved the position
 * meanwhile.
 */
export const scanSuperseded = 'scan_superseded'

/**
 * Makes the CHECK of a column `reason`: one of `heldReasons` where `isHeld` is true, of
 * `refusedReasons` where `isRefused` is, else NULL.
 */
export function reasonRule(isHeld: string, isRefused: string): string {
  const isOneOf = (reasons: readonly string[]) => `reason IS NOT NULL AND ${oneOf(...reasons)('reason')}`
  return `iif(${isHeld}, ${isOneOf(heldReasons)}, iif(${isRefused}, ${isOneOf(refusedReasons)}, reason IS NULL))`
}

// The largest tables store addresses and txids as bytes, and nothing twice. Their names begin with
// `stored_`. For each, 0001_invariants.sql has a view for people, whose name lacks this prefix.

/**
 * Every address that was ever issued or reserved. `id` is the last step of its derivation path plus
 * 1.
 */
export const addresses = sqliteTable(
  'stored_address',
  {
    id: integer().primaryKey(),
    uid: uid(),
    address: addressBytes(),
    issued_height: height(), // finalized height when it was issued: transfers at or below it do not belong to its user
    created_at: instant(),
    // JSON list: the ids of the user's older addresses that had no deposit when it was issued; null
    // if there were none
    unpaid: text(),
    // only orders have it: its user is shown it by no other way
    for_orders: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (table) => [
    uniqueIndex('address_address').on(table.address),
    index('address_uid').on(table.uid).where(sql.raw('for_orders = 0')),
    index('address_order').on(table.uid).where(sql.raw('for_orders = 1')),
    rule(table.id, between(1, 2 ** 31)), // an id is an index plus 1, and an index has 31 bits
    rule(table.uid, positiveSafe),
    rule(table.address, bytes(20)),
    rule(table.issued_height, safe),
    rule(
      table.unpaid,
      `unpaid IS NULL OR (json_type(unpaid) = 'array' AND json_array_length(unpaid) > 0 AND for_orders = 0)`,
    ),
    rule(table.for_orders, 'for_orders IN (0, 1)'),
  ],
)

/**
 * A user's balance in one currency. Only triggers write it. `newest_entry` is the id of the
 * wallet's newest entry; 0 before the first.
 */
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
 * Ledger entries. Each entry is also an event: events and entries share one sequence of ids.
 * `created_at` never decreases as `id` grows, so a range of times is a range of ids. A recharge
 * (type 1) has a `transfer_id` in place of an `osn`.
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
    mark: text().notNull(), // of a recharge: the id of the order to which it belongs, else empty
    created_at: instant(),
    posted_by: text().$type<BackendName | ''>().notNull(),
    number: integer().notNull(), // place among all entries of the wallet, from 1; so the newest entry has their count
    // place among the wallet's entries of this type, from 1; so the newest entry has their count
    type_number: integer().notNull(),
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
    rule(table.mark, `type <> 1 OR mark NOT GLOB '*[^0-9]*'`),
    rule(
      table.posted_by, // empty for recharges, which no backend posts
      `(posted_by = '') = (type = 1) AND length(posted_by) <= 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'`,
    ),
    rule(table.amount, between(-amountMax, amountMax)),
    ...rules(safe, table.balance, table.created_at),
    ...rules(positiveSafe, table.number, table.type_number),
  ],
)

/**
 * The only way to create entries other than recharges, like a procedure call: the trigger of this
 * table creates them from the list `entries` (JSON) and stores no row, so the table is always
 * empty.
 */
export const postings = sqliteTable('posting', {
  entries: text().notNull(),
  posted_by: text().notNull(),
  created_at: instant(),
})

/**
 * SQL for transfers to a user that are not credited: the WHERE of two indices. A statement uses
 * these indices only if its WHERE contains the same text.
 */
export const isOpenTransfer = `state IN ('seen', 'dropped', 'held', 'refused')`
/**
 * SQL for transfers that a correction of the finalized height takes back: the WHERE of an index,
 * which a statement uses only if it contains the same text.
 */
export const isDecidedTransfer = `state IN ('held', 'refused', 'moved')`

/**
 * SQL for a CHECK that `review` fits the state: an undecided transfer (`open`) is held for review,
 * a refused one is refused, and one that is to be credited does not wait for review. A transfer
 * that is seen, dropped or moved may have any `review`.
 */
const reviewRule = `${oneOf('open', ...decisionKinds)('review')} AND (state IN ('seen', 'dropped', 'moved')
  OR (review = 'open' AND state = 'held' AND reason = 'review') OR (review = 'refuse' AND state = 'refused' AND reason = 'review')
  OR (review = 'credit' AND reason IS NOT 'review'))`

/**
 * Transfers to users, and other transfers to or from addresses of the service. A row that becomes
 * `credited` creates the ledger entry, by a trigger.
 */
export const transfers = sqliteTable(
  'stored_transfer',
  {
    id: integer().$type<TransferId>().primaryKey(),
    version: integer().notNull().default(1), // grows by 1 with each change: a write names the version that it has read
    txid: txidBytes(),
    position: integer().notNull(), // 0 for TRX; the index of the log for a token; below 0 for TRX that a contract sent
    osn: text() // the `osn` of the entry that would credit the transfer
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
    amount: integer().notNull(), // what was credited, in ledger units; 0 in any other state
    // `open`: the transfer waits for a decision; null: it was never held for review
    review: text().$type<'open' | DecisionKind>(),
    // credited, in a block that is read again, and not found there yet
    sought: integer({ mode: 'boolean' }).notNull().default(false),
    seconds: integer(), // estimated seconds until the transfer would be final, when it was first seen
    seen_by: integer(), // number of the node that showed the transfer before it was final
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
 * `entry_id` was the newest entry when `height` was the newest final height. So entries up to this
 * one credit only transfers at or below that height, and a correction of the finalized height need
 * not look for credits among them. A trigger adds a row every 1,000 blocks.
 */
export const marks = sqliteTable(
  'credit_mark',
  { height: integer().$type<BlockHeight>().primaryKey(), entry_id: integer().notNull() },
  (table) => [rule(table.height, safe), rule(table.entry_id, safe)],
)

/**
 * The only way to create recharges (entries of type 1), like a procedure call: the triggers of
 * transfers insert here, and this table's trigger creates the entry and stores no row. So the table
 * is always empty.
 */
export const credits = sqliteTable('credit', {
  uid: uid(),
  cuy: cuy(),
  transfer_id: integer().notNull(),
  amount: integer().notNull(),
  created_at: instant(),
  order_id: integer(), // the order to which the transfer belongs
})

/**
 * Decisions about transfers that were held for review, with the reason (`why`). At most one of each
 * kind for a transfer.
 */
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

/**
 * Transactions that addresses of the service have sent. Each may have cost its `address` a fee in
 * TRX, whose currency is `cuy`.
 */
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

/**
 * The chain and the key, which give stored data its meaning. A deployment whose configuration
 * differs from them serves nothing.
 */
export const storedSettings = sqliteTable(
  'stored_setting',
  { name: text().primaryKey(), value: text().notNull(), stored_at: instant() },
  (table) => [rule(table.name, characters(1, 100)), rule(table.value, characters(1, 200))],
)

/**
 * The currencies that were ever configured: what the numbers of stored amounts mean. `contract` is
 * NULL for TRX. A configuration that differs serves nothing.
 */
export const storedCurrencies = sqliteTable(
  'stored_currency',
  {
    cuy: integer().$type<CurrencyId>().primaryKey(),
    contract: text().$type<Address>(),
    decimals: integer().notNull(),
    scale: integer().notNull(),
    stored_at: instant(),
  },
  (table) => [
    rule(table.cuy, positiveSafe),
    rule(table.contract, orNull(hex(40))),
    rule(table.decimals, between(0, 255)),
    rule(table.scale, between(0, 'decimals')),
  ],
)

/** The decimals of contracts on which nodes have agreed. Nodes are not asked again. */
export const agreedDecimals = sqliteTable(
  'agreed_decimals',
  { contract: text().$type<Address>().primaryKey(), decimals: integer().notNull(), stored_at: instant() },
  (table) => [rule(table.contract, hex(40)), rule(table.decimals, between(0, 255))],
)

/**
 * `operator`: a wallet of an operator. `payer`: a payout address. `other-payer`: a payout address
 * of another cell. `cell`: the first address of the key of a cell.
 */
const keptKinds = ['operator', 'payer', 'other-payer', 'cell'] as const

/**
 * Addresses that the configuration has ever had. `height`: the position of the scan above which an
 * operator or a payer counts; NULL for what is another cell's.
 */
export const keptAddresses = sqliteTable(
  'kept_address',
  {
    kind: text().$type<(typeof keptKinds)[number]>().notNull(),
    address: address(),
    height: integer().$type<BlockHeight>(),
    stored_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.address] }),
    rule(table.kind, oneOf(...keptKinds)),
    rule(table.address, hex(40)),
    rule(table.height, `(kind IN ('cell', 'other-payer')) = (height IS NULL) AND (${orNull(safe)('height')})`),
  ],
)

/**
 * The users of this database, `first` to `last`, where there are several databases (`CELLS`).
 * Without a row they are all users.
 */
export const userRanges = sqliteTable(
  'user_range',
  { id: integer().primaryKey(), first: uid(), last: uid(), stored_at: instant() },
  (table) => [rule(table.id, 'id = 1'), rule(table.first, positiveSafe), rule(table.last, between('first', amountMax))],
)
