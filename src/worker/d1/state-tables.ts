import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: another overload of primaryKey is deprecated
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { BlockHash, BlockHeight } from '../chain/block.ts'
import type { ChainFailure } from '../chain/chain.ts'
import { amountMax } from '../common/amount.ts'
import { type EventType, eventTypes } from '../common/event-types.ts'
import type { CurrencyId, EndpointKey, EntryType, EventId, RescanId } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import type { AlarmKind } from '../platform/alarm-table.ts'
import {
  addressBytes,
  between,
  bytes,
  characters,
  cuy,
  height,
  hex,
  instant,
  oneOf,
  optionalAddressBytes,
  optionalTxidBytes,
  orNull,
  positiveSafe,
  positiveUnits,
  rule,
  rules,
  safe,
  signedUnits,
  uid,
  units,
} from './columns.ts'
import { type RescanKind, reasonRule, rescanKinds, scanSuperseded, type TotalKind, totalKinds } from './tables.ts'

/**
 * Longest reason, in characters, that an operator may give for reading blocks again, lowering the
 * finalized height, or giving up unreadable blocks.
 */
export const reasonMax = 500

/** Position and state of the scan: one row, from the start of the scan on. */
export const scans = sqliteTable(
  'scan',
  {
    id: integer().primaryKey(),
    // the position: height of the newest stored block. A scan that was overtaken sets NULL, which a
    // CHECK refuses
    height: integer().$type<BlockHeight>(),
    hash: text().$type<BlockHash>(), // hash of the block at `height`; null if it is not known
    finalized: height(), // height of the newest final block
    finalized_time: instant(), // time of the block at the finalized height; 0 if it is not known
    finalized_hash: text().$type<BlockHash>(), // hash of the block at the finalized height; null if it is not known
    finalized_at: instant(), // when the finalized height was stored
    advanced_at: instant(), // when the position last moved
    caught_up_at: instant(), // start of the newest scan that reached the finalized height
    tried_at: instant(), // start of the newest scan
    // since when each scan got a finalized head; null if the newest scan got none
    answering_since: integer().$type<UnixMs>(),
    problem: text().$type<ChainFailure['kind']>(), // why the newest scan did not reach the finalized height
    // why the chain counts as forked, so that nothing is credited until an operator acts; null: it
    // does not
    halted: text(),
    // id of the newest `correction` (an operator lowers `finalized`) that was applied
    corrected_by: integer().notNull().default(0),
    // the nodes at which gaps (unreadable blocks) were last tried: after a change of nodes they are
    // tried at once
    nodes: text().notNull().default(''),
    // since when payouts wait because this database is an older copy; null: it is not known to be
    // one
    restored_at: integer().$type<UnixMs>(),
  },
  (table) => [
    rule(table.id, 'id = 1'),
    check(scanSuperseded, sql.raw('height IS NOT NULL')),
    rule(table.height, between(-1, 'finalized')), // -1: no block is stored yet, and block 0 is the next one
    rule(table.finalized, `finalized <= ${amountMax}`),
    ...rules(orNull(hex(64)), table.hash, table.finalized_hash),
  ],
)

/**
 * Blocks below the scan's position that are read again, for one of `rescanKinds`. If some blocks of
 * a row cannot be read, they become a row of their own, so that the others do not wait for them.
 */
export const rescans = sqliteTable(
  'rescan',
  {
    id: integer().$type<RescanId>().primaryKey(),
    kind: text().$type<RescanKind>().notNull(),
    from_height: height(),
    to_height: height(),
    next_height: height(),
    reason: text(), // the operator's reason for a `request`
    why: text(), // why the block at `next_height` could not be read
    created_at: instant(),
    next_try: instant(),
    tried_at: integer().$type<UnixMs>(),
    attempts: integer().notNull().default(0), // attempts in a row that read nothing
    // for a single block whose receipts are read in parts: how many receipts were tried
    receipts: integer().notNull().default(0),
    unread: text(), // JSON: the txids whose receipts were tried and could not be read
    finished_at: integer().$type<UnixMs>(),
    closed: text(), // an operator's reason for closing the row although its blocks were not read
  },
  (table) => [
    index('rescan_open').on(table.to_height).where(sql.raw('finished_at IS NULL')),
    index('rescan_due').on(table.next_try).where(sql.raw('finished_at IS NULL')),
    index('rescan_unread').on(table.next_height).where(sql.raw(`finished_at IS NULL AND kind <> 'request'`)),
    rule(table.kind, oneOf(...rescanKinds)),
    rule(table.from_height, between(0, 'to_height')),
    rule(table.to_height, `to_height <= ${amountMax}`),
    rule(table.next_height, between('from_height', 'to_height + 1')),
    rule(table.reason, `(reason IS NOT NULL) = (kind = 'request') AND (${orNull(characters(1, reasonMax))('reason')})`),
    rule(table.why, orNull(characters(1, reasonMax))),
    rule(table.attempts, `${safe('attempts')} AND (attempts = 0 OR (why IS NOT NULL AND tried_at IS NOT NULL))`),
    rule(table.receipts, `${safe('receipts')} AND (receipts = 0 OR to_height <= next_height)`),
    rule(table.unread, `unread IS NULL OR (json_valid(unread) AND to_height <= next_height)`),
    rule(table.closed, orNull(characters(1, reasonMax))),
    rule(table.finished_at, '(finished_at IS NOT NULL) = (next_height = to_height + 1 OR closed IS NOT NULL)'),
  ],
)

