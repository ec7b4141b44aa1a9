import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: another overload of primaryKey is deprecated
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import { signedDigitsMax } from '../chain/transaction.ts'
import { amountMax } from '../common/amount.ts'
import type { BackendName, DeciderName, PayoutId, PayoutTransactionId, Uid } from '../common/ids.ts'
import { reservedUid } from '../common/ids.ts'
import { openStates, type PayoutState, payoutStates } from '../common/payout-states.ts'
import type { UnixMs } from '../common/time.ts'
import {
  address,
  between,
  characters,
  cuy,
  deciderName,
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
  units,
} from './columns.ts'
import { reasonMax } from './state-tables.ts'

// The tables of payouts. docs/database.md describes each table, and the rules that only triggers
// can express.

/**
 * Why a payout is stuck: its transaction has failed, or moved something else, or too many of its
 * transactions have ended without paying it.
 */
export const stuckReasons = ['failed', 'other', 'expired'] as const
export type StuckReason = (typeof stuckReasons)[number]

/**
 * How a transaction of the payout address has ended. `unknown`: no payout names it. `late`: it
 * succeeded after its payout had moved on.
 */
export const transactionEnds = ['paid', ...stuckReasons, 'unknown', 'late'] as const
export type TransactionEnd = (typeof transactionEnds)[number]

/** Longest `proof` of a payout, in characters. */
export const proofCharsMax = 2_000
/** Longest reason for a cancellation, in characters. */
export const whyCharsMax = 200

const nullable = <Kind extends number>() => integer().$type<Kind>()
const isOpenState = oneOf(...openStates)('state')
const isStored = (...states: readonly PayoutState[]) => oneOf(...states)('state')

/**
 * Payouts that backends have asked for. `txid`, `expires_at` and `height` are those of the payout's
 * newest transaction.
 */
