import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: only another overload of primaryKey is deprecated
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

/** Longest reason for a rescan, a correction or the end of a gap, in characters. */
export const reasonMax = 500

/** Position and state of the scan: one row, once the scan has started. */
export const scans = sqliteTable(
  'scan',
  {
    id: integer().primaryKey(),
    height: integer().$type<BlockHeight>(), // never null: scan_superseded
    hash: text().$type<BlockHash>(),
    finalized: height(),
    finalized_time: instant(), // of that block; 0 if it is not known
    finalized_hash: text().$type<BlockHash>(), // null if it is not known
    finalized_at: instant(),
    advanced_at: instant(),
    caught_up_at: instant(),
    tried_at: instant(),
    answering_since: integer().$type<UnixMs>(), // since when each scan got a finalized head; null if the newest got none
    problem: text().$type<ChainFailure['kind']>(),
    halted: text(),
    corrected_by: integer().notNull().default(0), // the newest correction that was applied
    nodes: text().notNull().default(''), // the set of nodes with which gaps were last tried
    restored_at: integer().$type<UnixMs>(), // since when payouts wait because this database is an older copy; null: it is not
  },
  (table) => [
    rule(table.id, 'id = 1'),
    check(scanSuperseded, sql.raw('height IS NOT NULL')),
    rule(table.height, between(-1, 'finalized')), // -1: block 0 is the first block to scan
    rule(table.finalized, `finalized <= ${amountMax}`),
    ...rules(orNull(hex(64)), table.hash, table.finalized_hash),
  ],
)

/**
 * Blocks below the position that are read again: those that the scan could not read, those that an operator asked for, and those that a payout needs. An
 * unreadable part becomes a row of its own, so that nothing else waits for it.
 */