/**
 * Corrections: an operator lowers a finalized height that was wrong. Inserting the row applies it,
 * by a trigger.
 */
export const corrections = sqliteTable(
  'correction',
  { id: integer().primaryKey(), finalized: height(), reason: text().notNull(), created_at: instant() },
  (table) => [rule(table.finalized, safe), rule(table.reason, characters(1, reasonMax))],
)

const part = () => integer().notNull().default(0)
/**
 * The columns of a sum that exceeds SQLite's integers: 7 signed parts of 12 digits, the most
 * significant first.
 */
const parts = () => ({
  part_0: part(),
  part_1: part(),
  part_2: part(),
  part_3: part(),
  part_4: part(),
  part_5: part(),
  part_6: part(),
})

/**
 * What one address should hold in one currency by the transfers that are recorded (triggers keep
 * this sum), what nodes showed, and the difference. Amounts are in chain units.
 */
export const holdings = sqliteTable(
  'stored_holding',
  {
    cuy: cuy(),
    address_id: integer().notNull(),
    ...parts(), // recorded receipts minus recorded outflows
    // number of transactions that the address has sent, each of which may have cost a fee
    sent: integer().notNull().default(0),
    changed_height: integer()
      .$type<BlockHeight>()
      .notNull()
      .default(0 as BlockHeight), // height of the newest recorded transfer
    balance: text(), // the newest balance that was read, in chain units
    read_from: integer().$type<BlockHeight>(), // `balance` includes all blocks up to this height
    read_to: integer().$type<BlockHeight>(), // `balance` includes no block above this height
    accepted: text().notNull().default('0'), // the part of the difference that fees explain: 0 or negative
    accepted_sent: integer().notNull().default(0), // number of sent transactions whose fees are in `accepted`
    read_sent: integer().notNull().default(0), // the value of `sent` when a balance was last compared
    differing: integer().notNull().default(0), // how many readings in a row have found exactly `difference`
    difference: text().notNull().default('0'), // balance minus recorded sum minus `accepted`, at the last reading
    due_at: instant(), // when the balance is compared next
  },
  (table) => [
    primaryKey({ columns: [table.cuy, table.address_id] }),
    index('holding_due').on(table.cuy, table.due_at),
    ...rules(positiveSafe, table.cuy, table.address_id),
    ...rules(
      safe,
      table.sent,
      table.changed_height,
      table.accepted_sent,
      table.read_sent,
      table.differing,
      table.due_at,
    ),
    rule(table.balance, orNull(units)),
    rule(table.read_from, '(read_from IS NULL) = (balance IS NULL) AND (read_from IS NULL OR read_from >= 0)'),
    rule(table.read_to, '(read_to IS NULL) = (balance IS NULL) AND (read_to IS NULL OR read_to >= read_from)'),
    rule(table.accepted, signedUnits),
    rule(table.difference, `(difference = '0') = (differing = 0) AND (${signedUnits('difference')})`),
  ],
)

/**
 * The only way to change the recorded sum of a holding, like a procedure call: other triggers
 * insert the chain units (`raw`) that an address received (`sign` 1) or lost (−1), and this table's
 * trigger adds them and stores no row. So the table is always empty.
 */
export const movements = sqliteTable('movement', {
  cuy: cuy(),
  address: addressBytes(),
  sign: integer().notNull(),
  raw: text().notNull(),
  height: height(),
  moved_at: instant(),
})

/**
 * The only way to change a total, like a procedure call: other triggers insert what a total gains
 * or loses, and this table's trigger adds it and stores no row. So the table is always empty.
 */