export const payouts = sqliteTable(
  'payout',
  {
    id: integer().$type<PayoutId>().primaryKey({ autoIncrement: true }),
    version: integer().notNull().default(1), // grows by 1 with each change: a write names the version that it has read
    uid: uid(),
    cuy: cuy(),
    osn: text().notNull(),
    amount: integer().notNull(), // ledger units
    fee: integer().notNull(),
    to_address: address(),
    contract: text().$type<Address | ''>().notNull(), // the currency's contract; empty for TRX
    raw: text().notNull(), // `amount` in chain units
    mark: text().notNull(),
    proof: text(),
    posted_by: text().$type<BackendName>().notNull(),
    // this and the next four: the currency's limits when the payout was asked for; null: a person
    // must approve
    limit_each: integer(),
    limit_least: integer(), // least amount that is approved by limits
    limit_day: integer(), // most of the currency in a day
    limit_count: integer(), // most payouts of the currency in a day
    limit_user: integer(), // most of the currency for this user in a day; null: no such limit
    created_at: instant(),
    state: text().$type<PayoutState>().notNull().default('waiting'),
    changed_at: instant(), // when the payout entered its state
    approved_by: text().$type<DeciderName | ''>(), // who approved the payout; empty: it was within the limits
    approved_at: nullable<UnixMs>(), // when the payout was approved for the first time
    // whether the payout counts towards the limits of the day of `approved_at`
    counted: integer({ mode: 'boolean' }).notNull().default(false),
    attempts: integer().notNull().default(0), // number of the payout's transactions that have ended without paying it
    attempts_max: integer().notNull(),
    txid: text().$type<Txid>(),
    expires_at: nullable<UnixMs>(),
    height: nullable<BlockHeight>(), // height of the block that contains the transaction
    reason: text().$type<StuckReason>(),
    // JSON list of the transfers out of the payout address, if the payout's transaction paid
    // something other than this payout
    moved: text(),
    received: text(), // chain units that the payee received, if the token took a fee
    cancelled_by: text().$type<DeciderName>(),
    why: text(), // why the payout was cancelled
  },
  (table) => [
    uniqueIndex('payout_key').on(table.uid, table.cuy, table.osn),
    index('payout_uid_state').on(table.uid, table.state, table.cuy),
    index('payout_osn').on(table.osn, table.state, table.cuy),
    index('payout_to').on(table.to_address, table.state, table.cuy),
    index('payout_uid_to').on(table.uid, table.to_address, table.state, table.cuy),
    index('payout_state').on(table.state, table.cuy),
    index('payout_age').on(table.state, table.cuy, table.changed_at).where(sql.raw(isOpenState)),
    index('payout_day').on(table.cuy, table.approved_at).where(sql.raw('counted = 1')),
    index('payout_user_day').on(table.uid, table.cuy, table.approved_at).where(sql.raw('counted = 1')),
    ...rules(positiveSafe, table.id, table.cuy),
    rule(table.uid, between(1, reservedUid - 1)),
    rule(table.osn, `length(osn) BETWEEN 1 AND 200 AND osn NOT GLOB '*[^ -~]*'`),
    rule(table.amount, positiveSafe),
    rule(table.fee, `${safe('fee')} AND amount + fee <= ${amountMax}`),
    rule(table.to_address, hex(40)),
    rule(table.contract, `contract = '' OR (${hex(40)('contract')})`),
    rule(table.raw, positiveUnits),
    rule(table.mark, characters(0, 200)),
    rule(table.proof, orNull(characters(1, proofCharsMax))),
    rule(table.posted_by, `length(posted_by) BETWEEN 1 AND 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'`),
    ...rules(orNull(safe), table.limit_each, table.limit_user),
    ...[table.limit_least, table.limit_day, table.limit_count].map((limit) =>
      rule(limit, `(${limit.name} IS NULL) = (limit_each IS NULL) AND (${orNull(safe)(limit.name)})`),
    ),
    ...rules(safe, table.created_at, table.changed_at, table.attempts, table.attempts_max),
    rule(table.counted, 'counted = 0 OR (counted = 1 AND approved_at IS NOT NULL)'),
    rule(table.received, `received IS NULL OR (state = 'paid' AND (${positiveUnits('received')}))`),
    rule(table.state, oneOf(...payoutStates)),
    rule(
      table.approved_by,
      `(approved_by IS NULL) = (approved_at IS NULL) AND (approved_by IS NULL OR lower(approved_by) <> lower(posted_by))
        AND (approved_by IS NULL OR approved_by = '' OR (${deciderName('approved_by')}))
        AND (approved_by IS NOT NULL OR ${isStored('waiting', 'cancelled')}) AND (approved_by IS NULL OR state <> 'waiting')`,
    ),
    rule(table.approved_at, orNull(safe)),
    rule(
      table.txid,
      `(txid IS NULL OR (${hex(64)('txid')})) AND (txid IS NOT NULL OR NOT ${isStored('signed', 'paid', 'stuck')})`,
    ),
    rule(table.expires_at, '(expires_at IS NULL) = (txid IS NULL)'),
    rule(table.height, `${orNull(safe)('height')} AND (height IS NOT NULL OR state <> 'paid')`),
    rule(table.reason, `(reason IS NOT NULL) = (state = 'stuck') AND (${orNull(oneOf(...stuckReasons))('reason')})`),
    rule(table.moved, `(moved IS NOT NULL) = (reason IS 'other') AND (moved IS NULL OR json_valid(moved))`),
    rule(table.why, `(why IS NOT NULL) = (state = 'cancelled') AND (${orNull(characters(1, whyCharsMax))('why')})`),
    rule(table.cancelled_by, `(cancelled_by IS NULL) = (why IS NULL) AND (${orNull(deciderName)('cancelled_by')})`),
  ],
)

const isOpen = 'ended IS NULL'
const isAwaited = `ended IS NULL OR (ended = 'expired' AND past_height IS NULL)`
const isUnresolved = `ended IN ('unknown', 'late') AND excused IS NULL`
const isEndOrNull = `ended IS NULL OR ${oneOf(...transactionEnds)('ended')}`

/**
 * Transactions that the payout address sends: signed ones that a signer has handed in for a payout,
 * and those in final blocks that belong to no payout. A transaction never gets another payout.
 */