export const rescans = sqliteTable(
  'rescan',
  {
    id: integer().$type<RescanId>().primaryKey(),
    kind: text().$type<RescanKind>().notNull(),
    from_height: height(),
    to_height: height(),
    next_height: height(),
    reason: text(), // the operator's
    why: text(), // why its next block could not be read
    created_at: instant(),
    next_try: instant(),
    tried_at: integer().$type<UnixMs>(),
    attempts: integer().notNull().default(0), // attempts in a row that read nothing
    receipts: integer().notNull().default(0), // receipts of its single block that were read, if they are read one by one
    unread: text(), // JSON: the txids among these whose receipts could not be read
    finished_at: integer().$type<UnixMs>(),
    closed: text(), // why it was closed unread
  },
  (table) => [
    index('rescan_open').on(table.to_height).where(sql.raw('finished_at IS NULL')),
    index('rescan_due').on(table.next_try).where(sql.raw('finished_at IS NULL')),
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

/** Corrections of a wrong finalized height, each with its reason. A trigger applies them. */
export const corrections = sqliteTable(
  'correction',
  { id: integer().primaryKey(), finalized: height(), reason: text().notNull(), created_at: instant() },
  (table) => [rule(table.finalized, safe), rule(table.reason, characters(1, reasonMax))],
)

const part = () => integer().notNull().default(0)
/** A sum: 7 signed parts of 12 digits, the highest first. */
const parts = () => ({
  part_0: part(),
  part_1: part(),
  part_2: part(),
  part_3: part(),
  part_4: part(),
  part_5: part(),
  part_6: part(),
})

/** The recorded holding of one address in one currency, and the balance on the chain. Triggers keep the records. */
export const holdings = sqliteTable(
  'stored_holding',
  {
    cuy: cuy(),
    address_id: integer().notNull(),
    ...parts(), // the recorded sum
    sent: integer().notNull().default(0), // transactions that the address has paid a fee for
    changed_height: integer()
      .$type<BlockHeight>()
      .notNull()
      .default(0 as BlockHeight), // of the newest recorded change
    balance: text(), // as it was last read
    read_from: integer().$type<BlockHeight>(), // the balance includes all blocks up to this one,
    read_to: integer().$type<BlockHeight>(), // and none above this one
    accepted: text().notNull().default('0'), // the difference that fees explain, or that was reported
    accepted_sent: integer().notNull().default(0), // transactions whose fees are included in it
    read_sent: integer().notNull().default(0), // transactions sent before the last judged reading
    differing: integer().notNull().default(0), // readings in a row that found `difference`
    difference: text().notNull().default('0'), // the rest of the last reading
    due_at: instant(),
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
 * Triggers change the recorded sum of an address only through this table: units (`raw`) that it received (`sign` 1) or lost (−1). The table's trigger adds them
 * to the holding and ignores the row, so the table is always empty.
 */
export const movements = sqliteTable('movement', {
  cuy: cuy(),
  address: addressBytes(),
  sign: integer().notNull(),
  raw: text().notNull(),
  height: height(),
  moved_at: instant(),
})

/** A trigger's addition to a total. The row is never stored: inserting it changes the total, like a procedure call. */
export const summands = sqliteTable('summand', {
  cuy: cuy(),
  kind: text().notNull(), // of a total, or `moved`: then the two addresses decide
  number: integer().notNull(),
  units: text().notNull(),
  from_address: optionalAddressBytes(),
  to_address: optionalAddressBytes(),
})

/**
 * Sums of one currency in chain units, signed. Triggers keep them, so that nothing is counted on reading: transfers to users (`credited`, `held`, `refused`),
 * other receipts (`gas`) and outflows (`collected`), the `fees` that explain shortfalls, the balances as last `read`, and each reported `difference`.
 */
export const totals = sqliteTable(
  'total',
  {
    cuy: cuy(),
    kind: text().$type<TotalKind>().notNull(),
    number: integer().notNull(), // the number of entries, transfers or addresses in the sum
    changed_at: instant(),
    ...parts(),
  },
  (table) => [primaryKey({ columns: [table.cuy, table.kind] }), rule(table.kind, oneOf(...totalKinds))],
)

/**
 * Running sums of all entries of a currency and type up to the end of a day (UTC, in days since 1970) with entries. The newest row sums all of them. A trigger
 * keeps it.
 */
export const days = sqliteTable(
  'day',
  {
    cuy: cuy(),
    type: integer().$type<EntryType>().notNull(),
    day: integer().notNull(),
    entries: integer().notNull(),
    high: integer().notNull(), // the sum of their amounts is high × 10^9 + low
    low: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.cuy, table.type, table.day] })],
)

/** The range of address ids that have a holding in one currency. Both ends are 0 if none has. */
export const compared = sqliteTable(
  'compared',
  { cuy: integer().$type<CurrencyId>().primaryKey(), first_id: integer().notNull(), last_id: integer().notNull() },
  (table) => [rule(table.cuy, positiveSafe), rule(table.first_id, between(0, 'last_id')), rule(table.last_id, safe)],
)

/** The nodes' last answer about a token's decimals, until they agree on the configured ones. */
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
/** Events about a transfer or an act of an issuer: both are on the chain. */
const isOnChain = `NOT ${isPayout}`
const isTransfer = `type IN ('deposit.seen', 'deposit.held', 'deposit.refused')`
const isAct = `type GLOB 'address.*'`
const eventUnits = `iif(type = 'address.destroyed', ${units('raw')}, ${positiveUnits('raw')})`
const has = (column: string, types: string, form: string) =>
  `(${column} IS NOT NULL) = (${types}) AND (${column} IS NULL OR (${form}))`

/** The types of events with rows of their own. Entries are their own events. */
export const storedEventTypes = eventTypes.filter((type) => type !== 'deposit.credited' && type !== 'entry.posted')

/**
 * Events for backends, except those of entries. A trigger writes each row in the statement that stores the reported change. A payout changes, so its event
 * contains a copy of it.
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
    payout: text(), // JSON: the payout as it was after the step
  },
  (table) => [
    uniqueIndex('event_reason')
      .on(table.txid, table.position, table.type, table.reason)
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
    rule(table.payout, has('payout', isPayout, 'json_valid(payout)')),
  ],
)

/** The highest number of the events that were removed because of their age. Entries stay, but are no longer events. No row: none was removed. */
export const removedEvents = sqliteTable(
  'removed_event',
  { id: integer().primaryKey(), last_id: integer().$type<EventId>().notNull() },
  (table) => [rule(table.id, 'id = 1'), rule(table.last_id, positiveSafe)],
)

/** The progress of deliveries to each endpoint of `WEBHOOKS`, by the hash of its URL. */
export const webhooks = sqliteTable(
  'webhook',
  {
    endpoint: text().$type<EndpointKey>().primaryKey(),
    number: integer().notNull(), // its number in WEBHOOKS, from 1
    position: integer().$type<EventId | 0>().notNull(), // the newest event that was delivered, or skipped because of its type
    attempts: integer().notNull().default(0), // failed deliveries of the next event
    failing_since: integer().$type<UnixMs>(),
    next_try: instant(),
    set_aside: integer().$type<EventId>(), // the newest event that was set aside since the endpoint last worked
    last_failure: text(),
    seen_at: instant(), // when a deployment last configured it
    begins_at: instant().default(0 as UnixMs), // older events are not sent to it
  },
  (table) => [
    index('webhook_number').on(table.number),
    rule(table.endpoint, hex(64)),
    rule(table.number, positiveSafe),
    ...rules(safe, table.position, table.attempts, table.next_try, table.seen_at, table.begins_at),
    rule(table.failing_since, '(failing_since IS NOT NULL) = (attempts > 0)'),
    rule(table.last_failure, orNull(characters(1, 100))),
  ],
)

/** Faults: raised alarms, and faults that become alarms if they last. */
export const alarmRows = sqliteTable(
  'alarm',
  {
    kind: text().$type<AlarmKind>().notNull(),
    subject: text().notNull(), // an `AlarmSubject` as JSON with sorted keys
    raised_at: integer().$type<UnixMs>(), // when it was raised; null while it has not lasted long enough
    seen_at: instant(), // before it is raised: when it was first seen; after: when it was last seen, if its end cannot be observed
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.subject] }),
    rule(table.kind, "kind GLOB '[a-z]*' AND kind NOT GLOB '*[^a-z-]*' AND length(kind) <= 100"),
    rule(table.subject, "json_valid(subject) AND subject GLOB '{*}' AND length(subject) <= 200"),
    rule(table.raised_at, orNull(safe)),
    rule(table.seen_at, safe),
  ],
)