export const summands = sqliteTable('summand', {
  cuy: cuy(),
  // the total's kind, or `moved`: then the two addresses decide between `gas`, `collected` and no
  // total
  kind: text().notNull(),
  number: integer().notNull(),
  units: text().notNull(),
  from_address: optionalAddressBytes(),
  to_address: optionalAddressBytes(),
})

/**
 * Sums of one currency in chain units, signed. Triggers keep them, so that reading a sum counts no
 * rows. Transfers to users: `credited`, `held`, `refused`. Other transfers to addresses of the
 * service: `gas`; away from them: `collected`. Over holdings: the `fees` that explain shortfalls,
 * the balances as last `read`, and each reported `difference`.
 */
export const totals = sqliteTable(
  'total',
  {
    cuy: cuy(),
    kind: text().$type<TotalKind>().notNull(),
    number: integer().notNull(), // how many transfers or holdings are in the sum
    changed_at: instant(),
    ...parts(),
  },
  (table) => [primaryKey({ columns: [table.cuy, table.kind] }), rule(table.kind, oneOf(...totalKinds))],
)

/**
 * Running sums: all entries of a currency and type from the first up to the end of `day` (UTC, in
 * days since 1970). Only days with such an entry have a row. A trigger adds each new entry to the
 * newest row, or begins a new day with the sums of that row.
 */
export const days = sqliteTable(
  'day',
  {
    cuy: cuy(),
    type: integer().$type<EntryType>().notNull(),
    day: integer().notNull(),
    entries: integer().notNull(),
    high: integer().notNull(), // the sum of the entries' amounts is high × 10^9 + low
    low: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.cuy, table.type, table.day] })],
)

/**
 * The addresses with ids from `first_id` to `last_id` have a holding in this currency, so they are
 * compared with the chain. Both ids are 0 if no address has one.
 */
export const compared = sqliteTable(
  'compared',
  { cuy: integer().$type<CurrencyId>().primaryKey(), first_id: integer().notNull(), last_id: integer().notNull() },
  (table) => [rule(table.cuy, positiveSafe), rule(table.first_id, between(0, 'last_id')), rule(table.last_id, safe)],
)

/**
 * What nodes last said about a token's decimals. They are asked again until they agree on the
 * configured ones.
 */
export const tokens = sqliteTable(
  'token',
  {
    contract: text().$type<Address>().primaryKey(),
    found: integer(), // the decimals that nodes agree on; null if they do not
    tries: integer().notNull(),
    next_try: instant(),
  },
  (table) => [
    rule(table.contract, hex(40)),
    rule(table.found, orNull(between(0, 255))),
    ...rules(safe, table.tries, table.next_try),
  ],
)

/** The size of the database on each day (UTC, in days since 1970). */
export const sizes = sqliteTable('size', { day: integer().primaryKey(), bytes: integer().notNull() }, (table) =>
  rules(safe, table.day, table.bytes),
)

const isPayout = `type GLOB 'payout.*'`
const isOrder = `type GLOB 'order.*'`
/** Events with a place on the chain: those about transfers and about acts of issuers. */
const isOnChain = `NOT ${isPayout} AND NOT ${isOrder}`
const isTransfer = `type IN ('deposit.seen', 'deposit.held', 'deposit.refused')`
const isAct = `type GLOB 'address.*'`
const eventUnits = `iif(type = 'address.destroyed', ${units('raw')}, ${positiveUnits('raw')})`
const has = (column: string, types: string, form: string) =>
  `(${column} IS NOT NULL) = (${types}) AND (${column} IS NULL OR (${form}))`

/**
 * The types of events that have rows. `deposit.credited` and `entry.posted` have none, because a
 * ledger entry is its own event.
 */
export const storedEventTypes = eventTypes.filter((type) => type !== 'deposit.credited' && type !== 'entry.posted')

/**
 * Events for backends, except those that are ledger entries. A trigger inserts each row in the
 * statement that stores the reported change. A payout changes later, so its event contains a copy
 * of it.
 */