export const payoutTransactions = sqliteTable(
  'payout_transaction',
  {
    id: integer().$type<PayoutTransactionId>().primaryKey({ autoIncrement: true }),
    // grows by 1 with each change but a broadcast: a write names the version that it has read
    version: integer().notNull().default(1),
    txid: txid(),
    address: address(),
    payout_id: nullable<PayoutId>(),
    bytes: text(), // the signed transaction as hex digits, for the broadcast
    reference: nullable<BlockHeight>(), // height of the newest block that can be the transaction's reference block
    expires_at: nullable<UnixMs>(),
    changed_at: instant(), // when the transaction was stored, reopened or ended
    // height of the first read block whose time is at or past `expires_at`; null for an `expired`
    // one if a correction has taken that block back
    past_height: nullable<BlockHeight>(),
    height: nullable<BlockHeight>(), // height of the block that contains the transaction
    succeeded: integer({ mode: 'boolean' }),
    moved: text(), // JSON: what the transaction took from the payout address
    ended: text().$type<TransactionEnd>(),
    result: text(), // the chain's word for why the transaction failed, such as OUT_OF_ENERGY
    // sun that a failed transaction burnt, and the energy that it used, once nodes have shown both:
    // only for people
    burnt: integer(),
    energy: integer(),
    reported: text().$type<TransactionEnd | 'signed'>(), // what the newest event about the transaction has reported
    excused: text(), // an operator's reason why an `unknown` or `late` transaction need not stop payouts
    // whether another transaction of the payout has turned out to be `late` since: it is never sent
    // again
    held_back: integer({ mode: 'boolean' }).notNull().default(false),
    // height of the block in which a node showed the transaction before the block was final: only
    // for people
    seen_height: nullable<BlockHeight>(),
    next_send: instant(), // when the transaction is broadcast next
    sends: integer().notNull().default(0), // broadcasts so far
    sent_at: nullable<UnixMs>(), // when the transaction was broadcast first
    answers: text(), // JSON: each node's last answer to a broadcast, only for people
  },
  (table) => [
    uniqueIndex('payout_transaction_txid').on(table.txid),
    index('payout_transaction_payout').on(table.payout_id),
    index('payout_transaction_open').on(table.next_send).where(sql.raw(isOpen)),
    index('payout_transaction_payer').on(table.address).where(sql.raw(isAwaited)),
    index('payout_transaction_unresolved').on(table.changed_at).where(sql.raw(isUnresolved)),
    rule(table.id, positiveSafe),
    rule(table.txid, hex(64)),
    rule(table.address, hex(40)),
    rule(table.payout_id, `(payout_id IS NULL) = (ended IS 'unknown') AND (${orNull(positiveSafe)('payout_id')})`),
    rule(
      table.bytes,
      `(bytes IS NULL) = (payout_id IS NULL) AND (bytes IS NULL OR
        (length(bytes) BETWEEN 2 AND ${signedDigitsMax} AND bytes NOT GLOB '*[^0-9a-f]*'))`,
    ),
    rule(table.reference, `(reference IS NULL) = (payout_id IS NULL) AND (${orNull(safe)('reference')})`),
    rule(table.expires_at, `(expires_at IS NULL) = (payout_id IS NULL) AND (${orNull(safe)('expires_at')})`),
    rule(table.past_height, `past_height IS NULL OR (past_height > reference AND ${safe('past_height')})`),
    rule(
      table.height,
      `${orNull(safe)('height')} AND (height IS NULL OR ended IS NOT NULL) AND (height IS NULL OR ended <> 'expired')`,
    ),
    rule(table.succeeded, '(succeeded IS NULL) = (moved IS NULL) AND (succeeded IS NULL OR succeeded IN (0, 1))'),
    rule(table.moved, 'moved IS NULL OR json_valid(moved)'),
    rule(
      table.ended,
      `(${isEndOrNull}) AND (succeeded IS NOT NULL) = (ended IS NOT NULL AND ended <> 'expired')
        AND (height IS NOT NULL OR ended IS NULL OR ended IN ('expired', 'unknown'))`,
    ),
    rule(
      table.result,
      `result IS NULL OR (succeeded IS 0 AND length(result) BETWEEN 1 AND 40 AND result NOT GLOB '*[^A-Z_]*')`,
    ),
    rule(
      table.burnt,
      `(burnt IS NULL) = (energy IS NULL) AND (burnt IS NULL OR succeeded IS 0) AND (${orNull(safe)('burnt')})`,
    ),
    rule(table.energy, orNull(safe)),
    rule(table.reported, orNull(oneOf('signed', ...transactionEnds))),
    rule(
      table.excused,
      `excused IS NULL OR (ended IS NOT NULL AND ended IN ('unknown', 'late') AND ${characters(1, reasonMax)('excused')})`,
    ),
    rule(table.held_back, 'held_back IN (0, 1)'),
    ...rules(orNull(safe), table.seen_height),
    ...rules(safe, table.changed_at, table.next_send, table.sends),
    rule(table.sent_at, orNull(safe)),
    rule(table.answers, 'answers IS NULL OR (json_valid(answers) AND length(answers) <= 4000)'),
  ],
)

/**
 * What transactions that no payout names took from the payout address, by what it was. Triggers
 * keep these rows, so that a payout finds the transaction that may already have paid it.
 */
export const unnamedOutflows = sqliteTable(
  'unnamed_outflow',
  {
    contract: text().$type<Address | ''>().notNull(), // empty for TRX
    to_address: address(),
    raw: text().notNull(), // chain units
    transaction_id: integer().$type<PayoutTransactionId>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.contract, table.to_address, table.raw, table.transaction_id] })],
)

/**
 * Payouts of a currency that were approved in one hour and count towards the limits of a day: of
 * all users together (`uid` 0) and of each user. Triggers keep these sums, so that a check of the
 * last 24 hours reads only the payouts of their first, partial hour. A payout that is approved
 * removes the hours of its user, and those of all, that are older than 48.
 */
export const payoutHours = sqliteTable(
  'payout_hour',
  {
    cuy: cuy(),
    uid: integer().$type<Uid | 0>().notNull(),
    hour: integer().notNull(), // hours since 1970
    amount: integer().notNull(), // sum of the payouts in ledger units
    count: integer().notNull(), // number of payouts
  },
  (table) => [primaryKey({ columns: [table.cuy, table.uid, table.hour] }), ...rules(safe, table.uid, table.hour)],
)

/**
 * The number of a currency's payouts in one open state, and their sum in ledger units. Triggers
 * keep both, so that a summary reads no payouts. Sums of payouts that have ended would grow for
 * ever, and one above 2^63 could not be stored.
 */
export const payoutSums = sqliteTable(
  'payout_sum',
  {
    state: text().$type<PayoutState>().notNull(),
    cuy: cuy(),
    count: integer().notNull(),
    amount: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.state, table.cuy] }), rule(table.state, oneOf(...openStates))],
)

/**
 * The only way to change the sums and to make the event when a payout changes its state. It works
 * like a procedure call: the triggers of payouts insert the payout and its state before the change,
 * and this table's trigger does the work and stores no row. So the table is always empty.
 */
export const payoutEffects = sqliteTable('payout_effect', {
  payout_id: integer().$type<PayoutId>().notNull(),
  state_before: text().$type<PayoutState>(), // null: the payout is new
  counted_before: integer({ mode: 'boolean' }).notNull(),
})

/**
 * The newest balances of the payout address as nodes have shown them (`Chain.holdings`). They are
 * for an alarm and for people: no payout depends on them.
 */
export const payoutHoldings = sqliteTable(
  'payout_holding',
  {
    contract: text().$type<Address | ''>().primaryKey(), // empty for TRX
    address: address(),
    balance: text().notNull(), // chain units
    energy: integer(), // of TRX that is too little for fees: the energy that the address has from stakes; else null
    read_at: instant(),
  },
  (table) => [
    rule(table.contract, `contract = '' OR (${hex(40)('contract')})`),
    rule(table.address, hex(40)),
    rule(table.balance, units),
    rule(table.energy, `energy IS NULL OR (contract = '' AND ${safe('energy')})`),
    rule(table.read_at, safe),
  ],
)