export const events = sqliteTable(
  'stored_event',
  {
    id: integer().$type<EventId>().primaryKey(),
    type: text().$type<EventType>().notNull(),
    uid: uid(),
    created_at: instant(),
    txid: optionalTxidBytes(),
    position: integer(),
    cuy: integer().$type<CurrencyId>(),
    raw: text(),
    address: optionalAddressBytes(),
    seconds: integer(),
    reason: text().$type<HeldReason | RefusedReason>(),
    // JSON: the payout as it was then; of an order its id, state, `credited` and what was seen; of
    // a deposit the id of its order
    about: text(),
  },
  (table) => [
    uniqueIndex('event_reason')
      .on(table.txid, table.position, table.type, table.reason, table.uid)
      .where(sql.raw('reason IS NOT NULL')),
    uniqueIndex('event_act').on(table.txid, table.position, table.type).where(sql.raw(isAct)),
    ...rules(positiveSafe, table.id, table.uid),
    rule(table.type, oneOf(...storedEventTypes)),
    rule(table.created_at, safe),
    rule(table.txid, has('txid', isOnChain, bytes(32)('txid'))),
    rule(table.position, has('position', isOnChain, between(-amountMax, amountMax)('position'))),
    rule(table.cuy, has('cuy', `${isTransfer} OR ${isAct}`, positiveSafe('cuy'))),
    rule(table.raw, has('raw', `${isTransfer} OR type = 'address.destroyed'`, eventUnits)),
    rule(table.address, has('address', `${isTransfer} OR ${isAct}`, bytes(20)('address'))),
    rule(table.seconds, has('seconds', `type = 'deposit.seen'`, safe('seconds'))),
    rule(table.reason, reasonRule(`type = 'deposit.held'`, `type = 'deposit.refused'`)),
    rule(
      table.about,
      `(about IS NULL OR json_valid(about))
        AND iif(${isPayout} OR ${isOrder}, about IS NOT NULL, about IS NULL OR type = 'deposit.seen')`,
    ),
  ],
)

/**
 * Events up to `last_id` were removed because of their age. Ledger entries up to it stay, but are
 * no longer shown as events. There is at most one row, and none before the first removal.
 */
export const removedEvents = sqliteTable(
  'removed_event',
  { id: integer().primaryKey(), last_id: integer().$type<EventId>().notNull() },
  (table) => [rule(table.id, 'id = 1'), rule(table.last_id, positiveSafe)],
)

/** For each endpoint of `WEBHOOKS`: which event was delivered last, and what has failed since. */
export const webhooks = sqliteTable(
  'webhook',
  {
    endpoint: text().$type<EndpointKey>().primaryKey(),
    number: integer().notNull(), // the endpoint's number in `WEBHOOKS`, from 1
    // the newest event that was delivered, or skipped because of its type
    position: integer().$type<EventId | 0>().notNull(),
    attempts: integer().notNull().default(0), // failed deliveries in a row of the event after `position`
    failing_since: integer().$type<UnixMs>(),
    next_try: instant(),
    // the newest event whose delivery was given up since the endpoint last accepted an event
    set_aside: integer().$type<EventId>(),
    last_failure: text(),
    seen_at: instant(), // when a deployment last had the endpoint in `WEBHOOKS`
    begins_at: instant().default(0 as UnixMs), // events from before this time are not sent to the endpoint
    // the size of the checkpoint that was delivered last (`ledger.sealed`); 0 before the first one
    sealed: integer().notNull().default(0),
    seal_attempts: integer().notNull().default(0), // failed deliveries of checkpoints in a row
    seal_failing_since: integer().$type<UnixMs>(),
    seal_next_try: instant().default(0 as UnixMs),
  },
  (table) => [
    index('webhook_number').on(table.number),
    rule(table.endpoint, hex(64)),
    rule(table.number, positiveSafe),
    ...rules(safe, table.position, table.attempts, table.next_try, table.seen_at, table.begins_at),
    ...rules(safe, table.sealed, table.seal_attempts, table.seal_next_try),
    rule(table.failing_since, '(failing_since IS NOT NULL) = (attempts > 0)'),
    rule(table.seal_failing_since, '(seal_failing_since IS NOT NULL) = (seal_attempts > 0)'),
    rule(table.last_failure, orNull(characters(1, 100))),
  ],
)

/** Faults: those that are alarms now, and those that become alarms if they last. */
export const alarmRows = sqliteTable(
  'alarm',
  {
    kind: text().$type<AlarmKind>().notNull(),
    subject: text().notNull(), // an `AlarmSubject` as JSON, its members in alphabetical order
    raised_at: integer().$type<UnixMs>(), // when the alarm was raised; null while the fault has not lasted long enough
    // until the alarm: when the fault was first seen. Then: when it was last seen, though not for
    // all kinds
    seen_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.subject] }),
    rule(table.kind, "kind GLOB '[a-z]*' AND kind NOT GLOB '*[^a-z-]*' AND length(kind) <= 100"),
    rule(table.subject, "json_valid(subject) AND subject GLOB '{*}' AND length(subject) <= 200"),
    rule(table.raised_at, orNull(safe)),
    rule(table.seen_at, safe),
  ],
)
